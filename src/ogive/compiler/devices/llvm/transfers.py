"""Transfers of tiles between registers and memory: the loads and stores of the kernel graph.

A node stands for a whole tile. The layout of its entries and lanes in memory decides how it is
moved: entry by entry, as a square that is transposed in registers, as vectors from which entries
are picked by shuffles, or as vectors in which entries are interleaved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ogive.compiler.devices.llvm.accumulators import Accumulators
from ogive.compiler.devices.llvm.kernel_writer import Offset
from ogive.compiler.devices.llvm.llvm_types import constant, register_type
from ogive.compiler.devices.llvm.memory_accesses import Memory, Stride
from ogive.compiler.devices.llvm.registers import Places, Tile
from ogive.compiler.devices.llvm.vectors import shuffled_tiles
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.devices.llvm.vectors.sort_exchanges import Exchanges
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, UPCAST, Op
from ogive.compiler.passes.loops.staging.scratch_layout import row_starts
from ogive.compiler.passes.lower.cache_hints import Traffic
from ogive.compiler.passes.lower.irregular_lanes import Picks, find_picks
from ogive.compiler.passes.lower.linearize import is_loop
from ogive.compiler.passes.lower.lower_accesses import lane_of
from ogive.compiler.passes.lower.transposed_access import (
    interleaved_counter,
    lie_of_lanes,
    split_gate,
    transposed_counter,
)


class Transfers:
    """Writes the loads and stores of a kernel's nodes.

    `write_index` writes an index expression that the program does not have.
    """

    def __init__(
        self,
        accumulators: Accumulators,
        instructions: Instructions,
        memory: Memory,
        traffic: Traffic,
        write_index: Callable[[UOp], None],
    ) -> None:
        self.accumulators = accumulators
        self.values = accumulators.values
        self.writer = self.values.writer
        self.instructions = instructions
        self.memory = memory
        self.traffic = traffic
        self.write_index = write_index

    def load(self, node: UOp) -> None:
        """Load a tile."""
        counters, lanes = self.values.tile_of(node), self.values.lanes_of(node)
        rows = transposed_counter(node, lanes, self.memory.target)
        if rows is not None:
            registers = self._load_transposed(node, rows, counters, lanes)
        elif (picks := self._picks_of(node, lanes)) is not None:
            registers = self._load_picked(node, picks, counters, lanes)
        else:
            registers = {
                place: self._load_entry(node, tuple(zip(counters, place, strict=True)), lanes)
                for place in self.values.entries(counters)
            }
        self.values.registers[node] = registers

    def _load_entry(self, node: UOp, places: Places, lanes: int) -> str:
        place = node.place
        offset = self.values.offset(place.offset, places)
        gate = self._gate(place, places, lanes)
        ahead = self._ahead_of(node)
        if ahead is not None:
            self.memory.prefetch(place.base, node.dtype, offset, ahead)
        if node.stride == IRREGULAR:
            assert node.lanes is not None
            apart = self.values.operand(node.lanes, places, lanes)
            return self.memory.gather(place.base, node.dtype, offset, apart, gate, lanes)
        stride = node.stride if lanes > 1 else None
        return self.memory.load(place.base, node.dtype, offset, stride, gate, lanes)

    def _load_transposed(
        self, node: UOp, rows: UOp, counters: tuple[UOp, ...], lanes: int
    ) -> dict[Tile, str]:
        """Load a tile whose lanes are far apart but whose rows are contiguous.

        Its rows are loaded lane by lane and transposed in registers.
        """
        registers: dict[Tile, str] = {}
        ahead = self._ahead_of(node)
        for entries, where in self._transposed_tiles(node, rows, counters, lanes):
            values = shuffled_tiles.load_transposed(
                self.memory, node.place.base, node.dtype, where, lanes, ahead
            )
            for entry, value in zip(entries, values, strict=True):
                registers[tuple([entry[counter] for counter in counters])] = value
        return registers

    def _picks_of(self, node: UOp, lanes: int) -> Picks | None:
        """The picks of a load, if it is picked out of vectors.

        A gated load must not pick an element twice, since the gate may hold for only one of them.
        """
        picks = find_picks(node, lanes, self.memory.target)
        gate = node.place.gate
        gated = gate is not None and not self.values.holds(gate)
        return None if picks is None or (gated and not picks.are_distinct) else picks

    def _load_picked(
        self, node: UOp, picks: Picks, counters: tuple[UOp, ...], lanes: int
    ) -> dict[Tile, str]:
        """Load a tile from vectors that hold its entries in another order."""
        place = node.place
        gates = [
            self._gate(place, tuple(zip(counters, entry, strict=True)), lanes)
            for entry in picks.sources
        ]
        base = "0"
        for term, factor in picks.base.items():
            number = self.values.operand(term, (), 1)
            step = self.writer.once(f"mul i64 {number}, {factor}")
            base = self.writer.once(f"add i64 {base}, {step}")
        return shuffled_tiles.load_picked(
            self.memory, place.base, node.dtype, Offset(base), picks, gates, lanes
        )

    def _ahead_of(self, load: UOp) -> str | None:
        """The prefetch distance of a load, or None."""
        distance = self.traffic.ahead.get(load)
        return None if distance is None else self.steady_operand(distance)

    def store(self, node: UOp) -> None:
        """Store a tile."""
        lane = lane_of(node.closed)
        lanes = 1 if lane is None or node.stride is None else int(lane.extent.literal)
        upcast = [counter for counter in node.closed if counter.placement == UPCAST]
        counters = tuple(sorted(upcast, key=lambda counter: counter.number))
        between = interleaved_counter(node, lanes, self.memory.target)
        rows = transposed_counter(node, lanes, self.memory.target)
        if between is not None:
            self._store_interleaved(node, between, counters, lanes)
        elif rows is not None:
            self._store_transposed(node, rows, counters, lanes)
        else:
            for position in self.values.entries(counters):
                self._store_entry(node, tuple(zip(counters, position, strict=True)), lanes)

    def _store_entry(self, node: UOp, places: Places, lanes: int) -> None:
        place, value = node.place, node.value
        stride, op = node.stride, node.combine
        offset = self._offset(place.offset, places, stride, lanes)
        gate = self._gate(place, places, lanes)
        text = self.values.operand(value, places, lanes)
        where = (offset, stride if lanes > 1 else None, gate, lanes)
        if op is not None:
            present = self.memory.load(place.base, value.dtype, *where)
            text = self.instructions.combine(op, value.dtype, present, text, lanes)
        if node in self.traffic.streamed and gate is None:
            self.memory.stream(place.base, value.dtype, text, offset, lanes)
        else:
            self.memory.store(place.base, value.dtype, text, *where)

    def _store_transposed(
        self, node: UOp, rows: UOp, counters: tuple[UOp, ...], lanes: int
    ) -> None:
        """Store a tile whose lanes are far apart but whose rows are contiguous."""
        place, value = node.place, node.value
        is_streamed = node in self.traffic.streamed
        for entries, spot in self._transposed_tiles(node, rows, counters, lanes):
            values = [self.values.operand(value, tuple(e.items()), lanes) for e in entries]
            shuffled_tiles.store_transposed(
                self.memory, place.base, value.dtype, values, spot, lanes, is_streamed
            )

    def _store_interleaved(
        self, node: UOp, between: UOp, counters: tuple[UOp, ...], lanes: int
    ) -> None:
        """Store a tile whose rows fill the gaps between lanes, as whole interleaved vectors."""
        place, value = node.place, node.value
        others = tuple([counter for counter in counters if counter is not between])
        for at in self.values.entries(others):
            fixed = tuple(zip(others, at, strict=True))
            spots = [(*fixed, (between, number)) for number in range(between.extent.literal)]
            shuffled_tiles.store_interleaved(
                self.memory,
                place.base,
                value.dtype,
                [self.values.operand(value, spot, lanes) for spot in spots],
                [self._gate(place, spot, lanes) for spot in spots],
                self.values.offset(place.offset, spots[0]),
                lanes,
            )

    def keep(self, node: UOp) -> None:
        """Store a staged value, which is then read back like any other memory."""
        lanes = self.accumulators.lanes_of(node)
        counters = self.accumulators.counters_of(node)
        stride = node.stride
        for position in self.values.entries(counters):
            places = tuple(zip(counters, position, strict=True))
            offset = self._offset(node.offset, places, stride, lanes)
            value = self.values.operand(node.operand, places, lanes)
            if node.combine is not None:
                value = self._added(node, value, offset, stride, lanes)
            self.memory.store(node, node.dtype, value, offset, stride, None, lanes)

    def put_in_order(self, stage: UOp) -> None:
        """Sort a staged value, if it should be sorted."""
        count = stage.sorted_count
        if count is None:
            return
        exchanges = Exchanges(stage, self.values.lanes_of(stage), self.memory, self.instructions)
        for begin in row_starts(stage, self.values.tile_of(stage)):
            exchanges.sort(count, begin)

    def _added(self, node: UOp, value: str, offset: Offset, stride: Stride, lanes: int) -> str:
        """A value combined with the one that earlier iterations have staged at its place."""
        present = self.memory.load(node, node.dtype, offset, stride, None, lanes)
        combined = self.instructions.combine(node.combine, node.dtype, present, value, lanes)
        kind = register_type(node.dtype, lanes)
        for counter in node.closed:
            if is_loop(counter) and counter not in node.offset.ranges:
                number = self.values.operand(counter, (), 1)
                first = self.writer.instruction(f"icmp eq i64 {number}, 0")
                combined = self.writer.instruction(
                    f"select i1 {first}, {kind} {value}, {kind} {combined}"
                )
        return combined

    def tally(self, node: UOp, places: Places, lanes: int) -> str:
        """The number at a place of staged memory, which is then incremented."""
        place = node.place
        stride = IRREGULAR if lanes > 1 else None
        where = (self._offset(place.offset, places, stride, lanes), stride, None, lanes)
        present = self.memory.load(place.base, node.dtype, *where)
        one = constant(node.dtype, 1, lanes)
        more = self.instructions.combine(Op.ADD, node.dtype, present, one, lanes)
        self.memory.store(place.base, node.dtype, more, *where)
        return present

    def _offset(self, offset: UOp, places: Places, stride: Stride, lanes: int) -> Offset:
        """The offset of a store; that of each lane if the stride is irregular."""
        if stride == IRREGULAR:
            return Offset(self.values.operand(offset, places, lanes))
        return self.values.offset(offset, places)

    def _gate(self, place: UOp, places: Places, lanes: int) -> str | None:
        """The mask of an access; None if its gate is known to hold."""
        if place.gate is None or self.values.holds(place.gate):
            return None
        return self.values.operand(place.gate, places, lanes)

    def _transposed_tiles(
        self, access: UOp, rows: UOp, counters: tuple[UOp, ...], lanes: int
    ) -> Iterator[tuple[list[dict[UOp, int]], shuffled_tiles.TransposedPlace]]:
        """The parts of a tile that are transposed separately: the entries of each, and its place.

        A part has at most as many rows as there are lanes.
        """
        by_row, by_lane = [
            [part for part in parts if not self.values.holds(part)]
            for parts in split_gate(access.place)
        ]
        lie = lie_of_lanes(access)
        assert lie is not None, "rows that are transposed have lanes at a distance of each other"
        if access.stride == IRREGULAR:
            self.write_index(lie.first)
        others = tuple([counter for counter in counters if counter is not rows])
        length = rows.extent.literal
        for at in self.values.entries(others):
            fixed = dict(zip(others, at, strict=True))
            for begin in range(0, length, lanes):
                numbers = range(begin, min(begin + lanes, length))
                entries = [{**fixed, rows: number} for number in numbers]
                spots = [tuple(entry.items()) for entry in entries]
                where = shuffled_tiles.TransposedPlace(
                    self._lane_offsets(self.values.offset(lie.first, spots[0]), lie.step, lanes),
                    [self._conjunction(by_row, spot, 1) for spot in spots],
                    self._conjunction(by_lane, spots[0], lanes),
                )
                yield entries, where

    def steady_operand(self, expression: UOp) -> str:
        """The register of an index of variables and outer counters, computed where it is needed."""
        self.write_index(expression)
        return self.values.operand(expression, (), 1)

    def _lane_offsets(self, first: Offset, step: int | UOp, lanes: int) -> list[Offset]:
        """The offset of each lane, a fixed or symbolic distance after the one before."""
        if isinstance(step, int):
            return [first.plus(lane * step) for lane in range(lanes)]
        write, distance = self.writer.instruction, self.steady_operand(step)
        offsets = [first]
        while len(offsets) < lanes:
            following = write(f"add i64 {offsets[-1].register}, {distance}")
            offsets.append(Offset(following, first.constant))
        return offsets

    def _conjunction(self, gates: list[UOp], places: Places, lanes: int) -> str | None:
        """The conjunction of some gates; None if there are none."""
        if not gates:
            return None
        masks = self.writer.of(dtypes.bool_, lanes)
        first, *others = [self.values.operand(gate, places, lanes) for gate in gates]
        for other in others:
            first = masks.and_(first, other)
        return first
