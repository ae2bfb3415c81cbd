"""Parts of values on their devices, and the exchanges that change their layout.

A `Spread` is a value over several devices: its layout, and for each device the node that computes
its part there. Exchanges are plain operations and `COPY`; nothing after them knows of layouts.

    gather       parts along an axis → all of it on each device       COPY each part, join them
    shrink       equal copies → parts along an axis                   no copy: each takes its own
    reduce       a term on each device → the total on each            COPY terms to the first, add
                                                                      there, COPY the total back
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.layouts import COPIES, Layout
from ogive.compiler.ir.memory import computing_devices
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import apply, count, expand, move, reshape
from ogive.compiler.ir.ops import Op
from ogive.named import NamedTuple


class Spread(NamedTuple):
    """A value over several devices. `parts[n]` is computed on `layout.devices[n]`."""

    layout: Layout
    parts: tuple[UOp, ...]

    def map(self, function: Callable[[UOp], UOp], split: Sequence[int] | None = None) -> Spread:
        """A function of each part; `split` says which axes the mesh divides in the result."""
        layout = self.layout if split is None else self.layout.with_split(split)
        return Spread(layout, tuple([function(part) for part in self.parts]))


Placed = UOp | Spread
"""A value of one device or of none (the same everywhere), or a value over several devices."""


class Exchanges:
    """Makes copies between devices, and remembers the device of each node that it has met."""

    def __init__(self) -> None:
        self._where: dict[UOp, str | None] = {}

    def where(self, node: UOp) -> str | None:
        """The device of a node; None for a value that is the same on all devices."""
        known = self._where
        if node not in known:
            stack, new = [node], {node}
            while stack:
                for source in stack.pop().src:
                    if source not in known and source not in new:
                        new.add(source)
                        stack.append(source)
            order = sorted(new, key=lambda each: each.id)  # sources are older
            sources = {source: known[source] for each in order for source in each.src
                       if source in known}  # fmt: skip
            known |= computing_devices(order, sources)
        return known[node]

    def copy(self, node: UOp, device: str) -> UOp:
        """A value on `device`: itself if it is there or the same everywhere, else a copy."""
        if self.where(node) in (None, device):
            return node
        return UOp(Op.COPY, node.dtype, (node,), device)

    def lay_out(self, value: Placed, layout: Layout) -> Spread:
        """The value in `layout`."""
        if isinstance(value, UOp):
            numbers = range(len(layout.devices))
            own = [take_part(value, layout, number) for number in numbers]
            places = zip(own, layout.devices, strict=True)
            return Spread(layout, tuple([self.copy(part, device) for part, device in places]))
        given = value.layout
        if given == layout:
            return value
        if given.devices != layout.devices or given.mesh != layout.mesh:
            if not given.is_copies or given.devices != layout.devices:
                return self.lay_out(self.collect(value, given.devices[0]), layout)
            copies = layout.with_split([COPIES] * len(layout.mesh))
            return self.lay_out(Spread(copies, value.parts), layout)
        for axis, (now, wanted) in enumerate(zip(given.split, layout.split, strict=True)):
            if now not in (wanted, COPIES):
                value = self.gather(value, axis)
        numbers = range(len(value.parts))
        remaining = layout.with_split(
            [COPIES if axis == now else axis
             for now, axis in zip(value.layout.split, layout.split, strict=True)]
        )  # fmt: skip
        return Spread(layout, tuple([take_part(value.parts[n], remaining, n) for n in numbers]))

    def gather(self, value: Spread, axis: int) -> Spread:
        """The value with equal copies along one axis of the mesh, which divided it before."""
        layout, parts = value.layout, list(value.parts)
        for line in layout.lines(axis):
            for number in line:
                device = layout.devices[number]
                pieces = [self.copy(value.parts[each], device) for each in line]
                parts[number] = join(pieces, layout.split[axis])
        split = [COPIES if m == axis else now for m, now in enumerate(layout.split)]
        return Spread(layout.with_split(split), tuple(parts))

    def reduce(self, value: Spread, axis: int, combine: Op) -> Spread:
        """The total of the terms that the devices along one axis of the mesh have, on each of them.

        The first device computes it, in the order of devices, so that all have the same bits.
        """
        layout, parts = value.layout, list(value.parts)
        for line in layout.lines(axis):
            first = layout.devices[line[0]]
            total = value.parts[line[0]]
            for number in line[1:]:
                total = apply(combine, total, self.copy(value.parts[number], first))
            for number in line:
                parts[number] = self.copy(total, layout.devices[number])
        return Spread(layout, tuple(parts))

    def collect(self, value: Spread, device: str) -> UOp:
        """The whole value on one device, which may be one of those that hold it."""
        layout = value.layout
        is_member = device in layout.devices
        own = layout.places(layout.devices.index(device) if is_member else 0)
        numbers = [
            number
            for number in range(len(value.parts))
            if all(
                axis != COPIES or place == there
                for axis, place, there in zip(
                    layout.split, layout.places(number), own, strict=True
                )
            )
        ]
        pieces = [self.copy(value.parts[number], device) for number in numbers]
        for size, axis in zip(reversed(layout.mesh), reversed(layout.split), strict=True):
            if axis != COPIES:
                groups = range(0, len(pieces), size)
                pieces = [join(pieces[at : at + size], axis) for at in groups]
        return pieces[0]


def take_part(node: UOp, layout: Layout, number: int) -> UOp:
    """The part of a whole value that the number-th device of a layout holds."""
    for size, axis, place in zip(layout.mesh, layout.split, layout.places(number), strict=True):
        if axis != COPIES:
            length = node.shape[axis] // size
            node = _shrink(node, axis, place * length, length)
    return node


def _shrink(node: UOp, axis: int, start: int, length: int) -> UOp:
    """`length` elements of one axis; a value that is repeated along it is repeated less often."""
    if node.op is Op.EXPAND and node.operand.shape[axis] == 1:
        return expand(node.operand, (*node.shape[:axis], length, *node.shape[axis + 1 :]))
    spans = [(0, size) for size in node.shape]
    spans[axis] = (start, start + length)
    return move(Op.SHRINK, node, tuple(spans))


def join(pieces: Sequence[UOp], axis: int) -> UOp:
    """The concatenation of pieces of one shape along an axis.

    a ++ b   →   WHERE(position < len(a), PAD(a), PAD(b))
    """
    if len(pieces) == 1:
        return pieces[0]
    shape = pieces[0].shape
    length = shape[axis]
    total = length * len(pieces)
    whole = (*shape[:axis], total, *shape[axis + 1 :])
    line = tuple([total if each == axis else 1 for each in range(len(shape))])
    position = reshape(count(total), line)

    def choose(first: int, end: int) -> UOp:
        piece = pieces[first]
        if end - first == 1:
            widths = [(0, 0)] * len(shape)
            widths[axis] = (first * length, total - end * length)
            return move(Op.PAD, piece, (tuple(widths), piece.dtype.canonical(0)))
        middle = (first + end) // 2
        bound = UOp.const(dtypes.int64, middle * length)
        before = expand(UOp(Op.CMPLT, dtypes.bool_, (position, bound)), whole)
        return UOp(Op.WHERE, piece.dtype, (before, choose(first, middle), choose(middle, end)))

    return choose(0, len(pieces))
