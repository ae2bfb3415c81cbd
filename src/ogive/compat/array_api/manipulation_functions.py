"""Manipulation functions: shapes, order, repetition, joining."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compat.methods.keywords import also
from ogive.compiler.ir.dtype import promote
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor.core import to_axes, to_axis
from ogive.tensor.movement.joining import cat, to_tensors
from ogive.tensor.movement.stacking import broadcast_tensors
from ogive.tensor.tensor import Tensor


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """All tensors, broadcast to their common shape.

    >>> [x.shape for x in ogive.broadcast_arrays(Tensor([[1], [2]]), Tensor([1, 2, 3]))]
    [(2, 3), (2, 3)]
    """
    return list(broadcast_tensors(*arrays)) if arrays else []


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """The tensor broadcast to `shape`: axes of length 1, and missing leading axes, are repeated.

    >>> ogive.broadcast_to(Tensor([1, 2]), (2, 2)).tolist()
    [[1, 2], [1, 2]]
    """
    return to_array(x, "broadcast_to").broadcast_to(shape)


@also(tensors="arrays", dim="axis")
def concat(arrays: Sequence[Tensor], *, axis: int | None = 0) -> Tensor:
    """Tensors joined along an existing axis. With `axis=None` they are flattened first.

    Shapes: (a, c) and (b, c) → (a + b, c) for `axis` 0.

    >>> ogive.concat([Tensor([[1, 2]]), Tensor([[3, 4]])], axis=None).tolist()
    [1, 2, 3, 4]
    """
    parts = to_tensors(arrays, "concat")
    dtype = parts[0].dtype
    for part in parts[1:]:
        dtype = promote(dtype, part.dtype)
    if axis is None:
        parts, axis = [part.flatten() for part in parts], 0
    return cat([part.cast(dtype) for part in parts], axis)


def expand_dims(x: Tensor, /, axis: int = 0) -> Tensor:
    """A new axis of length 1. Shapes: (a, b) → (a, 1, b) for `axis` 1.

    >>> ogive.expand_dims(Tensor([1, 2]), axis=1).shape
    (2, 1)
    """
    return to_array(x, "expand_dims").unsqueeze(axis)


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements in reverse order along axes, or along all axes for None. Shapes: unchanged.

    >>> ogive.flip(Tensor([1, 2, 3])).tolist()
    [3, 2, 1]
    """
    rank = to_array(x, "flip").ndim
    return x.flip(tuple(range(rank)) if axis is None else to_axes(axis, rank, "flip"))


def moveaxis(x: Tensor, source: Any, destination: Any, /) -> Tensor:
    """Axes moved to other places; the others keep their order.

    >>> ogive.moveaxis(ogive.zeros(2, 3, 4), 0, -1).shape
    (3, 4, 2)
    """
    return to_array(x, "moveaxis").movedim(source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Axis i of the result is axis `axes[i]`.

    >>> ogive.permute_dims(ogive.zeros(2, 3, 4), (2, 0, 1)).shape
    (4, 2, 3)
    """
    return to_array(x, "permute_dims").permute(axes)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element repeated, along an axis or, for None, in the flattened tensor.

    >>> ogive.repeat(Tensor([1, 2]), 2).tolist()
    [1, 1, 2, 2]
    """
    return to_array(x, "repeat").repeat_interleave(repeats, axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The same elements in row-major order. One length may be -1, and follows from the others.

    Values never change under a tensor that was made from another, so `copy` makes no difference.

    >>> ogive.reshape(Tensor([1, 2, 3, 4]), (2, -1)).tolist()
    [[1, 2], [3, 4]]
    """
    return to_array(x, "reshape").reshape(shape)


def roll(x: Tensor, /, shift: Any, *, axis: Any = None) -> Tensor:
    """Elements shifted along axes. Those shifted past the end come in at the front.

    Shapes: unchanged; flat for None.

    >>> ogive.roll(Tensor([1, 2, 3]), 1).tolist()
    [3, 1, 2]

    Raises `ArgumentError` if the numbers of shifts and axes differ.
    """
    own = to_array(x, "roll")
    if axis is None:
        return own.roll(shift)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    shifts = shift if isinstance(shift, tuple | list) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ArgumentError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for distance, each in zip(shifts, axes, strict=True):
        own = own.roll(distance, each)  # one by one: an axis may be named twice
    return own


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """The tensor without axes of length 1. Shapes: (a, 1, b) → (a, b) for `axis` 1.

    >>> ogive.squeeze(Tensor([[1, 2]]), 0).tolist()
    [1, 2]

    Raises `ShapeError` for an axis of another length.
    """
    own = to_array(x, "squeeze")
    axes = to_axes(axis, own.ndim, "squeeze")
    for each in axes:
        if own.shape[each] != 1:
            raise ShapeError(f"squeeze: axis {each} of shape {own.shape} is not of length 1")
    return own.squeeze(axes) if axes else own


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole tensor repeated along each axis.

    >>> ogive.tile(Tensor([1, 2]), (2, 2)).tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """
    own = to_array(x, "tile")
    return own.tile(repetitions) if repetitions else own


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis. Shapes: (n, a) → n times (a,) for `axis` 0.

    >>> [row.tolist() for row in ogive.unstack(Tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    own = to_array(x, "unstack")
    return tuple(own.unbind(to_axis(axis, own.ndim, "unstack")))
