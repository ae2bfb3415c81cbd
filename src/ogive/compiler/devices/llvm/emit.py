"""Emits nested blocks of instructions as the text of one LLVM function.

The function takes `(arguments, begin, end, fault)`: the words of its buffers and variables, the
slice of its parallel axis to run, and the address of the fault word.

Until here, a value with a register tile is one node; now it becomes one register per entry of the
tile. A loop whose gates can fail only in its last iterations is peeled: it is written once without
gates for the iterations in which they hold, and once for the others.
"""

from __future__ import annotations

from ogive.compiler.devices.llvm.accumulators import Accumulators
from ogive.compiler.devices.llvm.definitions import definitions
from ogive.compiler.devices.llvm.kernel_writer import Rarity, Writer, vector_attributes
from ogive.compiler.devices.llvm.llvm_types import constant
from ogive.compiler.devices.llvm.memory_accesses import Memory
from ogive.compiler.devices.llvm.registers import Places, Values
from ogive.compiler.devices.llvm.transfers import Transfers
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, LANE, PARALLEL, Op
from ogive.compiler.passes.loops.staging.scratch_layout import shared_areas
from ogive.compiler.passes.lower.cache_hints import plan_traffic
from ogive.compiler.passes.lower.kernel_signature import kernel_signature
from ogive.compiler.passes.lower.linearize import Accumulate, Item, Loop, is_loop
from ogive.compiler.passes.lower.peel_loops import gates_within, instruction_count, peel_limit
from ogive.compiler.targets.target import Target
from ogive.errors import EmitError

PEEL_LIMIT = 210
"""The most instructions in the body of a loop that is peeled."""

SHORT_COPY = 48
"""The most instructions of a loop nest whose addresses are left to LLVM."""


def emit(
    program: list[Item], root: UOp, name: str, target: Target, poison: bool = False
) -> str:
    """The LLVM module of one kernel as text. With `poison`, scratch memory is filled with NaN."""
    return Emitter(root, program, target, poison).module(name)


class Emitter:
    """Writes one kernel, item by item. `values` has the register of each value.

    The kernel is a function that loops over a slice of its parallel axis. Other kinds of devices
    override the methods in which they differ.
    """

    def __init__(self, root: UOp, program: list[Item], target: Target, poison: bool) -> None:
        self.root = root
        self.poison = poison
        self.program = program
        self.target = target
        self.writer = self.make_writer()
        self.instructions = self.make_instructions()
        self.memory = self.make_memory()
        self.values = Values(self.writer)
        self.accumulators = self.make_accumulators()
        self.transfers = self.make_transfers()
        self.hides_remainders = False
        self.surrounds_sums = False

    def make_writer(self) -> Writer:
        """The writer that collects the text."""
        return Writer()

    def make_instructions(self) -> Instructions:
        """The writer of elementwise operations."""
        return Instructions(self.writer, self.target)

    def make_memory(self) -> Memory:
        """The writer of loads and stores."""
        return Memory(self.writer, shared_areas(self.root), self.target)

    def make_accumulators(self) -> Accumulators:
        """The writer of reductions and scans."""
        return Accumulators(self.root, self.values, self.instructions)

    def make_transfers(self) -> Transfers:
        """The writer of tiles between registers and memory."""
        return Transfers(
            self.accumulators,
            self.instructions,
            self.memory,
            plan_traffic(self.root, self.program, self.target),
            self.write_index,
        )

    def module(self, name: str) -> str:
        """The text of the module: the kernel, and the definitions that it needs."""
        writer = self.writer
        self.parameters()
        self.body()
        self.memory.finish_streams()
        writer.effect("ret void")
        called = definitions(writer.functions.values())
        functions = [definition.text for definition in called]
        declared = writer.declarations.union(*[d.declarations for d in called])
        return "\n".join(
            [
                *self.head(name),
                "entry:",
                *writer.entry,
                *writer.lines,
                "}",
                *functions,
                *sorted(declared),
                self.attributes(),
                *writer.call_attributes(),
                *self.memory.metadata(),
                "",
            ]
        )

    def body(self) -> None:
        """The body of the kernel after its parameters."""
        self.block(self.program)

    def head(self, name: str) -> list[str]:
        """The lines before the kernel's first block."""
        return [
            f'define void @"{name}"(ptr noalias readonly %arguments, i64 %begin, i64 %end, '
            "ptr %fault) #0 {"
        ]

    def attributes(self) -> str:
        """The attributes of all functions of the module."""
        return vector_attributes(self.target)

    def parameters(self) -> None:
        """Load the addresses of buffers and the values of variables from the arguments."""
        signature = kernel_signature(self.root)
        for position, slot in enumerate(signature.slots):
            self.memory.bases[slot] = self.argument(position, "ptr")
        nodes = {n.name: n for n in self.root.walk() if n.op is Op.VARIABLE}
        for position, variable in enumerate(signature.variables, len(signature.slots)):
            self.values.registers[nodes[variable]] = {(): self.argument(position, "i64")}

    def argument(self, position: int, kind: str) -> str:
        """One word of the kernel's arguments."""
        place = f"getelementptr inbounds i64, ptr %arguments, i64 {position}"
        return self.writer.instruction(f"load {kind}, ptr {self.writer.instruction(place)}")

    # Control flow

    def block(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Loop):
                self.loop(item)
            elif isinstance(item, Accumulate) and item.into.op is Op.STAGE:
                if not any(map(is_loop, item.into.closed)):
                    self.begin_stage(item.into)
                self.transfers.keep(item.into)
            elif isinstance(item, Accumulate):
                self.accumulators.add(item.into)
            else:
                self.node(item)

    def begin_stage(self, stage: UOp) -> None:
        """Write what comes before the loop that stages a value."""
        if self.poison:
            self.memory.poison(stage)

    def loop(self, loop: Loop) -> None:
        """Write a loop, in two parts if its gates are known to hold in the first."""
        for node in loop.starts:
            self.accumulators.start(node)
        for stage in loop.stages:
            self.begin_stage(stage)
        if loop.counter.placement == PARALLEL:
            begin, end = "%begin", "%end"
        else:
            begin, end = "0", self.values.operand(loop.counter.extent, (), 1)
        gates = [n for n in gates_within(loop.body) if loop.counter in n.ranges]
        around = self.counters_around()
        limit, certain = peel_limit(loop.counter, gates, around)
        if limit is None or instruction_count(loop.body) > PEEL_LIMIT:
            self.write_loop(loop, begin, end)
            return
        middle, after = self.cut(begin, end, limit)
        before, self.values.certain = self.values.certain, self.values.certain | certain
        self.write_loop(loop, begin, middle)
        self.values.certain = before
        rarity = Rarity.ONCE if loop.counter.placement == PARALLEL else Rarity.LAST
        around_it, self.writer.rarity = self.writer.rarity, max(self.writer.rarity, rarity)
        self.write_loop(loop, after, end)
        self.writer.rarity = around_it

    def counters_around(self) -> frozenset[UOp]:
        """The counters of the loops around the present position."""
        return frozenset([node for node in self.values.registers if node.op is Op.RANGE])

    def cut(self, begin: str, end: str, limit: UOp) -> tuple[str, str]:
        """The end of the part of a loop below `limit`, and the beginning of the other part."""
        if limit.op is Op.CONST and begin == "0" and end.isdigit():
            middle = str(min(limit.literal, int(end)))
            return middle, middle
        bound = self.transfers.steady_operand(limit)
        return self.extreme("slt", end, bound), self.extreme("sgt", begin, bound)

    def write_index(self, expression: UOp) -> None:
        """Compute the registers of an index expression, even if the program does not have it."""
        for part in expression.walk():
            if part.op not in (Op.CONST, Op.RANGE) and part not in self.values.registers:
                self.node(part)

    def extreme(self, order: str, left: str, right: str) -> str:
        """The lesser ("slt") or the greater ("sgt") of two indices."""
        wins = self.writer.instruction(f"icmp {order} i64 {left}, {right}")
        return self.writer.instruction(f"select i1 {wins}, i64 {left}, i64 {right}")

    def write_loop(self, loop: Loop, begin: str, end: str) -> None:
        """Write the iterations from `begin` to `end`; there may be none unless both are known."""
        if begin.isdigit() and end.isdigit() and int(begin) >= int(end):
            return
        with self.writer.counting(begin, end) as name, self.values.inside(loop.counter, name):
            before = self.hides_remainders, self.surrounds_sums
            self.hides_remainders = not _surrounds_short_copies(loop)
            self.surrounds_sums = any(map(_adds_up, _loops_in(loop)))
            self.block(loop.body)
            self.hides_remainders, self.surrounds_sums = before

    # Values

    def node(self, node: UOp) -> None:
        """Compute the registers of a node, unless it has none or they are made at its uses."""
        op = node.op
        if op is Op.STAGE:
            self.transfers.put_in_order(node)
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
            self.transfers.store(node)
        elif op is Op.REDUCE:
            self.accumulators.finish(node)
        elif op is Op.SCAN:
            self.accumulators.scan(node)
        elif op is Op.LOAD:
            self.transfers.load(node)
        else:
            self.compute_tile(node)

    def compute_tile(self, node: UOp) -> None:
        """Compute one register for each entry of a node's tile."""
        counters = self.values.tile_of(node)
        self.values.registers[node] = {
            place: self.compute(node, tuple(zip(counters, place, strict=True)))
            for place in self.values.entries(counters)
        }

    def compute(self, node: UOp, places: Places) -> str:
        """The register of a node at one place of its tile."""
        op = node.op
        lanes = self.values.lanes_of(node)
        if op is Op.WHERE and self.values.holds(node.condition):
            return self.values.operand(node.if_true, places, lanes)
        if op is Op.CMPLT and _counts_lanes(node.left) and self.values.lanes_of(node.right) == 1:
            bound = self.values.operand(node.right, places, 1)
            return self.compare_lanes(node.right, bound, lanes, is_above=True)
        if op is Op.CMPLT and _counts_lanes(node.right) and self.values.lanes_of(node.left) == 1:
            bound = self.values.operand(node.left, places, 1)
            return self.compare_lanes(node.left, bound, lanes, is_above=False)
        if op in ELEMENTWISE:
            operands = [self.values.operand(source, places, lanes) for source in node.src]
            operand_dtype = (node.if_true if op is Op.WHERE else node.src[0]).dtype
            if node.dtype is dtypes.index and op in (Op.FLOORDIV, Op.MOD):
                return self.index_division(node, operands, lanes)
            if node.dtype is dtypes.index and lanes == 1 and self.surrounds_sums:
                return self.index_around_sums(node, operands)
            if op is Op.DOT:
                nothing = constant(node.dtype, 0, lanes)
                return self.instructions.dot(node.arg, node.dtype, [nothing, *operands], lanes)
            return self.instructions.elementwise(op, node.dtype, operand_dtype, operands, lanes)
        if op is Op.TALLY:
            return self.transfers.tally(node, places, lanes)
        if op is Op.CHECK:
            return self.check(node, places, lanes)
        raise EmitError(f"{op.name} cannot be written as an instruction", node.origin)

    def compare_lanes(self, limit: UOp, bound: str, lanes: int, is_above: bool) -> str:
        """A mask of the lanes whose number is below, or above, `bound`, by a 32-bit comparison."""
        count = bound
        low, high = limit.bounds
        if low < dtypes.int32.limits[0] or high > dtypes.int32.limits[1]:
            least = "0" if is_above else "-1"
            count = self.extreme("sgt", self.extreme("slt", bound, str(lanes)), least)
        narrow = self.writer.instruction(f"trunc i64 {count} to i32")
        vector = self.writer.splat(narrow, dtypes.int32, lanes)
        numbers = ", ".join(f"i32 {lane}" for lane in range(lanes))
        sides = [f"<{numbers}>", vector] if is_above else [vector, f"<{numbers}>"]
        return self.writer.instruction(f"icmp slt <{lanes} x i32> {', '.join(sides)}")

    def index_around_sums(self, node: UOp, operands: list[str]) -> str:
        """An index, hidden from LLVM's search for loop increments if a stride is a variable.

        Otherwise LLVM would compute the whole address in each iteration of a reduction, because
        the search does not see past the beginning of the loop.
        """
        result = self.instructions.elementwise(node.op, node.dtype, node.dtype, operands, 1)
        has_variable_step = node.op is Op.ADD and any(map(_is_variable_step, node.src))
        return self.writer.hidden_index(result) if has_variable_step else result

    def index_division(self, node: UOp, operands: list[str], lanes: int) -> str:
        """A quotient or remainder of indices, unsigned where bounds allow it.

        That is one instruction instead of ten.
        """
        if node.left.vmin >= 0 and node.right.vmin > 0:
            index = self.writer.of(dtypes.index, lanes)
            if node.op is Op.FLOORDIV:
                return index.binary("udiv", *operands)
            remainder = index.binary("urem", *operands)
            hide = self.hides_remainders and lanes == 1
            return self.writer.hidden_index(remainder) if hide else remainder
        if node.right.vmin <= 0 <= node.right.vmax:
            # A symbolic length may be 0 where nothing is read, but the division is made anyway.
            index = self.writer.of(dtypes.index, lanes)
            nonzero = index.select(index.icmp("eq", operands[1], 0), 1, operands[1])
            operands = [operands[0], nonzero]
        return self.instructions.integer_division(node.op, dtypes.index, operands, lanes)

    def check(self, node: UOp, places: Places, lanes: int) -> str:
        """A checked value: where the check fails, the fault is reported and the fallback used."""
        value = self.values.operand(node.operand, places, lanes)
        good = self.values.operand(node.holds, places, lanes)
        gate = None
        if node.gate is not None and not self.values.holds(node.gate):
            gate = self.values.operand(node.gate, places, lanes)
        self.memory.report(good, gate, lanes, node.site)
        harmless = constant(node.dtype, node.dtype.canonical(node.fallback), lanes)
        return self.writer.of(node.dtype, lanes).select(good, value, harmless)


def _surrounds_short_copies(loop: Loop) -> bool:
    """Whether a loop has inner loops with so little work that address computation matters.

    LLVM then finds the best way to compute the addresses.
    """
    inner = _loops_in(loop)
    if not inner or any(map(_adds_up, inner)):
        return False
    return instruction_count(loop.body) <= SHORT_COPY


def _adds_up(loop: Loop) -> bool:
    return bool(loop.starts) or any(map(_adds_up, _loops_in(loop)))


def _loops_in(loop: Loop) -> list[Loop]:
    return [item for item in loop.body if isinstance(item, Loop)]


def _is_variable_step(term: UOp) -> bool:
    """Whether a term of an address is a counter times a symbolic length."""
    while term.op is Op.MUL and term.right.op is Op.CONST:
        term = term.left
    return term.op is Op.MUL


def _counts_lanes(node: UOp) -> bool:
    return node.op is Op.RANGE and node.placement == LANE
