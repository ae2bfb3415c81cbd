"""Stage 9: nested blocks of instructions become the text of one LLVM function.

The function takes `(arguments, begin, end, fault)`: the words of its buffers and variables, the
slice of its parallel axis to run, and where to report a fault.

A value held in a register tile stays one node; here it becomes one register per entry of the tile.
A loop whose gates can fail only in its last iterations is written twice: once for the iterations
in which they hold, without gates, and once for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator

from ogive.codegen.accumulators import Accumulators
from ogive.codegen.definitions import definitions
from ogive.codegen.instructions import Instructions
from ogive.codegen.linearize import Accumulate, Item, Loop, is_loop
from ogive.codegen.lower import lane_of
from ogive.codegen.memory import Memory, Stride, TurnedPlace
from ogive.codegen.peel import gates_within, instruction_count, peel_limit
from ogive.codegen.pick import Picks, find_picks
from ogive.codegen.scratch import shared_areas
from ogive.codegen.signature import kernel_signature
from ogive.codegen.traffic import Traffic, plan_traffic
from ogive.codegen.turn import interleaved_counter, split_gate, turned_counter
from ogive.codegen.types import constant, register_type
from ogive.codegen.values import Places, Tile, Values
from ogive.codegen.writer import Offset, Rarity, Writer, vector_attributes
from ogive.device.target import Target
from ogive.errors import EmitError
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, IRREGULAR, LANE, PARALLEL, UPCAST, Op

PEEL_LIMIT = 210
"""The most instructions in a loop body that is written twice for the sake of its gates."""

SHORT_COPY = 48
"""The most instructions around and in a loop whose addresses LLVM is left to work out."""


def emit(name: str, root: UOp, program: list[Item], target: Target) -> str:
    """The LLVM module of one kernel, as text."""
    return _Emitter(root, target).module(name, program)


class _Emitter:
    """Writes one kernel, item by item. What is in which register is for `values` to know."""

    def __init__(self, root: UOp, target: Target) -> None:
        self.root = root
        self.target = target
        self.writer = Writer()
        self.instructions = Instructions(self.writer, target)
        self.memory = Memory(self.writer, shared_areas(root))
        self.traffic = Traffic()
        self.hides_remainders = False
        self.values = Values(self.writer)
        self.accumulators = Accumulators(root, self.values, self.instructions)

    def module(self, name: str, program: list[Item]) -> str:
        writer = self.writer
        self.traffic = plan_traffic(self.root, program, self.target)
        self.parameters()
        self.block(program)
        self.memory.finish_streams()
        writer.effect("ret void")
        called = definitions(writer.functions.values())
        functions = [definition.text for definition in called]
        declared = writer.declarations.union(*[d.declarations for d in called])
        return "\n".join(
            [
                f'define void @"{name}"(ptr noalias readonly %arguments, i64 %begin, i64 %end, '
                "ptr %fault) #0 {",
                "entry:",
                *writer.entry,
                *writer.lines,
                "}",
                *functions,
                *sorted(declared),
                vector_attributes(self.target),
                *writer.call_attributes(),
                *self.memory.metadata(),
                "",
            ]
        )

    def parameters(self) -> None:
        signature = kernel_signature(self.root)
        for position, slot in enumerate(signature.slots):
            self.memory.bases[slot] = self.argument(position, "ptr")
        nodes = {n.arg[0]: n for n in self.root.walk() if n.op is Op.VARIABLE}
        for position, variable in enumerate(signature.variables, len(signature.slots)):
            self.values.registers[nodes[variable]] = {(): self.argument(position, "i64")}

    def argument(self, position: int, kind: str) -> str:
        """One of the words that the kernel is called with."""
        place = f"getelementptr inbounds i64, ptr %arguments, i64 {position}"
        return self.writer.instruction(f"load {kind}, ptr {self.writer.instruction(place)}")

    # Control flow

    def block(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Loop):
                self.loop(item)
            elif isinstance(item, Accumulate) and item.into.op is Op.STAGE:
                self.keep(item.into)
            elif isinstance(item, Accumulate):
                self.accumulators.add(item.into)
            else:
                self.node(item)

    def loop(self, loop: Loop) -> None:
        for node in loop.starts:
            self.accumulators.start(node)
        if loop.counter.arg[1] == PARALLEL:
            begin, end = "%begin", "%end"
        else:
            begin, end = "0", self.values.operand(loop.counter.src[0], (), 1)
        gates = [n for n in gates_within(loop.body) if loop.counter in n.ranges]
        around = frozenset([node for node in self.values.registers if node.op is Op.RANGE])
        limit, certain = peel_limit(loop.counter, gates, around)
        if limit is None or instruction_count(loop.body) > PEEL_LIMIT:
            self.write_loop(loop, begin, end)
            return
        if limit.op is Op.CONST and begin == "0" and end.isdigit():
            middle = after = str(min(limit.arg, int(end)))
        else:
            bound = self.steady_operand(limit)
            middle = self.extreme("slt", end, bound)
            after = self.extreme("sgt", begin, bound)
        before, self.values.certain = self.values.certain, self.values.certain | certain
        self.write_loop(loop, begin, middle)
        self.values.certain = before
        rarity = Rarity.ONCE if loop.counter.arg[1] == PARALLEL else Rarity.LAST
        around_it, self.writer.rarity = self.writer.rarity, max(self.writer.rarity, rarity)
        self.write_loop(loop, after, end)
        self.writer.rarity = around_it

    def steady_operand(self, expression: UOp) -> str:
        """An index expression of variables and outer counters, written where it is needed."""
        for part in expression.walk():
            if part.op is not Op.CONST and part not in self.values.registers:
                self.node(part)
        return self.values.operand(expression, (), 1)

    def extreme(self, order: str, left: str, right: str) -> str:
        wins = self.writer.instruction(f"icmp {order} i64 {left}, {right}")
        return self.writer.instruction(f"select i1 {wins}, i64 {left}, i64 {right}")

    def write_loop(self, loop: Loop, begin: str, end: str) -> None:
        if begin.isdigit() and end.isdigit() and int(begin) >= int(end):
            return
        writer = self.writer
        head, exit_label = writer.new_label(), writer.new_label()
        guard = not (begin.isdigit() and end.isdigit())
        if guard:
            any_left = writer.instruction(f"icmp slt i64 {begin}, {end}")
            writer.branch_if(any_left, head, exit_label)
        else:
            writer.branch(head)
        entered_from = writer.block
        counter, following = writer.name(), writer.name()
        writer.label(head)
        slot = len(writer.lines)
        writer.lines.append("")
        with self.values.inside(loop.counter, counter):
            before, self.hides_remainders = self.hides_remainders, not _surrounds_short_copies(loop)
            self.block(loop.body)
            self.hides_remainders = before
        writer.lines.append(f"  {following} = add nuw nsw i64 {counter}, 1")
        writer.lines[slot] = (
            f"  {counter} = phi i64 [ {begin}, %{entered_from} ], [ {following}, %{writer.block} ]"
        )
        again = writer.instruction(f"icmp slt i64 {following}, {end}")
        writer.branch_if(again, head, exit_label)
        writer.label(exit_label)

    # Values

    def node(self, node: UOp) -> None:
        op = node.op
        if op in (Op.INDEX, Op.STAGE, Op.VARIABLE) or node in self.accumulators.fused:
            return
        if self.values.is_step(node):
            return
        if node.dtype.is_bool and self.values.holds(node):
            self.values.registers[node] = {
                place: constant(dtypes.bool_, True, self.values.lanes_of(node))
                for place in self.values.entries(self.values.tile_of(node))
            }
        elif op is Op.STORE:
            self.store(node)
        elif op is Op.REDUCE:
            self.accumulators.finish(node)
        elif op is Op.SCAN:
            self.accumulators.scan(node)
        elif op is Op.LOAD and (rows := turned_counter(node, self.values.lanes_of(node))):
            self.load_turned(node, rows)
        elif op is Op.LOAD and (picks := self.picks_of(node)):
            self.load_picked(node, picks)
        else:
            self.compute_tile(node)

    def compute_tile(self, node: UOp) -> None:
        """One register for each entry of a node's tile."""
        counters = self.values.tile_of(node)
        self.values.registers[node] = {
            place: self.compute(node, tuple(zip(counters, place, strict=True)))
            for place in self.values.entries(counters)
        }

    def compute(self, node: UOp, places: Places) -> str:
        op = node.op
        lanes = self.values.lanes_of(node)
        if op is Op.WHERE and self.values.holds(node.src[0]):
            return self.values.operand(node.src[1], places, lanes)
        if op is Op.CMPLT and _counts_lanes(node.src[0]) and self.values.lanes_of(node.src[1]) == 1:
            return self.first_lanes(node.src[1], self.values.operand(node.src[1], places, 1), lanes)
        if op in ELEMENTWISE:
            operands = [self.values.operand(source, places, lanes) for source in node.src]
            operand_dtype = node.src[1 if op is Op.WHERE else 0].dtype
            if node.dtype is dtypes.index and op in (Op.FLOORDIV, Op.MOD):
                return self.index_division(node, operands, lanes)
            if op is Op.DOT:
                nothing = constant(node.dtype, 0, lanes)
                return self.instructions.dot(node.arg, node.dtype, [nothing, *operands], lanes)
            return self.instructions.elementwise(op, node.dtype, operand_dtype, operands, lanes)
        if op is Op.LOAD:
            return self.load(node, places, lanes)
        if op is Op.TALLY:
            return self.tally(node, places, lanes)
        if op is Op.CHECK:
            return self.check(node, places, lanes)
        raise EmitError(f"{op.name} cannot be written as an instruction", node.origin)

    def first_lanes(self, limit: UOp, bound: str, lanes: int) -> str:
        """A mask of the lanes numbered below `bound`, compared as 32-bit integers."""
        count = bound
        low, high = limit.bounds
        if low < dtypes.int32.limits[0] or high > dtypes.int32.limits[1]:
            count = self.extreme("sgt", self.extreme("slt", bound, str(lanes)), "0")
        narrow = self.writer.instruction(f"trunc i64 {count} to i32")
        vector = self.writer.splat(narrow, dtypes.int32, lanes)
        numbers = ", ".join(f"i32 {lane}" for lane in range(lanes))
        return self.writer.instruction(f"icmp slt <{lanes} x i32> <{numbers}>, {vector}")

    def index_division(self, node: UOp, operands: list[str], lanes: int) -> str:
        if node.src[0].vmin >= 0 and node.src[1].vmin > 0:
            kind = register_type(dtypes.index, lanes)
            if node.op is Op.FLOORDIV:
                return self.writer.instruction(f"udiv {kind} {operands[0]}, {operands[1]}")
            remainder = self.writer.instruction(f"urem {kind} {operands[0]}, {operands[1]}")
            hide = self.hides_remainders and lanes == 1
            return self.writer.hidden_index(remainder) if hide else remainder
        if node.src[1].vmin <= 0 <= node.src[1].vmax:
            # A symbolic length may be 0 where nothing is read; the machine divides all the same.
            operands = [operands[0], self.nonzero(operands[1], lanes)]
        return self.instructions.integer_division(node.op, dtypes.index, operands, lanes)

    def nonzero(self, divisor: str, lanes: int) -> str:
        kind, mask = register_type(dtypes.index, lanes), register_type(dtypes.bool_, lanes)
        zero, one = constant(dtypes.index, 0, lanes), constant(dtypes.index, 1, lanes)
        is_zero = self.writer.instruction(f"icmp eq {kind} {divisor}, {zero}")
        return self.writer.instruction(f"select {mask} {is_zero}, {kind} {one}, {kind} {divisor}")

    def gate_operand(self, place: UOp, places: Places, lanes: int) -> str | None:
        if len(place.src) < 3 or self.values.holds(place.src[2]):
            return None
        return self.values.operand(place.src[2], places, lanes)

    def offset(self, place: UOp, places: Places, stride: Stride, lanes: int) -> Offset:
        """Where an access begins; where each lane lies, if that is irregular."""
        if stride == IRREGULAR:
            return Offset(self.values.operand(place.src[1], places, lanes))
        return self.values.offset(place.src[1], places)

    def load(self, node: UOp, places: Places, lanes: int) -> str:
        place = node.src[0]
        stride = node.arg if lanes > 1 else None
        offset = self.offset(place, places, stride, lanes)
        gate = self.gate_operand(place, places, lanes)
        ahead = self.ahead_of(node)
        if ahead is not None:
            self.memory.prefetch(place.src[0], node.dtype, offset, ahead)
        return self.memory.load(place.src[0], node.dtype, offset, stride, gate, lanes)

    def ahead_of(self, load: UOp) -> str | None:
        """How far behind a load that lies which is asked for beside it, if something is."""
        distance = self.traffic.ahead.get(load)
        return None if distance is None else self.steady_operand(distance)

    def load_turned(self, node: UOp, rows: UOp) -> None:
        """A tile whose lanes are far apart but whose rows are contiguous: load it lane by lane
        and turn it in registers."""
        counters, lanes = self.values.tile_of(node), self.values.lanes_of(node)
        registers: dict[Tile, str] = {}
        ahead = self.ahead_of(node)
        for entries, where in self.turned_tiles(node.src[0], rows, counters, lanes):
            values = self.memory.load_turned(
                node.src[0].src[0], node.dtype, where, node.arg, lanes, ahead
            )
            for entry, value in zip(entries, values, strict=True):
                registers[tuple([entry[counter] for counter in counters])] = value
        self.values.registers[node] = registers

    def picks_of(self, node: UOp) -> Picks | None:
        """How a load is picked out of vectors, if it is. An element that two lanes pick may be
        admitted for the one and not for the other."""
        picks = find_picks(node, self.values.lanes_of(node))
        gated = len(node.src[0].src) > 2 and not self.values.holds(node.src[0].src[2])
        return None if picks is None or (gated and not picks.are_distinct) else picks

    def load_picked(self, node: UOp, picks: Picks) -> None:
        """A tile that vectors hold in another order."""
        place, lanes = node.src[0], self.values.lanes_of(node)
        counters = self.values.tile_of(node)
        gates = [
            self.gate_operand(place, tuple(zip(counters, entry, strict=True)), lanes)
            for entry in picks.sources
        ]
        base = "0"
        for term, factor in picks.base.items():
            number = self.values.operand(term, (), 1)
            step = self.writer.once(f"mul i64 {number}, {factor}")
            base = self.writer.once(f"add i64 {base}, {step}")
        self.values.registers[node] = self.memory.load_picked(
            place.src[0], node.dtype, Offset(base), picks, gates, lanes
        )

    def turned_tiles(
        self, place: UOp, rows: UOp, counters: tuple[UOp, ...], lanes: int
    ) -> Iterator[tuple[list[dict[UOp, int]], TurnedPlace]]:
        """The parts of a tile that are turned by themselves, of at most as many rows as there are
        lanes: the entries of each, and where they lie."""
        parts = split_gate(place)
        by_row, by_lane = [
            [part for part in found if not self.values.holds(part)] for found in parts
        ]
        others = tuple([counter for counter in counters if counter is not rows])
        length = rows.src[0].arg
        for at in self.values.entries(others):
            fixed = dict(zip(others, at, strict=True))
            for begin in range(0, length, lanes):
                numbers = range(begin, min(begin + lanes, length))
                entries = [{**fixed, rows: number} for number in numbers]
                spots = [tuple(entry.items()) for entry in entries]
                yield (
                    entries,
                    TurnedPlace(
                        self.values.offset(place.src[1], spots[0]),
                        [self.conjunction(by_row, spot, 1) for spot in spots],
                        self.conjunction(by_lane, spots[0], lanes),
                    ),
                )

    def conjunction(self, gates: list[UOp], places: Places, lanes: int) -> str | None:
        """Whether all of some gates hold, if there are any."""
        if not gates:
            return None
        first, *rest = [self.values.operand(gate, places, lanes) for gate in gates]
        for other in rest:
            kind = register_type(dtypes.bool_, lanes)
            first = self.writer.instruction(f"and {kind} {first}, {other}")
        return first

    def store(self, node: UOp) -> None:
        place, value = node.src[0], node.src[1]
        lane = lane_of(node.src[2:])
        stride, op = node.arg
        lanes = 1 if lane is None or stride is None else int(lane.src[0].arg)
        counters = tuple(
            sorted(
                [c for c in node.src[2:] if c.arg[1] == UPCAST], key=lambda counter: counter.arg[0]
            )
        )
        between = interleaved_counter(node, lanes)
        if between is not None:
            self.store_interleaved(node, between, counters, lanes)
            return
        rows = turned_counter(node, lanes)
        if rows is not None:
            for entries, spot in self.turned_tiles(place, rows, counters, lanes):
                values = [self.values.operand(value, tuple(e.items()), lanes) for e in entries]
                self.memory.store_turned(place.src[0], value.dtype, values, spot, stride, lanes)
            return
        for position in self.values.entries(counters):
            places = tuple(zip(counters, position, strict=True))
            offset = self.offset(place, places, stride, lanes)
            gate = self.gate_operand(place, places, lanes)
            text = self.values.operand(value, places, lanes)
            where = (offset, stride if lanes > 1 else None, gate, lanes)
            if op is not None:
                present = self.memory.load(place.src[0], value.dtype, *where)
                text = self.instructions.combine(op, value.dtype, present, text, lanes)
            if node in self.traffic.streamed and gate is None:
                self.memory.stream(place.src[0], value.dtype, text, offset, lanes)
            else:
                self.memory.store(place.src[0], value.dtype, text, *where)

    def store_interleaved(
        self, node: UOp, between: UOp, counters: tuple[UOp, ...], lanes: int
    ) -> None:
        """A tile whose rows fill the gaps between each other's lanes: whole vectors are written."""
        place, value = node.src[0], node.src[1]
        others = tuple([counter for counter in counters if counter is not between])
        for at in self.values.entries(others):
            fixed = tuple(zip(others, at, strict=True))
            spots = [(*fixed, (between, number)) for number in range(between.src[0].arg)]
            self.memory.store_interleaved(
                place.src[0],
                value.dtype,
                [self.values.operand(value, spot, lanes) for spot in spots],
                [self.gate_operand(place, spot, lanes) for spot in spots],
                self.values.offset(place.src[1], spots[0]),
                lanes,
            )

    def keep(self, node: UOp) -> None:
        """Store one more staged value, which is then read back like any other memory."""
        lanes = self.accumulators.lanes_of(node)
        counters = self.accumulators.counters_of(node)
        stride = 1 if lanes > 1 else None
        for position in self.values.entries(counters):
            places = tuple(zip(counters, position, strict=True))
            offset = self.values.offset(node.src[1], places)
            value = self.values.operand(node.src[0], places, lanes)
            if node.arg[2] is not None:
                value = self.added(node, value, offset, stride, lanes)
            self.memory.store(node, node.dtype, value, offset, stride, None, lanes)

    def added(self, node: UOp, value: str, offset: Offset, stride: int | None, lanes: int) -> str:
        """A value combined with what the iterations before the first one have staged there."""
        present = self.memory.load(node, node.dtype, offset, stride, None, lanes)
        combined = self.instructions.combine(node.arg[2], node.dtype, present, value, lanes)
        kind = register_type(node.dtype, lanes)
        for counter in node.closed:
            if is_loop(counter) and counter not in node.src[1].ranges:
                number = self.values.operand(counter, (), 1)
                first = self.writer.instruction(f"icmp eq i64 {number}, 0")
                combined = self.writer.instruction(
                    f"select i1 {first}, {kind} {value}, {kind} {combined}"
                )
        return combined

    def tally(self, node: UOp, places: Places, lanes: int) -> str:
        """What a place of staged memory holds, and then one more."""
        place = node.src[0]
        stride = IRREGULAR if lanes > 1 else None
        where = (self.offset(place, places, stride, lanes), stride, None, lanes)
        present = self.memory.load(place.src[0], node.dtype, *where)
        one = constant(node.dtype, 1, lanes)
        more = self.instructions.combine(Op.ADD, node.dtype, present, one, lanes)
        self.memory.store(place.src[0], node.dtype, more, *where)
        return present

    def check(self, node: UOp, places: Places, lanes: int) -> str:
        value = self.values.operand(node.src[0], places, lanes)
        good = self.values.operand(node.src[1], places, lanes)
        gate = None
        if len(node.src) > 2 and not self.values.holds(node.src[2]):
            gate = self.values.operand(node.src[2], places, lanes)
        site, substitute = node.arg
        self.memory.report(good, gate, lanes, site)
        kind, mask = register_type(node.dtype, lanes), register_type(dtypes.bool_, lanes)
        harmless = constant(node.dtype, node.dtype.canonical(substitute), lanes)
        return self.writer.instruction(f"select {mask} {good}, {kind} {value}, {kind} {harmless}")


def _surrounds_short_copies(loop: Loop) -> bool:
    """Whether there are loops in a loop that do so little that it shows how the addresses around
    them are computed. LLVM finds the best way then."""
    inner = [item for item in loop.body if isinstance(item, Loop)]
    if not inner or any(map(_adds_up, inner)):
        return False
    return instruction_count(loop.body) <= SHORT_COPY


def _adds_up(loop: Loop) -> bool:
    inner = [item for item in loop.body if isinstance(item, Loop)]
    return bool(loop.starts) or any(map(_adds_up, inner))


def _counts_lanes(node: UOp) -> bool:
    return node.op is Op.RANGE and node.arg[1] == LANE
