"""Stage 9: nested blocks of instructions become the text of one LLVM function.

The function takes `(arguments, begin, end, fault)`: the words of its buffers and variables, the
slice of its parallel axis to run, and where to report a fault.

A value held in a register tile stays one node; here it becomes one register per entry of the tile.
A loop whose gates can fail only in its last iterations is written twice: once for the iterations
in which they hold, without gates, and once for the rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from ogive.codegen.fused import chained_sums, fused_products
from ogive.codegen.instructions import Instructions
from ogive.codegen.linearize import Accumulate, Item, Loop, is_loop
from ogive.codegen.lower import GATHER, lane_count, lane_of, upcast_counters
from ogive.codegen.math import definitions
from ogive.codegen.memory import Memory, TurnedPlace
from ogive.codegen.optimize.placement import LANE, PARALLEL, UPCAST
from ogive.codegen.peel import gates_within, instruction_count, peel_limit
from ogive.codegen.scratch import shared_areas
from ogive.codegen.signature import kernel_signature
from ogive.codegen.traffic import Traffic, plan_traffic
from ogive.codegen.turn import split_gate, turned_counter
from ogive.codegen.writer import Writer, constant, register_type, vector_attributes
from ogive.device.target import Target
from ogive.errors import EmitError
from ogive.ir import dtype as dtypes
from ogive.ir.identity import identity_element
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op

Tile = tuple[int, ...]
"""A position in a register tile: one number per UPCAST counter of a node, in counter order."""

PEEL_LIMIT = 160
"""The most instructions in a loop body that is written twice for the sake of its gates."""


def emit(name: str, root: UOp, program: list[Item], target: Target) -> str:
    """The LLVM module of one kernel, as text."""
    return _Emitter(root, target).module(name, program)


class _Emitter:
    def __init__(self, root: UOp, target: Target) -> None:
        self.root = root
        self.target = target
        self.writer = Writer()
        self.instructions = Instructions(self.writer, target)
        self.memory = Memory(self.writer, shared_areas(root))
        self.traffic = Traffic()
        self.registers: dict[UOp, dict[Tile, str]] = {}
        self.vectors: dict[tuple[str, int], str] = {}
        self.tiles: dict[UOp, tuple[UOp, ...]] = {}
        self.lanes: dict[UOp, int] = {}
        self.accumulators: dict[UOp, dict[Tile, str]] = {}
        self.certain: frozenset[UOp] = frozenset()
        self.fused = fused_products(root)
        self.chains = chained_sums(root, self.fused)

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
            place = self.writer.instruction(
                f"getelementptr inbounds i64, ptr %arguments, i64 {position}"
            )
            self.memory.bases[slot] = self.writer.instruction(f"load ptr, ptr {place}")
        nodes = {n.arg[0]: n for n in self.root.walk() if n.op is Op.VARIABLE}
        for position, variable in enumerate(signature.variables, len(signature.slots)):
            place = self.writer.instruction(
                f"getelementptr inbounds i64, ptr %arguments, i64 {position}"
            )
            self.registers[nodes[variable]] = {
                (): self.writer.instruction(f"load i64, ptr {place}")
            }

    # Control flow

    def block(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Loop):
                self.loop(item)
            elif isinstance(item, Accumulate):
                self.accumulate(item.into)
            else:
                self.node(item)

    def loop(self, loop: Loop) -> None:
        for node in loop.starts:
            if node.op is Op.SCAN:
                self.start_scan(node)
            else:
                self.start(node)
        if loop.counter.arg[1] == PARALLEL:
            begin, end = "%begin", "%end"
        else:
            begin, end = "0", self.operand(loop.counter.src[0], (), 1)
        gates = [n for n in gates_within(loop.body) if loop.counter in n.ranges]
        around = frozenset([node for node in self.registers if node.op is Op.RANGE])
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
        before, self.certain = self.certain, self.certain | certain
        self.write_loop(loop, begin, middle)
        self.certain = before
        self.write_loop(loop, after, end)

    def steady_operand(self, expression: UOp) -> str:
        """An index expression of variables and outer counters, written where it is needed."""
        for part in expression.walk():
            if part.op is not Op.CONST and part not in self.registers:
                self.node(part)
        return self.operand(expression, (), 1)

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
        outer_registers, outer_vectors = self.registers, self.vectors
        self.registers, self.vectors = dict(outer_registers), dict(outer_vectors)
        self.registers[loop.counter] = {(): counter}
        self.block(loop.body)
        self.registers, self.vectors = outer_registers, outer_vectors
        writer.lines.append(f"  {following} = add nuw nsw i64 {counter}, 1")
        writer.lines[slot] = (
            f"  {counter} = phi i64 [ {begin}, %{entered_from} ], [ {following}, %{writer.block} ]"
        )
        again = writer.instruction(f"icmp slt i64 {following}, {end}")
        writer.branch_if(again, head, exit_label)
        writer.label(exit_label)

    # Values

    def tile_of(self, node: UOp) -> tuple[UOp, ...]:
        found = self.tiles.get(node)
        if found is None:
            found = self.tiles[node] = upcast_counters(node)
        return found

    def lanes_of(self, node: UOp) -> int:
        found = self.lanes.get(node)
        if found is None:
            found = self.lanes[node] = lane_count(node)
        return found

    def entries(self, counters: tuple[UOp, ...]) -> list[Tile]:
        return list(itertools.product(*[range(counter.src[0].arg) for counter in counters]))

    def operand(self, node: UOp, assignment: tuple[tuple[UOp, int], ...], lanes: int) -> str:
        """The register of `node` at a place in the tile, in as many lanes as asked for."""
        if node.op is Op.CONST:
            return constant(node.dtype, node.arg, lanes)
        if node.op is Op.RANGE and node.arg[1] == UPCAST:
            return constant(dtypes.index, dict(assignment)[node], lanes)
        if node.op is Op.RANGE and node.arg[1] == LANE:
            return "<" + ", ".join(f"i64 {i}" for i in range(node.src[0].arg)) + ">"
        places = dict(assignment)
        name = self.registers[node][tuple([places[counter] for counter in self.tile_of(node)])]
        if lanes == 1 or self.lanes_of(node) > 1:
            return name
        key = (name, lanes)
        if key not in self.vectors:
            self.vectors[key] = self.writer.splat(name, node.dtype, lanes)
        return self.vectors[key]

    def holds(self, gate: UOp) -> bool:
        """Whether a condition is known to hold where we are."""
        if gate in self.certain:
            return True
        return gate.op is Op.AND and all(self.holds(part) for part in gate.src)

    def node(self, node: UOp) -> None:
        op = node.op
        if op in (Op.INDEX, Op.STAGE, Op.VARIABLE) or node in self.fused:
            return
        if node.dtype.is_bool and self.holds(node):
            self.registers[node] = {
                place: constant(dtypes.bool_, True, self.lanes_of(node))
                for place in self.entries(self.tile_of(node))
            }
        elif op is Op.STORE:
            self.store(node)
        elif op is Op.REDUCE:
            self.finish(node)
        elif op is Op.SCAN:
            self.scan(node)
        elif op is Op.LOAD and (rows := turned_counter(node, self.lanes_of(node))):
            self.load_turned(node, rows)
        else:
            self.compute_tile(node)

    def compute_tile(self, node: UOp) -> None:
        """One register for each entry of a node's tile."""
        counters = self.tile_of(node)
        self.registers[node] = {
            place: self.compute(node, tuple(zip(counters, place, strict=True)))
            for place in self.entries(counters)
        }

    def compute(self, node: UOp, places: tuple[tuple[UOp, int], ...]) -> str:
        op = node.op
        lanes = self.lanes_of(node)
        if op is Op.WHERE and self.holds(node.src[0]):
            return self.operand(node.src[1], places, lanes)
        if op is Op.CMPLT and _counts_lanes(node.src[0]) and self.lanes_of(node.src[1]) == 1:
            return self.first_lanes(node.src[1], self.operand(node.src[1], places, 1), lanes)
        if op in ELEMENTWISE:
            operands = [self.operand(source, places, lanes) for source in node.src]
            operand_dtype = node.src[1 if op is Op.WHERE else 0].dtype
            if node.dtype is dtypes.index and op in (Op.FLOORDIV, Op.MOD):
                return self.index_division(node, operands, lanes)
            if op is Op.DOT:
                nothing = constant(node.dtype, 0, lanes)
                return self.instructions.dot(node.arg, node.dtype, [nothing, *operands], lanes)
            return self.instructions.elementwise(op, node.dtype, operand_dtype, operands, lanes)
        if op is Op.LOAD:
            return self.load(node, places, lanes)
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
            operation = "udiv" if node.op is Op.FLOORDIV else "urem"
            kind = register_type(dtypes.index, lanes)
            return self.writer.instruction(f"{operation} {kind} {operands[0]}, {operands[1]}")
        if node.src[1].vmin <= 0 <= node.src[1].vmax:
            # A symbolic length may be 0 where nothing is read; the machine divides all the same.
            operands = [operands[0], self.nonzero(operands[1], lanes)]
        return self.instructions.integer_division(node.op, dtypes.index, operands, lanes)

    def nonzero(self, divisor: str, lanes: int) -> str:
        kind, mask = register_type(dtypes.index, lanes), register_type(dtypes.bool_, lanes)
        zero, one = constant(dtypes.index, 0, lanes), constant(dtypes.index, 1, lanes)
        is_zero = self.writer.instruction(f"icmp eq {kind} {divisor}, {zero}")
        return self.writer.instruction(f"select {mask} {is_zero}, {kind} {one}, {kind} {divisor}")

    def gate_operand(
        self, place: UOp, places: tuple[tuple[UOp, int], ...], lanes: int
    ) -> str | None:
        if len(place.src) < 3 or self.holds(place.src[2]):
            return None
        return self.operand(place.src[2], places, lanes)

    def load(self, node: UOp, places: tuple[tuple[UOp, int], ...], lanes: int) -> str:
        place = node.src[0]
        stride = node.arg if lanes > 1 else None
        offset_lanes = lanes if stride == GATHER else 1
        offset = self.operand(place.src[1], places, offset_lanes)
        gate = self.gate_operand(place, places, lanes)
        if node in self.traffic.ahead:
            self.memory.prefetch(place.src[0], node.dtype, offset, self.traffic.ahead[node])
        return self.memory.load(place.src[0], node.dtype, offset, stride, gate, lanes)

    def load_turned(self, node: UOp, rows: UOp) -> None:
        """A tile whose lanes are far apart but whose rows are contiguous: load it lane by lane
        and turn it in registers."""
        counters, lanes = self.tile_of(node), self.lanes_of(node)
        registers: dict[Tile, str] = {}
        for entries, where in self.turned_tiles(node.src[0], rows, counters, lanes):
            values = self.memory.load_turned(
                node.src[0].src[0], node.dtype, where, node.arg, lanes, self.traffic.ahead.get(node)
            )
            for entry, value in zip(entries, values, strict=True):
                registers[tuple([entry[counter] for counter in counters])] = value
        self.registers[node] = registers

    def turned_tiles(
        self, place: UOp, rows: UOp, counters: tuple[UOp, ...], lanes: int
    ) -> Iterator[tuple[list[dict[UOp, int]], TurnedPlace]]:
        """The parts of a tile that are turned by themselves, of at most as many rows as there are
        lanes: the entries of each, and where they lie."""
        parts = split_gate(place)
        by_row, by_lane = [[part for part in found if not self.holds(part)] for found in parts]
        others = tuple([counter for counter in counters if counter is not rows])
        length = rows.src[0].arg
        for at in self.entries(others):
            fixed = dict(zip(others, at, strict=True))
            for begin in range(0, length, lanes):
                numbers = range(begin, min(begin + lanes, length))
                entries = [{**fixed, rows: number} for number in numbers]
                spots = [tuple(entry.items()) for entry in entries]
                yield entries, TurnedPlace(
                    self.operand(place.src[1], spots[0], 1),
                    [self.conjunction(by_row, spot, 1) for spot in spots],
                    self.conjunction(by_lane, spots[0], lanes),
                )

    def conjunction(
        self, gates: list[UOp], places: tuple[tuple[UOp, int], ...], lanes: int
    ) -> str | None:
        """Whether all of some gates hold, if there are any."""
        if not gates:
            return None
        first, *rest = [self.operand(gate, places, lanes) for gate in gates]
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
        rows = turned_counter(node, lanes)
        if rows is not None:
            for entries, spot in self.turned_tiles(place, rows, counters, lanes):
                values = [self.operand(value, tuple(e.items()), lanes) for e in entries]
                self.memory.store_turned(place.src[0], value.dtype, values, spot, stride, lanes)
            return
        for position in self.entries(counters):
            places = tuple(zip(counters, position, strict=True))
            offset = self.operand(place.src[1], places, lanes if stride == GATHER else 1)
            gate = self.gate_operand(place, places, lanes)
            text = self.operand(value, places, lanes)
            where = (offset, stride if lanes > 1 else None, gate, lanes)
            if op is not None:
                present = self.memory.load(place.src[0], value.dtype, *where)
                text = self.instructions.combine(op, value.dtype, present, text, lanes)
            if node in self.traffic.streamed and gate is None:
                self.memory.stream(place.src[0], value.dtype, text, offset, lanes)
            else:
                self.memory.store(place.src[0], value.dtype, text, *where)

    def keep(self, node: UOp) -> None:
        """Store one more staged value, which is then read back like any other memory."""
        lanes = self.accumulator_lanes(node)
        counters = self.accumulator_counters(node)
        stride = 1 if lanes > 1 else None
        for position in self.entries(counters):
            places = tuple(zip(counters, position, strict=True))
            offset = self.operand(node.src[1], places, 1)
            value = self.operand(node.src[0], places, lanes)
            if node.arg[2] is not None:
                value = self.added(node, value, offset, stride, lanes)
            self.memory.store(node, node.dtype, value, offset, stride, None, lanes)

    def added(self, node: UOp, value: str, offset: str, stride: int | None, lanes: int) -> str:
        """A value combined with what the iterations before the first one have staged there."""
        present = self.memory.load(node, node.dtype, offset, stride, None, lanes)
        combined = self.instructions.combine(node.arg[2], node.dtype, present, value, lanes)
        kind = register_type(node.dtype, lanes)
        for counter in node.closed:
            if is_loop(counter) and counter not in node.src[1].ranges:
                number = self.operand(counter, (), 1)
                first = self.writer.instruction(f"icmp eq i64 {number}, 0")
                combined = self.writer.instruction(
                    f"select i1 {first}, {kind} {value}, {kind} {combined}"
                )
        return combined

    def check(self, node: UOp, places: tuple[tuple[UOp, int], ...], lanes: int) -> str:
        value = self.operand(node.src[0], places, lanes)
        good = self.operand(node.src[1], places, lanes)
        gate = None
        if len(node.src) > 2 and not self.holds(node.src[2]):
            gate = self.operand(node.src[2], places, lanes)
        site, substitute = node.arg
        self.memory.report(good, gate, lanes, site)
        kind, mask = register_type(node.dtype, lanes), register_type(dtypes.bool_, lanes)
        harmless = constant(node.dtype, node.dtype.canonical(substitute), lanes)
        return self.writer.instruction(f"select {mask} {good}, {kind} {value}, {kind} {harmless}")

    # Reductions

    def accumulator_counters(self, node: UOp) -> tuple[UOp, ...]:
        """The tile counters of the accumulators, or of what is staged: the result's and those
        closed, unless products follow each other into the same sum."""
        if node in self.chains:
            return self.tile_of(node)
        return self.value_counters(node)

    def value_counters(self, node: UOp) -> tuple[UOp, ...]:
        """The tile counters of the values that are accumulated or staged."""
        found = set(self.tile_of(node))
        found.update(counter for counter in node.closed if counter.arg[1] == UPCAST)
        return tuple(sorted(found, key=lambda counter: counter.arg[0]))

    def accumulator_lanes(self, node: UOp) -> int:
        lane = lane_of(node.closed)
        return int(lane.src[0].arg) if lane is not None else self.lanes_of(node)

    def start(self, node: UOp) -> None:
        lanes = self.accumulator_lanes(node)
        kind = register_type(node.dtype, lanes)
        identity = constant(node.dtype, identity_element(node.arg, node.dtype), lanes)
        cells = self.accumulators.setdefault(node, {})
        for place in self.entries(self.accumulator_counters(node)):
            if place not in cells:
                cells[place] = self.writer.allocate(kind)
            self.writer.effect(f"store {kind} {identity}, ptr {cells[place]}")

    def start_scan(self, node: UOp) -> None:
        """Put into the accumulators of a scan what it starts from."""
        lanes = self.lanes_of(node)
        kind = register_type(node.dtype, lanes)
        counters = self.tile_of(node)
        cells = self.accumulators.setdefault(node, {})
        for place in self.entries(counters):
            if place not in cells:
                cells[place] = self.writer.allocate(kind)
            initial = self.operand(node.src[1], tuple(zip(counters, place, strict=True)), lanes)
            self.writer.effect(f"store {kind} {initial}, ptr {cells[place]}")

    def scan(self, node: UOp) -> None:
        """One more value into the accumulators of a scan, which then are its value."""
        lanes = self.lanes_of(node)
        kind = register_type(node.dtype, lanes)
        counters = self.tile_of(node)
        self.registers[node] = {}
        for place in self.entries(counters):
            cell = self.accumulators[node][place]
            current = self.writer.instruction(f"load {kind}, ptr {cell}")
            operand = self.operand(node.src[0], tuple(zip(counters, place, strict=True)), lanes)
            updated = self.instructions.combine(node.arg, node.dtype, current, operand, lanes)
            self.writer.effect(f"store {kind} {updated}, ptr {cell}")
            self.registers[node][place] = updated

    def by_scalars(self, value: UOp, counters: tuple[UOp, ...]) -> list[Tile]:
        """The entries of a tile, those together for which the same scalar is spread over lanes:
        so that it needs a register no longer than while they are computed."""
        scalars = {
            counter
            for source in value.src
            if self.lanes_of(source) == 1
            for counter in self.tile_of(source)
        }
        first = [number for number, counter in enumerate(counters) if counter in scalars]
        return sorted(self.entries(counters), key=lambda place: [place[i] for i in first])

    def accumulate(self, node: UOp) -> None:
        """One more value into a reduction's accumulators, or into staged memory."""
        if node.op is Op.STAGE:
            self.keep(node)
            return
        if not _has_loops(node):
            self.start(node)
        lanes = self.accumulator_lanes(node)
        kind = register_type(node.dtype, lanes)
        counters, kept = self.value_counters(node), self.accumulator_counters(node)
        value = self.unwrapped(node.src[0])
        for place in self.by_scalars(value, counters):
            places = tuple(zip(counters, place, strict=True))
            at = dict(places)
            cell = self.accumulators[node][tuple([at[counter] for counter in kept])]
            current = self.writer.instruction(f"load {kind}, ptr {cell}")
            if value in self.fused:
                updated = self.fused_sum(value, current, places, lanes)
            else:
                operand = self.operand(value, places, lanes)
                # The new one first: whether it is NaN is known before the last step is done.
                updated = self.instructions.combine(node.arg, node.dtype, operand, current, lanes)
            self.writer.effect(f"store {kind} {updated}, ptr {cell}")

    def fused_sum(
        self, value: UOp, current: str, places: tuple[tuple[UOp, int], ...], lanes: int
    ) -> str:
        """A sum and one more product, where the gate of the product holds."""
        product = value.src[1] if value.op is Op.WHERE else value
        factors = [self.operand(source, places, lanes) for source in product.src]
        if product.op is Op.DOT:
            total = self.instructions.dot(product.arg, value.dtype, [current, *factors], lanes)
        else:
            total = self.writer.intrinsic("fma", value.dtype, [*factors, current], lanes)
        if product is value:
            return total
        gate = self.operand(value.src[0], places, lanes)
        kind, mask = register_type(value.dtype, lanes), register_type(dtypes.bool_, lanes)
        return self.writer.instruction(f"select {mask} {gate}, {kind} {total}, {kind} {current}")

    def unwrapped(self, value: UOp) -> UOp:
        """The summand without a gate that is known to hold."""
        while value.op is Op.WHERE and self.holds(value.src[0]):
            value = value.src[1]
        return value

    def finish(self, node: UOp) -> None:
        """Combine a reduction's accumulators in a fixed tree, first the tile, then the lanes."""
        lanes = self.accumulator_lanes(node)
        kind = register_type(node.dtype, lanes)
        counters = self.accumulator_counters(node)
        kept = self.tile_of(node)
        groups: dict[Tile, list[str]] = {}
        for place in self.entries(counters):
            cell = self.accumulators[node][place]
            value = self.writer.instruction(f"load {kind}, ptr {cell}")
            at = dict(zip(counters, place, strict=True))
            groups.setdefault(tuple([at[counter] for counter in kept]), []).append(value)
        results = {}
        for place, values in groups.items():
            while len(values) > 1:
                half = (len(values) + 1) // 2
                values = [
                    self.instructions.combine(
                        node.arg, node.dtype, values[i], values[i + half], lanes
                    )
                    if i + half < len(values)
                    else values[i]
                    for i in range(half)
                ]
            result = values[0]
            if lane_of(node.src[1:]) is not None:
                result = self.across_lanes(node, result, lanes)
            results[place] = result
        self.registers[node] = results

    def across_lanes(self, node: UOp, value: str, lanes: int) -> str:
        while lanes > 1:
            half = lanes // 2
            kind = register_type(node.dtype, lanes)

            def part(first: int, value: str = value, kind: str = kind, half: int = half) -> str:
                picks = ", ".join(f"i32 {first + i}" for i in range(half))
                return self.writer.instruction(
                    f"shufflevector {kind} {value}, {kind} poison, <{half} x i32> <{picks}>"
                )

            low, high = part(0), part(half)
            if half == 1:
                narrow = f"<1 x {register_type(node.dtype, 1)}>"
                low = self.writer.instruction(f"extractelement {narrow} {low}, i64 0")
                high = self.writer.instruction(f"extractelement {narrow} {high}, i64 0")
            value = self.instructions.combine(node.arg, node.dtype, low, high, half)
            lanes = half
        return value


def _counts_lanes(node: UOp) -> bool:
    return node.op is Op.RANGE and node.arg[1] == LANE


def _has_loops(reduction: UOp) -> bool:
    return any(is_loop(counter) for counter in reduction.src[1:])
