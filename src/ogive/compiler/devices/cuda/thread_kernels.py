"""Emit nested blocks of instructions as the text of one LLVM function that many threads run.

    define ptx_kernel void @name(ptr %a0, ptr %a1, i64 %a2, i64 %tiles, ptr %fault)

A kernel takes the words of its buffers and variables, the number of tiles of its parallel axis, and
the address to report a fault at. The loops of host kernels are spread over threads here: either
each thread computes a tile of its own, or a block computes a tile and its threads share an axis.
In the second case reductions along that axis end with an exchange between threads, staged rows lie
in shared memory, and a barrier precedes each read of them.

The first line says how the kernel is launched; `Launch` reads it.
"""

from __future__ import annotations

from ogive.compiler.devices.cuda.block_memory import (
    SHARED,
    VECTOR_BYTES,
    BlockMemory,
    BlockTransfers,
    is_shared,
)
from ogive.compiler.devices.cuda.block_reductions import BlockAccumulators, write_barrier
from ogive.compiler.devices.cuda.thread_instructions import ThreadInstructions
from ogive.compiler.devices.llvm.emit import Emitter
from ogive.compiler.devices.llvm.kernel_writer import Writer
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import LANE, PARALLEL, THREAD, Op
from ogive.compiler.passes.loops.staging.scratch_layout import shared_areas
from ogive.compiler.passes.lower.cache_hints import Traffic
from ogive.compiler.passes.lower.kernel_signature import kernel_signature
from ogive.compiler.passes.lower.linearize import Item, Loop
from ogive.compiler.targets.target import Target
from ogive.errors import LoadError
from ogive.named import NamedTuple

FEW_BITS = 32
"""Indices that fit into this many bits are divided in 32 bits, a tenth of the instructions."""

_WAIT = "nvvm.griddepcontrol.wait"
"""The intrinsic that waits until all earlier launches have ended and their writes are visible."""


class Launch(NamedTuple):
    """How a kernel is launched: `threads` threads and `tiles` tiles per block.

    A block has `shared_bytes` of shared memory. If the kernel `faults`, it may report a fault, and
    a launch waits for its end to check that.
    """

    threads: int
    tiles: int
    shared_bytes: int
    faults: bool

    @property
    def line(self) -> str:
        """The first line of a kernel's text."""
        return f"; launch {self.threads} {self.tiles} {self.shared_bytes} {int(self.faults)}"

    @classmethod
    def read(cls, text: str) -> Launch:
        """Read how the kernel of a text is launched. Raises `LoadError`."""
        words = text.partition("\n")[0].split()
        if len(words) != 6 or words[:2] != [";", "launch"] or not "".join(words[2:]).isdigit():
            raise LoadError("a kernel does not say how it is launched")
        threads, tiles, shared_bytes, faults = map(int, words[2:])
        return cls(threads, tiles, shared_bytes, bool(faults))


def emit_threads(
    program: list[Item], root: UOp, name: str, target: Target, poison: bool = False
) -> str:
    """The LLVM module of a kernel as text; with `poison` it first fills its scratch memory."""
    return ThreadEmitter(root, program, target, poison).module(name)


class ThreadWriter(Writer):
    """A `Writer` without the parts that only processors with vectors need."""

    def allocate(self, kind: str) -> str:
        name = f"%room{self.number()}"  # %a0, %a1, … are the kernel's arguments
        self.entry.append(f"  {name} = alloca {kind}, align 16")
        return name

    def intrinsic(self, kind: str, name: str, types: list[str], operands: list[str]) -> str:
        if name.startswith("arithmetic.fence"):
            return operands[0]  # it only separates operations, which PTX does anyway
        return super().intrinsic(kind, name, types, operands)

    def hidden_index(self, operand: str) -> str:
        return operand


class ThreadEmitter(Emitter):
    """Writes the code of one thread, which has a tile to itself or shares it with its block."""

    memory: BlockMemory
    accumulators: BlockAccumulators
    transfers: BlockTransfers

    def __init__(self, root: UOp, program: list[Item], target: Target, poison: bool) -> None:
        self.spread = [
            node for node in root.walk() if node.op is Op.RANGE and node.placement == THREAD
        ]
        self.threads = self.target_threads(target)
        self.depth = 0
        super().__init__(root, program, target, poison)

    def target_threads(self, target: Target) -> int:
        """The number of threads in a block."""
        return int(self.spread[0].extent.literal) if self.spread else target.grid.block_threads

    def make_writer(self) -> Writer:
        return ThreadWriter()

    def make_instructions(self) -> Instructions:
        return ThreadInstructions(self.writer, self.target)

    def make_memory(self) -> BlockMemory:
        stores = [node for node in self.root.walk() if node.op is Op.STORE]
        written = {store.place.base for store in stores}
        return BlockMemory(self.writer, shared_areas(self.root), self.target, written)

    def make_accumulators(self) -> BlockAccumulators:
        return BlockAccumulators(
            self.root, self.values, self.instructions, self.memory, self.threads
        )

    def make_transfers(self) -> BlockTransfers:
        return BlockTransfers(
            self.accumulators, self.instructions, self.memory, Traffic(), self.write_index
        )

    def head(self, name: str) -> list[str]:
        slots, variables = kernel_signature(self.root)
        words = [f"ptr %a{number}" for number in range(len(slots))]
        words += [f"i64 %a{number}" for number in range(len(slots), len(slots) + len(variables))]
        faults = any(node.op is Op.CHECK for node in self.root.walk())
        tiles = 1 if self.spread else self.threads
        launch = Launch(self.threads, tiles, self.memory.shared_bytes, faults)
        signature = ", ".join([*words, "i64 %tiles", "ptr %fault"])
        shared = f"{SHARED} = external addrspace(3) global [0 x i8], align 16"
        return [
            launch.line,
            *([shared] if self.memory.shared_bytes else []),
            f'define ptx_kernel void @"{name}"({signature}) #0 {{',
        ]

    def attributes(self) -> str:
        return f'attributes #0 = {{ nounwind "nvvm.reqntid"="{self.threads}" }}'

    def argument(self, position: int, kind: str) -> str:
        return f"%a{position}"

    # Control flow

    def body(self) -> None:
        """Write the kernel; if it has vectors, once more without them for unaligned buffers."""
        write = self.writer
        # A launch may begin before the previous one has ended.
        write.declarations.add(f"declare void @llvm.{_WAIT}()")
        write.effect(f"call void @llvm.{_WAIT}()")
        thread = write.intrinsic("i32", "nvvm.read.ptx.sreg.tid.x", [], [])
        block = write.intrinsic("i32", "nvvm.read.ptx.sreg.ctaid.x", [], [])
        self.thread, self.block_number = [
            write.instruction(f"zext i32 {number} to i64") for number in (thread, block)
        ]
        if self.spread:
            self.accumulators.thread = self.transfers.thread = self.thread
            self.values.registers |= {counter: {(): self.thread} for counter in self.spread}
        if not any(node.op is Op.RANGE and node.placement == LANE for node in self.root.walk()):
            self.tile()
            return
        whole, parts = write.new_label(), write.new_label()
        write.branch_if(self.buffers_are_aligned(), whole, parts)
        for label, aligned in ((whole, True), (parts, False)):
            write.label(label)
            before = self.values.registers
            self.values.registers = dict(before)
            self.memory.aligned = aligned
            with write.scope():
                self.tile()
            self.values.registers = before
            if aligned:
                write.effect("ret void")

    def buffers_are_aligned(self) -> str:
        """Write the check whether all buffers begin at multiples of a vector."""
        write, bits = self.writer, "0"
        for base in self.memory.bases.values():
            number = write.instruction(f"ptrtoint ptr {base} to i64")
            bits = write.instruction(f"or i64 {bits}, {number}")
        low = write.instruction(f"and i64 {bits}, {VECTOR_BYTES - 1}")
        return write.instruction(f"icmp eq i64 {low}, 0")

    def tile(self) -> None:
        """Write the work on the tile of this thread or of its block."""
        number = self.block_number
        if not self.spread:
            write = self.writer
            first = write.instruction(f"mul nuw nsw i64 {number}, {self.threads}")
            number = write.instruction(f"add nuw nsw i64 {first}, {self.thread}")
            has_tiles = any(isinstance(item, Loop) and _is_parallel(item) for item in self.program)
            self.leave_unless(number, "%tiles" if has_tiles else "1")
        self.number = number
        self.block(self.program)

    def loop(self, loop: Loop) -> None:
        if _is_parallel(loop):
            with self.values.inside(loop.counter, self.number):
                self.block(loop.body)
            return
        self.depth += 1
        self.accumulators.repeats = self.depth > 0
        super().loop(loop)
        self.depth -= 1
        self.accumulators.repeats = self.depth > 0

    def counters_around(self) -> frozenset[UOp]:
        # The trip count of a loop must not depend on the thread: it may contain barriers.
        return super().counters_around().difference(self.spread)

    def begin_stage(self, stage: UOp) -> None:
        if is_shared(stage) and (self.depth or stage in self.memory.areas):
            write_barrier(self.writer)  # other threads may still read the previous contents
        super().begin_stage(stage)
        if is_shared(stage) and self.poison:
            write_barrier(self.writer)

    def node(self, node: UOp) -> None:
        super().node(node)
        if node.op is Op.STAGE and is_shared(node):
            write_barrier(self.writer)

    def leave_unless(self, number: str, limit: str) -> None:
        """Return from the kernel if a number is not below a limit."""
        works, over = self.writer.new_label(), self.writer.new_label()
        below = self.writer.instruction(f"icmp ult i64 {number}, {limit}")
        self.writer.branch_if(below, works, over)
        self.writer.label(over)
        self.writer.effect("ret void")
        self.writer.label(works)

    # Values

    def index_division(self, node: UOp, operands: list[str], lanes: int) -> str:
        bounds = (node.left.vmin, node.left.vmax, node.right.vmin, node.right.vmax)
        if min(bounds[0], bounds[2] - 1) < 0 or max(bounds) >= 1 << FEW_BITS:
            return super().index_division(node, operands, lanes)
        few, whole = self.writer.of(dtypes.uint32, lanes), self.writer.of(dtypes.index, lanes)
        left, right = [few.trunc(operand, whole) for operand in operands]
        divided = few.binary("udiv" if node.op is Op.FLOORDIV else "urem", left, right)
        return whole.zext(divided, few)


def _is_parallel(loop: Loop) -> bool:
    return loop.counter.placement == PARALLEL
