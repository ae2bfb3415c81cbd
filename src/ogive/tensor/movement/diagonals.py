"""Diagonals and triangles of matrices.

A diagonal is every (n + 1)-th element of a square, and so a column of longer rows:

    0 1 2          0 1 2 3
    3 4 5    →     4 5 6 7     the first column is the diagonal
    6 7 8          8 · · ·
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import AxisError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import same_device, to_axis, to_integer, wrap
from ogive.tensor.lengths import is_symbolic
from ogive.tensor.memory import views
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.compiler.ir.node import UOp
    from ogive.tensor.tensor import Tensor


def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of the planes of two axes, `offset` places right of the main diagonal.

    It is a view. Shapes: (n, m, ...) → (..., length); the new axis is the last.

    >>> Tensor([[1, 2], [3, 4]]).diagonal().tolist()
    [1, 4]

    Raises `AxisError` when both axes are one.
    """
    first, second = _plane(self, dim1, dim2, "diagonal")
    x = self.movedim((first, second), (-2, -1))
    rows, columns = _known(x.shape[-2:], "diagonal")
    row, column, length = _corner(rows, columns, to_integer(offset, "diagonal: offset"))
    *outer, _, _ = x.shape
    around = [(0, size) for size in outer]
    corner = (*around, (row, row + length), (column, column + length))
    view = View(x.shape).add(Op.SHRINK, corner, (*outer, length, length))
    flat = (*outer, length * length)
    view.add(Op.RESHAPE, flat, flat)
    longer = (*outer, length * (length + 1))
    view.add(Op.PAD, (*[(0, 0)] * len(outer), (0, length)), longer)
    lines = (*outer, length, length + 1)
    view.add(Op.RESHAPE, lines, lines)
    view.add(Op.SHRINK, (*around, (0, length), (0, 1)), (*outer, length, 1))
    view.add(Op.RESHAPE, (*outer, length), (*outer, length))
    view.restride(lambda strides: (*strides[:-2], strides[-2] + strides[-1]))
    with graph_lock:
        return views.show(x, view)


def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix that has a vector as its diagonal.

    Shapes: (n, n) → (n,); (n,) → (n, n).

    >>> Tensor([1, 2]).diag().tolist()
    [[1, 0], [0, 2]]

    Raises `ShapeError` for other than 1 or 2 axes.
    """
    if self.ndim not in (1, 2):
        raise ShapeError(f"diag: shape {build.show(self.shape)} must have 1 or 2 axes")
    return self.diagonal(diagonal).clone() if self.ndim == 2 else self.diag_embed(diagonal)


def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices that have the last axis as their diagonal, and 0 elsewhere.

    Shapes: (..., n) → (..., n + |offset|, n + |offset|), the new axes at `dim1` and `dim2`.

    >>> Tensor([1, 2]).diag_embed(1).tolist()
    [[0, 1, 0], [0, 0, 2], [0, 0, 0]]

    Raises `AxisError` when both axes are one.
    """
    shift = to_integer(offset, "diag_embed: offset")
    rank = self.ndim + 1
    axes = [to_axis(dim, rank, "diag_embed") for dim in (dim1, dim2)]
    if axes[0] == axes[1]:
        raise AxisError(f"diag_embed: dim1 and dim2 are both axis {axes[0]}")
    (length,) = _known(self.shape[-1:], "diag_embed")
    front = [(0, 0)] * (self.ndim - 1)
    rows = self.unsqueeze(-1).pad([*front, (0, 0), (0, length)]).flatten(-2)
    square = rows.narrow(-1, 0, length * length).unflatten(-1, (length, length))
    beside = [(max(-shift, 0), max(shift, 0)), (max(shift, 0), max(-shift, 0))]
    return square.pad([*front, *beside]).movedim((-2, -1), axes)


def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """The matrix that has all elements as its diagonal. Shapes: (a, b) → (a·b, a·b).

    >>> Tensor([[1], [2]]).diagflat().tolist()
    [[1, 0], [0, 2]]
    """
    return self.ravel().diag_embed(offset)


def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """This tensor with `src` as its diagonal. Shapes: unchanged.

    >>> Tensor([[1, 2], [3, 4]]).diagonal_scatter(Tensor([8, 9])).tolist()
    [[8, 2], [3, 9]]

    Raises `ShapeError` unless `src` has the shape of the diagonal.
    """
    present = self.diagonal(offset, dim1, dim2)
    if src.shape != present.shape:
        raise ShapeError(
            f"diagonal_scatter: src has the shape {build.show(src.shape)}, and the diagonal "
            f"{build.show(present.shape)}"
        )
    device = same_device([self, src], "diagonal_scatter")
    first, second = _plane(self, dim1, dim2, "diagonal_scatter")
    rows, columns = self.shape[first], self.shape[second]
    row, column, length = _corner(rows, columns, offset)
    placed = src.cast(self.dtype).diag_embed()
    around = [(row, rows - row - length), (column, columns - column - length)]
    placed = placed.pad([*[(0, 0)] * (self.ndim - 2), *around])
    with graph_lock:
        on_it = _positions((rows, columns), Op.CMPEQ, column - row)
        mask = wrap(build.expand_to(on_it, placed.shape), device)
    x = self.movedim((first, second), (-2, -1))
    return where(mask, placed, x).movedim((-2, -1), (first, second))


@widened
def trace(self: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix. Shapes: (n, m) → ().

    >>> Tensor([[1, 2], [3, 4]]).trace().item()
    5

    Raises `ShapeError` for other than 2 axes.
    """
    if self.ndim != 2:
        raise ShapeError(f"trace: shape {build.show(self.shape)} must have 2 axes")
    return self.diagonal().sum()


@outlined
def tril(self: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle of matrices, up to `diagonal` included; 0 above. Shapes: unchanged.

    >>> Tensor([[1, 2], [3, 4]]).tril().tolist()
    [[1, 0], [3, 4]]

    Raises `ShapeError` for fewer than 2 axes.
    """
    return _triangle(self, Op.CMPLE, diagonal, "tril")


@outlined
def triu(self: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle of matrices, from `diagonal` on; 0 below. Shapes: unchanged.

    >>> Tensor([[1, 2], [3, 4]]).triu().tolist()
    [[1, 2], [0, 4]]

    Raises `ShapeError` for fewer than 2 axes.
    """
    return _triangle(self, Op.CMPLT, to_integer(diagonal, "triu: diagonal") - 1, "triu")


def _plane(x: Tensor, dim1: Any, dim2: Any, name: str) -> tuple[int, int]:
    first, second = to_axis(dim1, x.ndim, name), to_axis(dim2, x.ndim, name)
    if first == second:
        raise AxisError(f"{name}: dim1 and dim2 are both axis {first}")
    return first, second


def _known(sizes: Shape, name: str) -> tuple[int, ...]:
    if is_symbolic(*sizes):
        raise ShapeError(f"{name}: the lengths {build.show(sizes)} depend on variables")
    return sizes


def _corner(rows: int, columns: int, offset: int) -> tuple[int, int, int]:
    """The row and column where a diagonal begins, and its length."""
    row, column = max(-offset, 0), max(offset, 0)
    length = max(min(rows - row, columns - column), 0)
    return min(row, rows), min(column, columns), length


def _positions(shape: tuple[Dim, Dim], op: Op, offset: int) -> UOp:
    """Where `column op row + offset` holds, for CMPLE and CMPEQ; for CMPLT, operands swapped."""
    row, column = build.count_along(0, shape), build.count_along(1, shape)
    if offset:
        row = make(Op.ADD, dtypes.int64, (row, build.constant(dtypes.int64, offset)))
    sources = (row, column) if op is Op.CMPLT else (column, row)
    return make(op, dtypes.bool_, sources)


def _triangle(x: Tensor, op: Op, offset: Any, name: str) -> Tensor:
    """x where `column op row + offset` holds (see `_positions`), and 0 elsewhere."""
    if x.ndim < 2:
        raise ShapeError(f"{name}: shape {build.show(x.shape)} has no matrices; it needs 2 axes")
    shift = to_integer(offset, f"{name}: diagonal")
    with graph_lock:
        rows, columns = x.shape[-2:]
        kept = build.expand_to(_positions((rows, columns), op, shift), x.shape)
        zero = build.constant(x.dtype, 0)
        return wrap(make(Op.WHERE, x.dtype, (kept, x.node, zero)), x.device)
