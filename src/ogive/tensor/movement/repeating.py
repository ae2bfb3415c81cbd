"""Elements repeated, rolled and turned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir.shape import Dim, as_length
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, AxisError, DtypeError, ShapeError, needing_memory
from ogive.tensor import build
from ogive.tensor.core import Core, to_axis, to_dim, to_integer, to_shape, to_tensor, wrap
from ogive.tensor.indexing import advanced_indexing
from ogive.tensor.lengths import is_symbolic
from ogive.tensor.movement.joining import cat
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor


def repeat(self: Tensor, *repeats: Any) -> Tensor:
    """Copies of the whole tensor side by side, `repeats` along each axis; new axes come first.

    Shapes: (a, b) → (r₀·a, r₁·b).

    >>> Tensor([1, 2]).repeat(2, 2).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]

    Raises `ShapeError` when there are fewer numbers than axes.
    """
    times = to_shape(repeats, "repeat")
    if len(times) < self.ndim:
        raise ShapeError(
            f"repeat: {build.show(times)} has fewer numbers than shape "
            f"{build.show(self.shape)} has axes"
        )
    with graph_lock:
        shape = (*(1,) * (len(times) - self.ndim), *self.shape)
        split = tuple([part for size in shape for part in (1, size)])
        wide = tuple([part for pair in zip(times, shape, strict=True) for part in pair])
        joined = tuple([as_length(n * size) for n, size in zip(times, shape, strict=True)])
        node = build.expand(build.reshape(self.node, split), wide)
        return wrap(build.reshape(node, joined), self.device)


def tile(self: Tensor, *dims: Any) -> Tensor:
    """`repeat`, where missing numbers in front count as 1.

    Shapes: (a, b) → (a, r·b) for `tile(r)`.

    >>> Tensor([[1], [2]]).tile(2).tolist()
    [[1, 1], [2, 2]]
    """
    times = to_shape(dims, "tile")
    return self.repeat((1,) * (self.ndim - len(times)) + times)


def repeat_interleave(
    self: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Every element `repeats` times in a row, along `dim` or in the flat tensor.

    Shapes: (a, b) → (r·a, b) for `dim` 0; (r·a·b,) for None. `repeats` may be a tensor with a
    number for each element along the axis; then the length is their sum. They are computed at
    once, so `output_size`, which tells PyTorch that sum, has no effect.

    >>> Tensor([1, 2]).repeat_interleave(2).tolist()
    [1, 1, 2, 2]
    >>> Tensor([1, 2]).repeat_interleave(Tensor([3, 1])).tolist()
    [1, 1, 1, 2]

    Without `repeats`, this tensor holds the numbers, and the positions are repeated.

    >>> Tensor([2, 0, 1]).repeat_interleave().tolist()
    [0, 0, 2]

    Raises `ShapeError` unless there is one number or one for each element, `ArgumentError` for
    a negative one.
    """
    if repeats is None:
        positions = _repeated_positions(self, self.shape[0] if self.ndim else 1)
        return to_tensor(positions, self.device)
    if dim is None:
        return self.ravel().repeat_interleave(repeats, 0)
    axis = to_axis(dim, self.ndim, "repeat_interleave")
    if isinstance(repeats, Core):
        positions = _repeated_positions(repeats, self.shape[axis])
        return advanced_indexing.read(self, (*[slice(None)] * axis, positions))
    times = to_shape((repeats,), "repeat_interleave")[0]
    wide = self.unsqueeze(axis + 1)
    wide = wide.expand(*self.shape[: axis + 1], times, *self.shape[axis + 1 :])
    return wide.flatten(axis, axis + 1).clone()


@outlined
def roll(self: Tensor, shifts: Any, dims: int | Sequence[int] | None = None) -> Tensor:
    """Elements moved by `shifts` along `dims`; what falls off the end comes back in front.

    Shapes: unchanged. Without `dims` the flat tensor is rolled.

    >>> Tensor([1, 2, 3, 4]).roll(1).tolist()
    [4, 1, 2, 3]

    Raises `ShapeError` unless there is one shift per axis.
    """
    moves = list(shifts) if isinstance(shifts, tuple | list) else [shifts]
    if dims is None:
        if len(moves) != 1:
            raise ShapeError(f"roll: the shifts {moves} need as many dims")
        return self.ravel().roll(moves, 0).reshape(self.shape)
    axes = list(dims) if isinstance(dims, tuple | list) else [dims]
    if len(axes) != len(moves):
        raise ShapeError(f"roll: the shifts {moves} do not fit the dims {axes}: one for each")
    with graph_lock:
        result = wrap(self.node, self.device)
    for shift, dim in zip(moves, axes, strict=True):
        result = _rolled(result, to_dim(shift, "roll: a shift"), dim)
    return result


def rot90(self: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """The plane of two axes turned by k quarters, from the first towards the second.

    Shapes: (a, b) → (b, a) for odd `k`.

    >>> Tensor([[1, 2], [3, 4]]).rot90().tolist()
    [[2, 4], [1, 3]]

    Raises `AxisError` unless `dims` names two axes.
    """
    turns = to_integer(k, "rot90: k") % 4
    if len(dims) != 2:
        raise AxisError(f"rot90: {list(dims)} must name two axes")
    first, second = [to_axis(dim, self.ndim, "rot90") for dim in dims]
    if first == second:
        raise AxisError(f"rot90: {list(dims)} names one axis twice")
    if turns == 2:
        return self.flip(first, second)
    if turns == 1:
        return self.flip(second).transpose(first, second)
    if turns == 3:
        return self.flip(first).transpose(first, second)
    with graph_lock:
        return wrap(self.node, self.device)


def fliplr(self: Tensor) -> Tensor:
    """The columns in reverse order. Shapes: unchanged.

    >>> Tensor([[1, 2]]).fliplr().tolist()
    [[2, 1]]

    Raises `AxisError` for fewer than 2 axes.
    """
    return self.flip(to_axis(1, self.ndim, "fliplr"))


def flipud(self: Tensor) -> Tensor:
    """The rows in reverse order. Shapes: unchanged.

    >>> Tensor([1, 2]).flipud().tolist()
    [2, 1]

    Raises `AxisError` for a scalar.
    """
    return self.flip(to_axis(0, self.ndim, "flipud"))


def _repeated_positions(repeats: Core, length: Dim) -> NDArray[Any]:
    """The positions 0 … length - 1, each as often as a tensor says."""
    if repeats.ndim > 1 or (repeats.ndim and repeats.shape[0] not in (1, length)):
        raise ShapeError(
            f"repeat_interleave: {build.show(repeats.shape)} numbers for {length} elements; "
            "expected one, or one for each"
        )
    if not repeats.dtype.is_integer:
        raise DtypeError(f"repeat_interleave: the numbers are {repeats.dtype.name}, not integers")
    times = numpy.asarray(repeats)
    if (times < 0).any():
        raise ArgumentError(f"repeat_interleave: the number {times.min()} is negative")
    count = evaluate(length)
    repeated = numpy.broadcast_to(times.ravel(), (count,))
    total = int(repeated.sum(dtype=numpy.longdouble))  # beyond 64 bits if need be
    build.check_size((total, repeated.itemsize))
    with needing_memory("repeat_interleave"):
        return numpy.repeat(numpy.arange(count), repeated.astype(numpy.int64))


def _rolled(x: Tensor, shift: Any, dim: Any) -> Tensor:
    """The end of an axis joined before its beginning; for a symbolic shift, a window of two copies
    side by side."""
    axis = to_axis(dim, x.ndim, "roll")
    size = x.shape[axis]
    if size == 0:
        return x
    start = as_length((-shift) % size)
    if not is_symbolic(start) and start == 0:
        return x
    if not is_symbolic(start) and not is_symbolic(size):
        return cat([x.narrow(axis, start, size - start), x.narrow(axis, 0, start)], axis)
    doubled = x.repeat([2 if other == axis else 1 for other in range(x.ndim)])
    return doubled.narrow(axis, start, size)
