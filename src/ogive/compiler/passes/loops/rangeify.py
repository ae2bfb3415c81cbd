"""A region's movement ops become index arithmetic over explicit loop counters.

    before   STORE(RESHAPE(PARAM 0), EXP(PERMUTE(RESHAPE(PARAM 1))))         (region dialect)
    after    STORE(INDEX(PARAM 0, r0*3 + r1), EXP(LOAD(INDEX(PARAM 1, r1*2 + r0))), r0, r1)

One pass over the region, from results to memory, gives the positions at which each node is read. A
second one, from memory to results, gives the values there. Independent reductions of the same level
that have equal lengths and positions share their counters, so that they run in one loop.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.identity import identity_element
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, ELEMENTWISE, LOOP, Op, staged_row
from ogive.compiler.ir.positions import (
    MOVES,
    NOWHERE,
    Access,
    Position,
    comparison,
    index_constant,
    index_node,
    padded,
)
from ogive.compiler.ir.shape import Dim, common_shape
from ogive.compiler.ir.symbolic.index_arithmetic import symbolic_rules
from ogive.compiler.passes.fuse.reads.axis_relations import counted_axes
from ogive.compiler.passes.graph.fault_checks import (
    can_fault,
    checked_divisor,
    checked_position,
    harmless_position,
    indices_of,
    with_checks,
)

Read = tuple[UOp, Access]
"""A value and an access to it."""


def make_range(extent: Dim, number: int, placement: str | None = None) -> UOp:
    """A loop counter from 0 up to, not including, `extent`.

    It has no placement until `place_axes` gives it one. But a loop whose iterations must run in
    order is a `LOOP` from the beginning.
    """
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
        # For each read of a node: the reads of its sources, the counters it closes, its value.
        self.below: dict[Read, tuple[Read, ...]] = {}
        self.closed: dict[Read, Position] = {}
        self.values: dict[Read, UOp] = {}
        self.sites = {
            node: site for site, node in enumerate(n for n in self.order if can_fault(n))
        }

    def build(self) -> UOp:
        outputs: list[tuple[UOp, Access, Read]] = []
        for store in self.region.src:
            target, (value, access) = self.open_store(store)
            outputs.append((store, target, (value, access)))
            self.accesses[store.target][target] = None
            self.accesses[value][access] = None
        for node in reversed(self.order):
            for access in self.accesses[node]:
                self.push_down((node, access))
        for node in self.order:
            for access in self.accesses[node]:
                if (node, access) not in self.values:
                    self.values[node, access] = self.pull_up((node, access))
        stores = [self.build_store(*output) for output in outputs]
        return UOp(Op.SINK, dtypes.void, tuple(stores))

    def open_store(self, store: UOp) -> tuple[Access, Read]:
        """The access to the target of a store, and the read of its value."""
        value, indices = store.value, indices_of(store)
        if value.op is Op.ARRANGE:
            elements = value.operand
            access = Access(self.output_ranges(store, elements.shape), None)
            return self.next_place(value, access), (elements, access)
        shape = common_shape(store.src[1:]) if indices else store.target.shape
        access = target = Access(self.output_ranges(store, shape), None)
        if indices:
            reads = [_read(index, access) for index in indices]
            target = Access(self.position_of(store, reads, None), None)
        return target, (value, access)

    def next_place(self, node: UOp, access: Access) -> Access:
        """The access to the target of an arrangement, given that to its elements.

        A row of scratch memory has the next free place of each group. It is filled with the starts
        of the groups, and a `TALLY` reads a place and increments it.
        """
        _, starts, group = node.src
        *line, counter = access.position
        (number,) = self.new_ranges(starts.shape[-1:])
        first = self.value_of((starts, Access((*line, number), None)))
        row = staged_row(int(number.extent.vmax))
        staged = UOp(Op.STAGE, starts.dtype, (first, number, number), row)
        which = harmless_position(self.value_of((group, access)), starts.shape[-1])
        spot = UOp(Op.INDEX, starts.dtype, (staged, which))
        place = UOp(Op.TALLY, starts.dtype, (spot, counter))
        return Access((*line[:-1], UOp(Op.CAST, dtypes.index, (place,))), None)

    def build_store(self, store: UOp, target: Access, read: Read) -> UOp:
        (place,) = self.values[store.target, target].src
        value = with_checks(self.values[read], target.position, place)
        ranges = tuple([r for r in read[1].position if r.op is Op.RANGE])
        return UOp(Op.STORE, dtypes.void, (place, value, *ranges), (None, store.combine))

    def output_ranges(self, store: UOp, shape: tuple[Dim, ...]) -> Position:
        """The counters of the elements of a store. Stores of equal shapes share them."""
        ordered = _ordered_axes(store)
        key = (shape, frozenset(ordered))
        if key not in self.shared_ranges:
            self.shared_ranges[key] = self.new_ranges(shape, ordered)
        return self.shared_ranges[key]

    def new_ranges(self, shape: tuple[Dim, ...], ordered: Collection[int] = ()) -> Position:
        position = []
        for axis, size in enumerate(shape):
            if size == 1:
                position.append(index_constant(0))
            else:
                placement = LOOP if axis in ordered else None
                position.append(make_range(size, self.range_count, placement))
                self.range_count += 1
        return tuple(position)

    def push_down(self, read: Read) -> None:
        """Record the accesses to the sources of a node that a read of the node makes."""
        if read not in self.below:
            self.below[read] = reads = self.reads_below(*read)
            for source, access in reads:
                self.accesses[source][access] = None

    def reads_below(self, node: UOp, access: Access) -> tuple[Read, ...]:
        if 0 in node.shape:
            return ()
        op = node.op
        if op in ELEMENTWISE:
            return tuple([_read(source, access) for source in node.src])
        if op in MOVES:
            return (_read(node.operand, MOVES[op](node, access)),)
        if op is Op.SCAN_AXIS:
            first = list(access.position)
            first[node.axis] = index_constant(0)
            initial = [_read(source, Access(tuple(first), access.gate)) for source in node.src[1:]]
            return (_read(node.operand, access), *initial)
        if op is Op.REDUCE_AXES:
            return (_read(node.operand, self.open_reduction(node, access)),)
        if op in (Op.STAGE_AXIS, Op.SORT):
            return (_read(node.operand, self.open_stage(node, access)),)
        if op is Op.GATHER:
            indices = [_read(index, access) for index in node.indices]
            position = self.position_of(node, indices, access.gate)
            return (_read(node.operand, Access(position, access.gate)), *indices)
        return ()

    def position_of(self, node: UOp, indices: list[Read], gate: UOp | None) -> Position:
        """The checked position that the values of a node's indices give.

        These values are computed at once, before the pass that computes all others.
        """
        lengths = (node.operand if node.op is Op.GATHER else node.target).shape
        return tuple(
            [
                checked_position(self.value_of(read), length, gate, self.sites.get(node))
                for read, length in zip(indices, lengths, strict=True)
            ]
        )

    def value_of(self, target: Read) -> UOp:
        """The value of a read, computed at once together with all that it needs."""
        stack = [target]
        while stack:
            read = stack.pop()
            if read in self.values:
                continue
            missing = self.missing_below(read)
            if missing:
                stack.append(read)
                stack.extend(missing)
            else:
                self.values[read] = self.pull_up(read)
        return self.values[target]

    def missing_below(self, read: Read) -> list[Read]:
        """The reads that a read needs and that have no value yet."""
        node, access = read
        if node.op is Op.GATHER and read not in self.below:
            indices = [_read(index, access) for index in node.indices]
            missing = [index for index in indices if index not in self.values]
            if missing:
                return missing
        self.push_down(read)
        return [source for source in self.below[read] if source not in self.values]

    def open_reduction(self, node: UOp, access: Access) -> Access:
        axes = node.axes
        lengths = tuple(node.operand.shape[axis] for axis in axes)
        key = (self.levels[node], lengths, access)
        if key not in self.shared_ranges:
            self.shared_ranges[key] = self.new_ranges(lengths)
        ranges = self.shared_ranges[key]
        self.closed[node, access] = tuple([r for r in ranges if r.op is Op.RANGE])
        position = list(access.position)
        for axis, counter in zip(axes, ranges, strict=True):
            position[axis] = counter
        return Access(tuple(position), access.gate)

    def open_stage(self, node: UOp, access: Access) -> Access:
        """The access at which a staged value is computed: along a counter of its own."""
        axis = _staged_axis(node)
        position = list(access.position)
        position[axis] = index_constant(0)
        key = (node, tuple(position))
        if key not in self.shared_ranges:
            self.shared_ranges[key] = self.new_ranges((node.shape[axis],))
        (position[axis],) = self.shared_ranges[key]
        return Access(tuple(position), None)

    def staged(self, node: UOp, value: UOp, counter: UOp, access: Access) -> UOp:
        """A load from the row of a value that is staged along a counter, or sorted."""
        axis = _staged_axis(node)
        sorted_count = node.shape[axis] if node.op is Op.SORT else None
        closed = (counter,) if counter.op is Op.RANGE else ()
        row = staged_row(int(counter.vmax) + 1, sorted_count=sorted_count)
        stage = UOp(Op.STAGE, node.dtype, (value, counter, *closed), row)
        gate = () if access.gate is None else (access.gate,)
        place = UOp(Op.INDEX, node.dtype, (stage, access.position[axis], *gate))
        return UOp(Op.LOAD, node.dtype, (place,))

    def running(self, node: UOp, values: list[UOp], access: Access) -> UOp:
        """The value of a scan at its counter, whose loop runs in order.

        The total is computed in the dtype of the operand and then converted.
        """
        op = node.combine
        counter = access.position[node.axis]
        dtype = values[0].dtype
        initial = values[1] if len(values) == 2 else UOp.const(dtype, identity_element(op, dtype))
        if counter.op is not Op.RANGE:
            running = UOp(op, dtype, (initial, values[0]))
        else:
            running = UOp(Op.SCAN, dtype, (values[0], initial, counter), op)
        return running if dtype is node.dtype else UOp(Op.CAST, node.dtype, (running,))

    def pull_up(self, read: Read) -> UOp:
        """The value of a read, from the values of its sources."""
        node, access = read
        op = node.op
        if 0 in node.shape:
            # No element of an empty value is read, but the nodes around it still need a value.
            return UOp.const(node.dtype, 0)
        if op is Op.PARAM:
            gate = () if access.gate is None else (access.gate,)
            place = (node, access.position[0], *gate)
            return UOp(Op.LOAD, node.dtype, (UOp(Op.INDEX, node.dtype, place),))
        if op is Op.IOTA:
            return UOp(Op.CAST, node.dtype, (access.position[0],))
        below = self.below[read]
        if not below:
            return node  # a scalar leaf
        values = [self.values[source] for source in below]
        if op in ELEMENTWISE:
            if node in self.sites:
                values[1] = checked_divisor(values[1], access.gate, self.sites[node])
            if op in COMPARISON:
                return comparison(op, *values)
            if node.dtype is dtypes.bool_ and not any(value.has_index for value in values):
                return symbolic_rules.build(op, node.dtype, tuple(values))
            if op is Op.WHERE and values[0].op is Op.CONST:
                return values[1] if values[0].literal else values[2]
            return UOp(op, node.dtype, tuple(values), node.arg)
        if op is Op.SCAN_AXIS:
            return self.running(node, values, access)
        if op is Op.REDUCE_AXES:
            counters = self.closed[read]
            reduced = UOp(Op.REDUCE, node.dtype, (values[0], *counters), node.combine)
            return reduced if counters else values[0]
        if op in (Op.STAGE_AXIS, Op.SORT):
            return self.staged(node, values[0], below[0][1].position[_staged_axis(node)], access)
        if op is Op.GATHER:
            return with_checks(values[0], below[0][1].position, values[0])
        return padded(node, values[0], access) if op is Op.PAD else values[0]


def _ordered_axes(store: UOp) -> set[int]:
    """The axes of a store whose iterations must run in order.

    These are the axis of a scan or of an arrangement. In a store by indices they are all axes
    except those along which no two values go to the same place.
    """
    value = store.value
    if value.op is Op.SCAN_AXIS:
        return {value.axis}
    if value.op is Op.ARRANGE:
        return {len(value.operand.shape) - 1}
    indices = indices_of(store)
    shape = common_shape(store.src[1:])
    return set(range(len(shape))) - counted_axes(indices, shape) if indices else set()


def _staged_axis(node: UOp) -> int:
    """The axis along which a value is staged; for a `SORT`, the last one."""
    return node.axis if node.op is Op.STAGE_AXIS else len(node.shape) - 1


def _read(source: UOp, access: Access) -> Read:
    return source, access if source.shape else NOWHERE


def _reduction_levels(order: list[UOp]) -> dict[UOp, int]:
    """The greatest number of reductions on a path from each node to a leaf, itself included."""
    levels: dict[UOp, int] = {}
    for node in order:
        level = max([levels[source] for source in node.src], default=0)
        levels[node] = level + 1 if node.op is Op.REDUCE_AXES else level
    return levels
