"""Movement by its other names: repeating, rolling, splitting, diagonals, stacking."""

from __future__ import annotations

from typing import Any

from tests.tensor.table.case import ALL, NUMBERS, WIDE, both, library

FEW = ("float32",)


def _tall(x: Any) -> Any:
    """A matrix, whatever x is."""
    return x.reshape(-1, x.shape[-1])


CASES = [
    both("view", lambda x: x.view(-1), dtypes=FEW),
    both("view_as", lambda x: x.reshape(-1).view_as(x), dtypes=FEW),
    both("reshape_as", lambda x: x.reshape(-1).reshape_as(x), dtypes=FEW),
    both("expand_as", lambda x: x[:1].expand_as(x), dtypes=FEW),
    both("broadcast_to", lambda x: x.broadcast_to((2, *x.shape)), dtypes=FEW),
    both("ravel", lambda x: x.ravel(), dtypes=FEW),
    both("movedim", lambda x: x.movedim(0, -1), dtypes=FEW),
    both("moveaxis of two", lambda x: x.moveaxis((0, -1), (-1, 0)), dtypes=FEW),
    both("swapaxes", lambda x: x.swapaxes(0, -1), dtypes=FEW),
    both("t", lambda x: x.t(), dtypes=FEW), both("mT", lambda x: x.mT, dtypes=FEW),
    both("adjoint", lambda x: x.adjoint(), dtypes=FEW),
    both("narrow", lambda x: x.narrow(-1, 1, 2), dtypes=FEW),
    both("select", lambda x: x.select(-1, -1), dtypes=FEW),
    both("unfold", lambda x: x.unfold(-1, 2, 1), dtypes=FEW),
    both("unfold by 3", lambda x: x.unfold(0, 3, 3), dtypes=FEW),
    both("repeat", lambda x: x.repeat(2, *[1] * (x.ndim - 1), 3), dtypes=FEW),
    both("tile", lambda x: x.tile(2, 2), dtypes=FEW),
    both("repeat_interleave", lambda x: x.repeat_interleave(3, -1), dtypes=FEW),
    both("repeat_interleave flat", lambda x: x.repeat_interleave(2), dtypes=FEW),
    both("roll", lambda x: x.roll(-2, -1), dtypes=ALL),
    both("roll of two axes", lambda x: x.roll((1, 3), (0, -1)), dtypes=FEW),
    both("roll flat", lambda x: x.roll(5), dtypes=FEW),
    both("rot90", lambda x: x.rot90(1, (0, -1)), dtypes=FEW),
    both("rot90 back", lambda x: x.rot90(-1, (0, -1)), dtypes=FEW),
    both("rot90 twice", lambda x: x.rot90(2, (0, -1)), dtypes=FEW),
    both("fliplr", lambda x: x.fliplr(), dtypes=FEW),
    both("flipud", lambda x: x.flipud(), dtypes=FEW),
    both("split", lambda x: x.split(2, -1)[-1], dtypes=FEW),
    both("split sizes", lambda x: x.split([1, x.shape[0] - 1])[1], dtypes=FEW),
    both("chunk", lambda x: x.chunk(3, -1)[-1], dtypes=FEW),
    both("tensor_split", lambda x: x.tensor_split(3, -1)[1], dtypes=FEW),
    both("tensor_split at", lambda x: x.tensor_split((1, -1), 0)[1], dtypes=FEW),
    both("hsplit", lambda x: x.hsplit((1, 3))[1], dtypes=FEW),
    both("vsplit", lambda x: x.vsplit((1,))[1], dtypes=FEW),
    both("dsplit", lambda x: x.dsplit(2)[1], dtypes=FEW),
    both("unbind", lambda x: x.unbind(-1)[0], dtypes=FEW),
    both("diagonal", lambda x: x.diagonal(0, 0, -1), dtypes=ALL),
    both("diagonal above", lambda x: x.diagonal(1, -1, -2), dtypes=FEW),
    both("diagonal far off", lambda x: x.diagonal(-40), dtypes=FEW),
    both("diag", lambda x: x.diag(-1), dtypes=FEW),
    both("diag_embed", lambda x: x.diag_embed(-2, 0, -1), dtypes=FEW),
    both("diagflat", lambda x: x[:2, :2].diagflat(1), dtypes=FEW),
    both("diagonal_scatter", lambda x: x.diagonal_scatter(x.diagonal(1) * 2, 1), dtypes=FEW),
    both("select_scatter", lambda x: x.select_scatter(x[0] * 2, 0, 0), dtypes=FEW),
    both("slice_scatter", lambda x: x.slice_scatter(x[1::2] * 2, 0, 1, None, 2), dtypes=FEW),
    both("trace", lambda x: x.trace(), dtypes=("float64", "int8"), error=32, absolute=True,
         special=False),
    both("tril", lambda x: x.tril(-1), dtypes=ALL), both("triu", lambda x: x.triu(1), dtypes=ALL),
    both("hstack", lambda x: library(x).hstack([x, x * 2]), dtypes=FEW),
    both("vstack", lambda x: library(x).vstack([x, x * 2]), dtypes=FEW),
    both("dstack", lambda x: library(x).dstack([x, x * 2]), dtypes=FEW),
    both("column_stack", lambda x: library(x).column_stack([x, x * 2]), dtypes=FEW),
    both("atleast_3d", lambda x: library(x).atleast_3d(x), dtypes=FEW),
    both("meshgrid", lambda x: library(x).meshgrid(x, x * 2, indexing="ij")[1], dtypes=FEW),
    both("meshgrid xy", lambda x: library(x).meshgrid(x, x * 2, x[:2], indexing="xy")[0],
         dtypes=FEW),
    both("cartesian_prod", lambda x: library(x).cartesian_prod(x, x[:3]), dtypes=FEW),
    both("block_diag", lambda x: library(x).block_diag(_tall(x), x.reshape(-1)[:3]), dtypes=FEW),
    both("clone", lambda x: x.clone(), dtypes=NUMBERS),
    both("type_as", lambda x: x.type_as(x > 0), dtypes=WIDE),
    both("char", lambda x: x.char() + x.short() + x.byte(), dtypes=("int32", "bool")),
]  # fmt: skip
