"""Nested blocks of instructions become the text of one LLVM function that many threads run.

    define ptx_kernel void @name(ptr %a0, ptr %a1, i64 %a2, i64 %tiles, ptr %fault)

A kernel takes the words of its buffers and variables, the number of tiles of its parallel axis and
where to report a fault. What the host's kernels loop over is spread over threads here: each works
on one tile. So nothing else of the text differs from what the host runs.

The first line says how the kernel is launched; `Launch` reads it.
"""

from __future__ import annotations

from ogive.devices.llvm.emit import Emitter
from ogive.devices.llvm.kernel_writer import Writer
from ogive.devices.llvm.transfers import Transfers
from ogive.errors import LoadError
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import PARALLEL, Op
from ogive.named import NamedTuple
from ogive.passes.lower.cache_hints import Traffic
from ogive.passes.lower.kernel_signature import kernel_signature
from ogive.passes.lower.linearize import Item, Loop
from ogive.targets.target import Target

FEW_BITS = 32
"""Indices that fit into so many bits are divided as such: a tenth of the instructions."""


class Launch(NamedTuple):
    """How a kernel is launched: blocks of so many `threads`, `tiles` of them in each block.

    One that `faults` may report one, and its launch waits for the end to see.
    """

    threads: int
    tiles: int
    faults: bool

    @property
    def line(self) -> str:
        """What a kernel's text begins with."""
        return f"; launch {self.threads} {self.tiles} {int(self.faults)}"

    @classmethod
    def read(cls, text: str) -> Launch:
        """How the kernel of a text is launched. Raises `LoadError`."""
        words = text.partition("\n")[0].split()
        if len(words) != 5 or words[:2] != [";", "launch"] or not "".join(words[2:]).isdigit():
            raise LoadError("a kernel does not say how it is launched")
        threads, tiles, faults = map(int, words[2:])
        return cls(threads, tiles, bool(faults))


def emit_threads(
    program: list[Item], root: UOp, name: str, target: Target, poison: bool = False
) -> str:
    """The LLVM module of one kernel, as text; its scratch memory is filled with `poison` first."""
    return ThreadEmitter(root, program, target, poison).module(name)


class ThreadWriter(Writer):
    """Text without what only processors with vectors need."""

    def allocate(self, kind: str) -> str:
        name = f"%a{self.number()}"
        self.entry.append(f"  {name} = alloca {kind}, align 16")
        return name

    def intrinsic(self, kind: str, name: str, types: list[str], operands: list[str]) -> str:
        if name.startswith("arithmetic.fence"):
            return operands[0]  # it has no code there, and what it keeps apart is in PTX anyway
        return super().intrinsic(kind, name, types, operands)

    def hidden_index(self, operand: str) -> str:
        return operand


class ThreadEmitter(Emitter):
    """Writes the kernel of one thread."""

    def make_writer(self) -> Writer:
        return ThreadWriter()

    def make_transfers(self) -> Transfers:
        return Transfers(
            self.accumulators, self.instructions, self.memory, Traffic(), self.steady_operand
        )

    @property
    def threads(self) -> int:
        """How many threads a block has."""
        return self.target.grid.block_threads

    def head(self, name: str) -> list[str]:
        slots, variables = kernel_signature(self.root)
        words = [f"ptr %a{number}" for number in range(len(slots))]
        words += [f"i64 %a{number}" for number in range(len(slots), len(slots) + len(variables))]
        faults = any(node.op is Op.CHECK for node in self.root.walk())
        launch = Launch(self.threads, self.threads, faults)
        signature = ", ".join([*words, "i64 %tiles", "ptr %fault"])
        return [launch.line, f'define ptx_kernel void @"{name}"({signature}) #0 {{']

    def attributes(self) -> str:
        return f'attributes #0 = {{ nounwind "nvvm.reqntid"="{self.threads}" }}'

    def argument(self, position: int, kind: str) -> str:
        return f"%a{position}"

    # Control flow

    def module(self, name: str) -> str:
        if not any(isinstance(item, Loop) and _is_parallel(item) for item in self.program):
            self.leave_unless(self.tile_number(), "1")
        return super().module(name)

    def loop(self, loop: Loop) -> None:
        if not _is_parallel(loop):
            super().loop(loop)
            return
        number = self.tile_number()
        self.leave_unless(number, "%tiles")
        with self.values.inside(loop.counter, number):
            self.block(loop.body)

    def tile_number(self) -> str:
        """Which tile this thread works on."""
        write = self.writer
        block = write.intrinsic("i32", "nvvm.read.ptx.sreg.ctaid.x", [], [])
        thread = write.intrinsic("i32", "nvvm.read.ptx.sreg.tid.x", [], [])
        first = write.instruction(f"zext i32 {block} to i64")
        first = write.instruction(f"mul nuw nsw i64 {first}, {self.threads}")
        within = write.instruction(f"zext i32 {thread} to i64")
        return write.instruction(f"add nuw nsw i64 {first}, {within}")

    def leave_unless(self, number: str, limit: str) -> None:
        """End the thread if a number is not below a limit."""
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
