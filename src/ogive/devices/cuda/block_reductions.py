"""Results across the threads of a block, which all of them then have.

The threads of a warp exchange values by shuffles, five times; then each warp writes its value to
memory that the block shares, and every thread combines those of all warps in a fixed tree. So the
same bits come out in every run, and in every thread.
"""

from __future__ import annotations

from functools import partial

from ogive.devices.cuda.block_memory import BlockMemory
from ogive.devices.llvm.accumulators import Accumulators
from ogive.devices.llvm.instructions import Instructions
from ogive.devices.llvm.kernel_writer import Writer
from ogive.devices.llvm.llvm_types import code_of, element_type, memory_type
from ogive.devices.llvm.registers import Tile, Values
from ogive.ir.dtype import DType
from ogive.ir.node import UOp
from ogive.ir.ops import THREAD

BARRIER = "nvvm.barrier.cta.sync.aligned.all"
SHUFFLE = "nvvm.shfl.sync.bfly.i32"
WARP = 32


def write_barrier(writer: Writer) -> None:
    """Have all threads of the block come here before any goes on."""
    writer.declarations.add(f"declare void @llvm.{BARRIER}(i32)")
    writer.effect(f"call void @llvm.{BARRIER}(i32 0)")


class BlockAccumulators(Accumulators):
    """Accumulators of one thread, which are combined with those of others.

    `thread` is the register that has its number, of `threads`; `repeats` says whether what is
    written now may run more than once.
    """

    def __init__(
        self,
        root: UOp,
        values: Values,
        instructions: Instructions,
        memory: BlockMemory,
        threads: int,
    ) -> None:
        super().__init__(root, values, instructions)
        self.memory = memory
        self.threads = threads
        self.thread = ""
        self.repeats = False
        self._areas: dict[UOp, str] = {}

    def finish(self, node: UOp) -> None:
        super().finish(node)
        if any(counter.placement == THREAD for counter in node.closed):
            self.values.registers[node] = self._across(node, self.values.registers[node])

    def _across(self, node: UOp, results: dict[Tile, str]) -> dict[Tile, str]:
        combine = partial(self.instructions.combine, node.combine, node.dtype)
        distance = WARP // 2
        while distance:
            results = {
                place: combine(value, self._from_lane(value, node.dtype, distance), 1)
                for place, value in results.items()
            }
            distance //= 2
        warps = self.threads // WARP
        if warps == 1:
            return results
        kind, size = memory_type(node.dtype, 1), node.dtype.itemsize
        if node not in self._areas:
            self._areas[node] = self.memory.share(len(results) * warps * size)
        base = self._areas[node]
        write = self.writer.instruction
        if self.repeats:
            write_barrier(self.writer)
        warp = self.writer.once(f"lshr i64 {self.thread}, 5")
        for number, value in enumerate(results.values()):
            at = write(f"add i64 {warp}, {number * warps}")
            into = write(f"getelementptr {kind}, ptr {base}, i64 {at}")
            held = self.memory.to_memory(value, node.dtype, 1)
            self.writer.effect(f"store {kind} {held}, ptr {into}, align {size}")
        write_barrier(self.writer)
        combined = {}
        for number, place in enumerate(results):
            values = []
            for index in range(number * warps, (number + 1) * warps):
                at = write(f"getelementptr {kind}, ptr {base}, i64 {index}")
                loaded = write(f"load {kind}, ptr {at}, align {size}")
                values.append(self.memory.from_memory(loaded, node.dtype, 1))
            while len(values) > 1:
                half = len(values) // 2
                values = [combine(values[i], values[i + half], 1) for i in range(half)]
            combined[place] = values[0]
        return combined

    def _from_lane(self, value: str, dtype: DType, distance: int) -> str:
        """The value that the thread has whose number in the warp differs in one bit."""
        write = self.writer.instruction
        element, bits = element_type(dtype), 1 if dtype.is_bool else dtype.bits
        raw = f"i{bits}"
        if code_of(dtype)[0] == "f":
            value = write(f"bitcast {element} {value} to {raw}")
        if bits == 64:
            high = write(f"lshr i64 {value}, 32")
            halves = [write(f"trunc i64 {half} to i32") for half in (value, high)]
            low, high = [self._exchange(half, distance) for half in halves]
            low, high = [write(f"zext i32 {half} to i64") for half in (low, high)]
            high = write(f"shl i64 {high}, 32")
            value = write(f"or i64 {low}, {high}")
        elif bits == 32:
            value = self._exchange(value, distance)
        else:
            value = self._exchange(write(f"zext {raw} {value} to i32"), distance)
            value = write(f"trunc i32 {value} to {raw}")
        if code_of(dtype)[0] == "f":
            value = write(f"bitcast {raw} {value} to {element}")
        return value

    def _exchange(self, word: str, distance: int) -> str:
        types = ["i32", "i32", "i32", "i32"]
        return self.writer.intrinsic("i32", SHUFFLE, types, ["-1", word, str(distance), "31"])
