"""Strides: the distance in memory of neighbours along each axis, in elements.

Tensors have no strides of their own. A view of a row-major storage has those that its movements
give:

    (4, 6)               strides (6, 1)
    PERMUTE (1, 0)       strides (1, 6)
    RESHAPE (24,)        none: neighbours along the joined axis have no common distance
"""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape

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
    """Whether elements with these strides are in row-major order, without gaps."""
    if 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def has_repeated(shape: Shape, strides: Strides) -> bool:
    """Whether an axis shows the same elements again and again, as after `expand`."""
    return any(stride == 0 and size != 1 for size, stride in zip(shape, strides, strict=True))


def strides_after(op: Op | None, argument: Any, shape: Shape, strides: Strides) -> Strides | None:
    """The strides after a movement of a value of `shape` with `strides`; None if there are none."""
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
    """The strides after a reshape: contiguous axes are joined, and cut again as `wanted` says."""
    if not {*map(type, wanted), *map(type, shape)} <= {int}:
        return None
    if 0 in shape:
        return contiguous_strides(wanted)
    joined = _joined(shape, strides)
    backwards: list[int] = []
    axis = len(wanted)
    for length, stride in reversed(joined):
        covered = 1
        while axis and covered < length:
            axis -= 1
            backwards.append(stride * covered)
            covered *= wanted[axis]
        if covered != length:
            return None
    backwards.extend([1] * axis)  # the remaining axes have length 1
    return tuple(reversed(backwards))


def _joined(shape: Shape, strides: Strides) -> list[tuple[int, int]]:
    """(length, stride) of the fewest axes that show the same elements in the same order."""
    joined: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if joined and joined[-1][1] == size * stride:
            joined[-1] = joined[-1][0] * size, stride
        else:
            joined.append((size, stride))
    return joined
