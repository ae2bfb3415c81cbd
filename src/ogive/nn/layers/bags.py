"""Rows of a table by position, alone and reduced by bags: the sum, mean or greatest of several rows
at a time."""

from __future__ import annotations

import math

from ogive.errors import ArgumentError, ArgumentTypeError, ShapeError
from ogive.tensor.core import memory_device, to_integer
from ogive.tensor.creation.constructors import arange, full, ones, zeros
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import where
from ogive.tensor.sorting.binary_search import searchsorted
from ogive.tensor.tensor import Tensor

MODES = ("sum", "mean", "max")


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` at positions.

    Shapes: (...) of integers with weight (rows, width) → (..., width). No gradient goes to the row
    `padding_idx`. Rows that are read and have a norm of order `norm_type` above `max_norm` are
    scaled down to it, in place. With `scale_grad_by_freq`, gradients are divided by how often their
    row is read. `sparse` changes nothing.

    >>> embedding(Tensor([2, 0]), Tensor([[1.0], [2.0], [4.0]])).tolist()
    [[4.0], [1.0]]

    Raises `IndexRangeError` when computed, for a row that is not there.
    """
    if max_norm is not None:
        shorten_rows(input, weight, max_norm, norm_type)
    rows = input.embedding(weight, padding_idx)
    if not scale_grad_by_freq:
        return rows
    uses = count_uses(input, weight).to(rows.dtype)
    part = uses.reciprocal()[input].unsqueeze(-1)
    return rows * part + (rows * (1 - part)).detach()


def count_uses(positions: Tensor, weight: Tensor) -> Tensor:
    """How often each row is read. Shapes: (...), (rows, width) → (rows,)."""
    return positions.reshape(-1).bincount(minlength=int(weight.shape[0]))


def shorten_rows(positions: Tensor, weight: Tensor, longest: float, norm_type: float) -> None:
    """Scale the rows that are read down to a norm, in place."""
    table = weight.detach()
    norms = table.norm(norm_type, dim=-1)
    is_long = (norms > longest) & (count_uses(positions, weight) > 0)
    factor = where(is_long, longest / (norms + 1e-7), 1.0)
    table.assign(table * factor.unsqueeze(-1))


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The sum, mean or maximum of the rows of each bag.

    Shapes: input (bags, n) with weight (rows, width) → (bags, width); or input (count,) with
    offsets (bags,), where each bag begins; with `include_last_offset` they end with the end of the
    last one. `per_sample_weights`, in the shape of the input, multiply the rows of sums. Rows
    `padding_idx` count as absent. An empty bag gives zeros. `max_norm`, `norm_type`,
    `scale_grad_by_freq` and `sparse` are those of `embedding`.

    >>> table = Tensor([[1.0], [2.0], [4.0]])
    >>> embedding_bag(Tensor([0, 1, 2]), table, Tensor([0, 2]), mode="sum").tolist()
    [[3.0], [4.0]]

    Raises `ArgumentError` for another mode, or for weights with a mode other than "sum";
    `ShapeError` if shapes do not fit; `IndexRangeError`, when computed, for a row out of range.
    """
    _check(input, weight, offsets, mode, per_sample_weights)
    if max_norm is not None:
        shorten_rows(input, weight, max_norm, norm_type)
    if scale_grad_by_freq:
        part = count_uses(input, weight).clamp(min=1).to(weight.dtype).reciprocal().unsqueeze(-1)
        weight = weight * part + (weight * (1 - part)).detach()
    flat, device = input.reshape(-1).long(), memory_device(weight)
    if offsets is None:
        bags = input.shape[0]
        bag = created(arange, bags, device=device).unsqueeze(1).expand(input.shape).reshape(-1)
    else:
        bags = offsets.shape[0] - int(include_last_offset)
        begin = offsets[:bags].long()
        bag = searchsorted(begin, created(arange, flat.shape[0], device=device), right=True) - 1
    rows = flat.embedding(weight)
    counted = created(ones, flat.shape, dtype=rows.dtype, device=device)
    if padding_idx is not None:
        place = to_integer(padding_idx, "embedding_bag: padding_idx") % weight.shape[0]
        counted = flat.ne(place).cast(rows.dtype)
    if mode == "max":
        return _greatest(rows, bag, bags, counted)
    factor = counted
    if per_sample_weights is not None:
        factor = counted * per_sample_weights.reshape(-1)
    blank = created(zeros, bags, weight.shape[1], dtype=rows.dtype, device=device)
    total = blank.index_add(0, bag, rows * factor.unsqueeze(1))
    if mode == "sum":
        return total
    none = created(zeros, bags, dtype=rows.dtype, device=device)
    counts = none.index_add(0, bag, counted)
    return total / counts.clamp(min=1).unsqueeze(1)


def _greatest(rows: Tensor, bag: Tensor, bags: int, counted: Tensor) -> Tensor:
    width = rows.shape[1]
    low = created(
        full, (bags, width), -math.inf, dtype=rows.dtype, device=memory_device(rows)
    )
    shown = where(counted.unsqueeze(1) > 0, rows, -math.inf)
    index = bag.unsqueeze(1).expand(rows.shape)
    most = low.scatter_reduce(0, index, shown, "amax")
    return where(most == -math.inf, 0.0, most)


def _check(
    input: Tensor, weight: Tensor, offsets: Tensor | None, mode: str, factors: Tensor | None
) -> None:
    if mode not in MODES:
        raise ArgumentError(f"embedding_bag: mode must be one of {', '.join(MODES)}, got {mode!r}")
    if not isinstance(weight, Tensor) or not isinstance(input, Tensor):
        raise ArgumentTypeError("embedding_bag takes a tensor of positions and a tensor of rows")
    expected = 1 if offsets is not None else 2
    if input.ndim != expected or weight.ndim != 2 or input.dtype.is_float:
        raise ShapeError(
            f"embedding_bag: input is {input.dtype.name} of shape {input.shape} and weight has "
            f"the shape {weight.shape}; expected integers (bags, n), or (count,) with offsets, and "
            "(rows, width)"
        )
    if factors is not None and mode != "sum":
        raise ArgumentError(f"embedding_bag: per_sample_weights need mode 'sum', not {mode!r}")
    if factors is not None and factors.shape != input.shape:
        raise ShapeError(
            f"embedding_bag: per_sample_weights have the shape {factors.shape}, the input "
            f"{input.shape}"
        )
