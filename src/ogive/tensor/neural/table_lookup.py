"""Lookups of rows in a table, and one-hot rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, IndexRangeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, same_device, to_integer, wrap
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
def embedding(self: Tensor, weight: Tensor, padding_idx: int | None = None) -> Tensor:
    """The rows of `weight` at the positions that this tensor holds.

    Shapes: (...) of int32 or int64 with weight (rows, n) → (..., n). No gradient goes to the
    row `padding_idx`.

    >>> Tensor([2, 0]).embedding(Tensor([[1, 2], [3, 4], [5, 6]])).tolist()
    [[5, 6], [1, 2]]

    Raises `ShapeError` unless `weight` is a matrix, `DtypeError` for positions of another
    dtype; `IndexRangeError` for a row that is not there, when computed.
    """
    if not isinstance(weight, Core):
        raise ArgumentTypeError(f"embedding: weight must be a tensor, got {weight!r}")
    if weight.ndim != 2:
        raise ShapeError(
            f"embedding: weight has the shape {build.show(weight.shape)}; expected (rows, n)"
        )
    rows = _positions(self, "embedding")
    device = same_device([self, weight], "embedding")
    with graph_lock:
        shape = (*rows.node.shape, weight.node.shape[1])
        row = build.expand(build.reshape(rows.node, (*shape[:-1], 1)), shape)
        column = build.count_along(len(shape) - 1, shape)
        chosen = wrap(build.gather(weight.node, [row, column]), device)
    if padding_idx is None:
        return chosen
    place = to_integer(padding_idx, "embedding: padding_idx")
    if not -weight.shape[0] <= place < weight.shape[0]:
        raise IndexRangeError(
            f"embedding: padding_idx={place} is not among the {weight.shape[0]} rows of weight"
        )
    is_padding = (rows == place % weight.shape[0]).unsqueeze(-1)
    return where(is_padding, chosen.detach(), chosen)


def one_hot(self: Tensor, num_classes: int = -1) -> Tensor:
    """1 at the position that each element holds, 0 elsewhere, as int64.

    Shapes: (...) of integers → (..., num_classes). By default `num_classes` is one more than the
    greatest element, which is computed at once for that.

    >>> Tensor([2, 0]).one_hot(3).tolist()
    [[0, 0, 1], [1, 0, 0]]

    Raises `IndexRangeError` for an element that is negative or not less than `num_classes`,
    when computed.
    """
    rows = _positions(self, "one_hot")
    classes = to_integer(num_classes, "one_hot: num_classes")
    if classes == -1:
        if rows.numel() == 0:
            raise ArgumentError("one_hot: no elements say how many classes there are")
        classes = int(rows.amax().item()) + 1
    if classes < 1:
        raise ArgumentError(f"one_hot: num_classes must be positive, got {classes}")
    with graph_lock:
        number = wrap(build.count(classes), self.device)
    return (checked(rows, classes).unsqueeze(-1) == number).cast(dtypes.int64)


def checked(positions: Tensor, count: int) -> Tensor:
    """Positions as int64; computing one that is not below `count` raises `IndexRangeError`."""
    with graph_lock:
        node = build.cast(positions.node, dtypes.int64)
        return wrap(build.gather(build.count(count), [node]), positions.device)


def _positions(x: Any, name: str) -> Tensor:
    if x.dtype not in (dtypes.int32, dtypes.int64):
        raise DtypeError(f"{name}: the input is {x.dtype.name}; positions are int32 or int64")
    rows: Tensor = x.cast(dtypes.int64)
    return rows
