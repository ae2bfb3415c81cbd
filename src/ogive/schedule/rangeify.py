"""Stage 4: a region's movement ops become index arithmetic over explicit loop counters.

    before   STORE(RESHAPE(PARAM 0), EXP(PERMUTE(RESHAPE(PARAM 1))))         (region dialect)
    after    STORE(INDEX(PARAM 0, r0*3 + r1), EXP(LOAD(INDEX(PARAM 1, r1*2 + r0))), r0, r1)

Positions flow from the results down, values from memory up; each is one pass over the region.
Reductions on the same level of dependency, over equal lengths and at equal positions, share their
counters, so that independent siblings run in one loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op
from ogive.ir.shape import Dim, movement_argument, row_major_strides
from ogive.ir.symbolic import logical_and

Position = tuple[UOp, ...]


@dataclass(frozen=True)
class Access:
    """A read of a tensor-shaped value at one position, of interest only where `gate` holds."""

    position: Position
    gate: UOp | None


def index_constant(value: int) -> UOp:
    return UOp.const(dtypes.index, value)


def index_node(value: Dim) -> UOp:
    """A length or position as an index node."""
    return value if isinstance(value, UOp) else index_constant(value)


def conjoin(gate: UOp | None, condition: UOp | None) -> UOp | None:
    """Both conditions; None stands for one that always holds."""
    if gate is None or condition is None:
        both = condition if gate is None else gate
    else:
        both = logical_and(gate, condition)
    return None if both is None or (both.op is Op.CONST and both.arg) else both


def make_range(extent: Dim, number: int, placement: str | None = None) -> UOp:
    """A loop counter from 0 to `extent`; it has no placement until stage 6 gives it one."""
    return UOp(Op.RANGE, dtypes.index, (index_node(extent),), (number, placement))


def rangeify(region: UOp) -> UOp:
    """The loop graph of a region."""
    return _Rangeifier(region).build()


class _Rangeifier:
    def __init__(self, region: UOp) -> None:
        self.region = region
        self.order = region.walk()
        self.range_count = 0
        self.levels = _reduction_levels(self.order)
        self.shared_ranges: dict[Any, Position] = {}
        self.accesses: dict[UOp, dict[Access, None]] = {node: {} for node in self.order}
        # For each access of a node, the accesses of its sources, and what a reduction closes.
        self.below: dict[tuple[UOp, Access], tuple[Access, ...]] = {}
        self.closed: dict[tuple[UOp, Access], Position] = {}
        self.values: dict[tuple[UOp, Access], UOp] = {}
        self.sites = {
            node: site for site, node in enumerate(n for n in self.order if can_fault(n))
        }

    def build(self) -> UOp:
        outputs: list[tuple[UOp, Access]] = []
        for store in self.region.src:
            access = Access(self.new_ranges(store.src[0].shape), None)
            outputs.append((store, access))
            for source in store.src:
                self.accesses[source][access] = None
        for node in reversed(self.order):
            for access in self.accesses[node]:
                self.push_down(node, access)
        for node in self.order:
            for access in self.accesses[node]:
                self.values[node, access] = self.pull_up(node, access)
        stores = [self.build_store(store, access) for store, access in outputs]
        return UOp(Op.SINK, dtypes.void, tuple(stores))

    def build_store(self, store: UOp, access: Access) -> UOp:
        target = self.values[store.src[0], access]
        value = self.values[store.src[1], access]
        ranges = tuple([r for r in access.position if r.op is Op.RANGE])
        return UOp(Op.STORE, dtypes.void, (target.src[0], value, *ranges))

    def new_ranges(self, shape: tuple[Dim, ...]) -> Position:
        position = []
        for size in shape:
            if size == 1:
                position.append(index_constant(0))
            else:
                position.append(make_range(size, self.range_count))
                self.range_count += 1
        return tuple(position)

    def push_down(self, node: UOp, access: Access) -> None:
        """Note at which positions the sources of `node` are read."""
        if 0 in node.shape:
            return
        if node.op is Op.REDUCE_AXES:
            below = self.open_reduction(node, access)
        elif node.op in ELEMENTWISE:
            below = access
        elif node.op in _MOVES:
            below = _MOVES[node.op](node, access)
        else:
            return
        self.below[node, access] = (below,)
        for source in node.src if node.op in ELEMENTWISE else node.src[:1]:
            if source.shape:
                self.accesses[source][below] = None
            else:
                self.accesses[source][_NOWHERE] = None

    def open_reduction(self, node: UOp, access: Access) -> Access:
        axes = node.arg[1]
        lengths = tuple(node.src[0].shape[axis] for axis in axes)
        key = (self.levels[node], lengths, access)
        if key not in self.shared_ranges:
            self.shared_ranges[key] = self.new_ranges(lengths)
        ranges = self.shared_ranges[key]
        self.closed[node, access] = tuple([r for r in ranges if r.op is Op.RANGE])
        position = list(access.position)
        for axis, counter in zip(axes, ranges, strict=True):
            position[axis] = counter
        return Access(tuple(position), access.gate)

    def pull_up(self, node: UOp, access: Access) -> UOp:
        """The value of `node` at a position, from the values of its sources."""
        op = node.op
        if 0 in node.shape:
            # Nobody reads from an empty value; what stands around it asks, under a false gate.
            return UOp.const(node.dtype, 0)
        if op is Op.PARAM:
            gate = () if access.gate is None else (access.gate,)
            place = (node, access.position[0], *gate)
            return UOp(Op.LOAD, node.dtype, (UOp(Op.INDEX, node.dtype, place),))
        if op is Op.IOTA:
            return UOp(Op.CAST, node.dtype, (access.position[0],))
        if (node, access) not in self.below:
            return node  # a scalar leaf
        (below,) = self.below[node, access]
        if op in ELEMENTWISE:
            sources = [self.values[s, below if s.shape else _NOWHERE] for s in node.src]
            if node in self.sites:
                sources[1] = self.checked_divisor(node, sources[1], access.gate)
            return UOp(op, node.dtype, tuple(sources), node.arg)
        source = node.src[0]
        value = self.values[source, below if source.shape else _NOWHERE]
        if op is Op.REDUCE_AXES:
            ranges = self.closed[node, access]
            return UOp(Op.REDUCE, node.dtype, (value, *ranges), node.arg[0])
        if op is Op.PAD:
            return _padded(node, value, access)
        return value

    def checked_divisor(self, node: UOp, divisor: UOp, gate: UOp | None) -> UOp:
        low, high = divisor.bounds
        if low > 0 or high < 0:
            return divisor
        zero = UOp.const(divisor.dtype, 0)
        condition = UOp(Op.CMPNE, dtypes.bool_, (divisor, zero))
        sources = (divisor, condition) if gate is None else (divisor, condition, gate)
        return UOp(Op.CHECK, divisor.dtype, sources, self.sites[node])


_NOWHERE = Access((), None)


def can_fault(node: UOp) -> bool:
    """Whether a run may stop at this node: an integer division whose divisor may be zero."""
    return (
        node.op in (Op.FLOORDIV, Op.MOD)
        and node.dtype.kind in ("int", "uint")
        and not (node.src[1].op is Op.CONST and node.src[1].arg != 0)
    )


def _padded(node: UOp, value: UOp, access: Access) -> UOp:
    inside = _inside(node, access, least=0)
    if inside is access.gate or inside is None:
        return value
    fill = node.dtype.canonical(movement_argument(node)[1])
    # A gated load gives zero by itself; positive zero, that is.
    is_plain_load = value.op is Op.LOAD and len(value.src[0].src) == 3
    if is_plain_load and value.src[0].src[2] is inside and repr(fill) in ("0", "0.0", "False"):
        return value
    return UOp(Op.WHERE, node.dtype, (inside, value, UOp.const(node.dtype, fill)))


def _permute(node: UOp, access: Access) -> Access:
    position: list[UOp] = list(access.position)
    for place, axis in enumerate(node.arg):
        position[axis] = access.position[place]
    return Access(tuple(position), access.gate)


def _expand(node: UOp, access: Access) -> Access:
    zero = index_constant(0)
    position = [
        zero if size == 1 else entry
        for entry, size in zip(access.position, node.src[0].shape, strict=True)
    ]
    return Access(tuple(position), access.gate)


def _flip(node: UOp, access: Access) -> Access:
    shape = node.shape
    position = [
        (shape[axis] - 1) - entry if axis in node.arg else entry
        for axis, entry in enumerate(access.position)
    ]
    return Access(tuple(position), access.gate)


def _shrink(node: UOp, access: Access) -> Access:
    ranges = movement_argument(node)
    position = [
        entry + begin for entry, (begin, _) in zip(access.position, ranges, strict=True)
    ]
    return Access(tuple(position), access.gate)


def _pad(node: UOp, access: Access) -> Access:
    pads = movement_argument(node)[0]
    # There is one place to read along an axis of length 1, within the padding and without.
    position = [
        index_constant(0) if size == 1 else entry - before
        for entry, size, (before, _) in zip(
            access.position, node.src[0].shape, pads, strict=True
        )
    ]
    return Access(tuple(position), _inside(node, access, least=2))


def _inside(node: UOp, access: Access, least: int) -> UOp | None:
    """The gate, and that the position is not in the padding of an axis of `least` or more."""
    gate = access.gate
    pads = movement_argument(node)[0]
    for entry, size, (before, after) in zip(
        access.position, node.src[0].shape, pads, strict=True
    ):
        if isinstance(size, int) and 0 < size < least:
            continue
        moved = entry - before
        if before != 0:
            gate = conjoin(gate, moved.ge(0))
        if after != 0:
            gate = conjoin(gate, moved.lt(size))
    return gate


def _reshape(node: UOp, access: Access) -> Access:
    before, after = node.src[0].shape, node.shape
    flat: UOp = index_constant(0)
    for entry, stride in zip(access.position, row_major_strides(after), strict=True):
        flat = flat + entry * stride
    position = []
    for size, stride in zip(before, row_major_strides(before), strict=True):
        if size == 1:
            position.append(index_constant(0))
        else:
            position.append(flat // stride)
            flat = flat % stride
    return Access(tuple(position), access.gate)


_MOVES = {
    Op.PERMUTE: _permute,
    Op.EXPAND: _expand,
    Op.FLIP: _flip,
    Op.SHRINK: _shrink,
    Op.PAD: _pad,
    Op.RESHAPE: _reshape,
}


def _reduction_levels(order: list[UOp]) -> dict[UOp, int]:
    """How many reductions lie on the longest path below each node, itself counted."""
    levels: dict[UOp, int] = {}
    for node in order:
        level = max([levels[source] for source in node.src], default=0)
        levels[node] = level + 1 if node.op is Op.REDUCE_AXES else level
    return levels

