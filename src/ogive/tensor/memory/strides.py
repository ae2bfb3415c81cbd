"""Strides: how far apart in memory neighbours along each axis lie, counted in elements.

They are not stored, but follow from the movements of a view of a row-major storage:

    (4, 6)               strides (6, 1)
    PERMUTE (1, 0)       strides (1, 6)
    RESHAPE (24,)        none: neighbours of the joined axis are at different distances
"""

from __future__ import annotations

from typing import Any

from ogive.ir.ops import Op
from ogive.ir.shape import Shape

Strides = tuple[int, ...]


def contiguous_strides(shape: Shape) -> Strides | None:
    """The strides of row-major memory; None if a length is symbolic."""
    strides = []
    stride = 1
    for size in reversed(shape):
        if size.__class__ is not int:
            return None
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def are_contiguous(shape: Shape, strides: Strides) -> bool:
    """Whether elements with these strides lie in row-major order without gaps."""
    if 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def strides_after(op: Op | None, argument: Any, shape: Shape, strides: Strides) -> Strides | None:
    """Return the strides after a movement of a value of `shape`; None if it has none then."""
    if op is None:
        return None
    if op is Op.PERMUTE:
        return tuple([strides[axis] for axis in argument])
    if op is Op.FLIP:
        return tuple([-s if axis in argument else s for axis, s in enumerate(strides)])
    if op is Op.EXPAND:
        added = len(argument) - len(shape)
        kept = zip(strides, shape, argument[added:], strict=True)
        return (*[0] * added, *[s if size == wide else 0 for s, size, wide in kept])
    if op is Op.RESHAPE:
        return _reshaped(argument, shape, strides)
    return strides


def _reshaped(wanted: Shape, shape: Shape, strides: Strides) -> Strides | None:
    """Return the strides after a RESHAPE to `wanted`; None if it has none then.

    Axes that lie in memory as one axis are joined. Then each joined axis is split as in `wanted`.
    """
    if not {*map(type, wanted), *map(type, shape)} <= {int}:
        return None
    if 0 in shape:
        return contiguous_strides(wanted)
    joined = _joined(shape, strides)
    reversed_strides: list[int] = []
    axis = len(wanted)
    for length, stride in reversed(joined):
        covered = 1
        while axis and covered < length:
            axis -= 1
            reversed_strides.append(stride * covered)
            covered *= wanted[axis]
        if covered != length:
            return None
    reversed_strides.extend([1] * axis)  # the axes that are left have length 1
    return tuple(reversed(reversed_strides))


def _joined(shape: Shape, strides: Strides) -> list[tuple[int, int]]:
    """Return (length, stride) of each of the fewest axes that show the same elements in order."""
    joined: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if joined and joined[-1][1] == size * stride:
            joined[-1] = joined[-1][0] * size, stride
        else:
            joined.append((size, stride))
    return joined
