"""Layouts of a value over several devices.

The devices form a *mesh*, in row-major order: six devices may be a mesh (6,) or a mesh (2, 3).
Each axis of the mesh either divides one axis of the value into equal parts, or holds equal copies:

    (4, 6) over ("CPU", "CPU:1"), mesh (2,), split (0,)      parts (2, 6): rows 0-1, rows 2-3
    (4, 6) over ("CPU", "CPU:1"), mesh (2,), split (-1,)     parts (4, 6), equal
    (4, 6) over four devices, mesh (2, 2), split (0, 1)      parts (2, 3): a quarter on each
    (4, 6) over four devices, mesh (2, 2), split (0, -1)     parts (2, 6), each on two devices

Parts have equal lengths, so that all devices run the same kernels and no rule needs a mask.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ogive.compiler.ir.device_names import group_name
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.named import NamedTuple

COPIES = -1
"""In place of an axis: every device along that axis of the mesh holds an equal copy."""


class Layout(NamedTuple):
    """A layout: `split[m]` is the axis that the m-th axis of the mesh divides, or `COPIES`."""

    devices: tuple[str, ...]
    mesh: tuple[int, ...]
    split: tuple[int, ...]

    @property
    def is_copies(self) -> bool:
        """Whether every device holds all of the value."""
        return all(axis == COPIES for axis in self.split)

    def with_split(self, split: Sequence[int]) -> Layout:
        """The layout on the same mesh that divides other axes."""
        return Layout(self.devices, self.mesh, tuple(split))

    def places(self, number: int) -> tuple[int, ...]:
        """The position of the number-th device along each axis of the mesh."""
        places = []
        for size in reversed(self.mesh):
            number, place = divmod(number, size)
            places.append(place)
        return tuple(reversed(places))

    def lines(self, axis: int) -> Iterator[tuple[int, ...]]:
        """Groups of devices, by number, that differ in their position along `axis` only."""
        step = math.prod(self.mesh[axis + 1 :])
        for first in range(len(self.devices)):
            if self.places(first)[axis] == 0:
                yield tuple([first + step * place for place in range(self.mesh[axis])])

    def counts(self, rank: int) -> list[int]:
        """The number of parts into which each axis of a value is divided."""
        counts = [1] * rank
        for size, axis in zip(self.mesh, self.split, strict=True):
            if axis != COPIES:
                counts[axis] *= size
        return counts

    def part_shape(self, shape: Sequence[Any]) -> tuple[Any, ...]:
        """The shape of a part of a value of `shape`; undivided axes may be symbolic."""
        counts = zip(shape, self.counts(len(shape)), strict=True)
        return tuple([size if count == 1 else size // count for size, count in counts])

    def whole_shape(self, shape: Sequence[Any]) -> tuple[Any, ...]:
        """The shape of a value whose parts have `shape`."""
        counts = zip(shape, self.counts(len(shape)), strict=True)
        return tuple([size if count == 1 else size * count for size, count in counts])


def copies_on(devices: tuple[str, ...]) -> Layout:
    """The layout in which every device holds the whole value."""
    return Layout(devices, (len(devices),), (COPIES,))


def without_mark(node: UOp) -> UOp:
    """The value under the `GRADIENT` nodes that may mark a leaf over several devices."""
    while node.op is Op.GRADIENT:
        node = node.operand
    return node


def holding_device(node: UOp) -> str:
    """The device name of a `SHARD`, `MULTI` or `MSELECT`: a group, or one device of it."""
    devices: tuple[str, ...] = node.arg[0]
    return devices[node.arg[3]] if node.op is Op.MSELECT else group_name(devices)
