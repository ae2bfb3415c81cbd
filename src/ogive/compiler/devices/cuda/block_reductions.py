"""Reductions across the threads of a block, whose result every thread gets, and scans by a warp.

The threads of a warp exchange values in five shuffles. Then each warp writes its value to shared
memory, and every thread combines the values of all warps in a fixed tree. So the result has the
same bits in every run and in every thread.

A scan goes through a row 32 elements at a time, one for each lane. In five steps each lane adds the
value of the lane 1, 2, 4, 8 and 16 places before it; then all lanes add the carry, and the value of
the last lane is the carry of the next 32 elements.
"""

from __future__ import annotations

from functools import partial

from ogive.compiler.devices.cuda.block_memory import BlockMemory
from ogive.compiler.devices.llvm.accumulators import Accumulators
from ogive.compiler.devices.llvm.kernel_writer import Writer
from ogive.compiler.devices.llvm.llvm_types import code_of, element_type, memory_type, register_type
from ogive.compiler.devices.llvm.registers import Tile, Values
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import THREAD

BARRIER = "nvvm.barrier.cta.sync.aligned.all"
SHUFFLE = "nvvm.shfl.sync"
WARP = 32


def write_barrier(writer: Writer) -> None:
    """Write a barrier: all threads of the block arrive before any continues."""
    writer.declarations.add(f"declare void @llvm.{BARRIER}(i32)")
    writer.effect(f"call void @llvm.{BARRIER}(i32 0)")


class BlockAccumulators(Accumulators):
    """Accumulators of one thread, which are combined across the block.

    `thread` is the register with the thread's number, below `threads`. `repeats` says whether the
    code that is written now may run more than once.
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

    def scan(self, node: UOp) -> None:
        if all(counter.placement != THREAD for counter in node.further):
            super().scan(node)
            return
        kind = register_type(node.dtype, 1)
        counters, beside = self.values.tile_of(node), self._counters_beside(node)
        combine = partial(self.instructions.combine, node.combine, node.dtype)
        self.values.registers[node] = {}
        for place in self.values.entries(counters):
            places = tuple(zip(counters, place, strict=True))
            at = dict(places)
            cell = self._cells[node][tuple([at[counter] for counter in beside])]
            within = self._through_warp(node, self.values.operand(node.operand, places, 1))
            before = self.writer.instruction(f"load {kind}, ptr {cell}")
            running = combine(before, within, 1)
            last = self._from_lane(running, node.dtype, WARP - 1, "idx")
            self.writer.effect(f"store {kind} {last}, ptr {cell}")
            self.values.registers[node][place] = running

    def _through_warp(self, node: UOp, value: str) -> str:
        """The value combined with those of all lanes before this one."""
        write, kind = self.writer.instruction, register_type(node.dtype, 1)
        distance = 1
        while distance < WARP:
            before = self._from_lane(value, node.dtype, distance, "up")
            both = self.instructions.combine(node.combine, node.dtype, before, value, 1)
            has = write(f"icmp uge i64 {self.thread}, {distance}")
            value = write(f"select i1 {has}, {kind} {both}, {kind} {value}")
            distance *= 2
        return value

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

    def _from_lane(self, value: str, dtype: DType, distance: int, how: str = "bfly") -> str:
        """The value of another lane: the one whose number differs in the bit `distance` (`bfly`),
        the one `distance` before this lane (`up`), or the one of that number (`idx`)."""
        write = self.writer.instruction
        element, bits = element_type(dtype), 1 if dtype.is_bool else dtype.bits
        raw = f"i{bits}"
        if code_of(dtype)[0] == "f":
            value = write(f"bitcast {element} {value} to {raw}")
        if bits == 64:
            high = write(f"lshr i64 {value}, 32")
            halves = [write(f"trunc i64 {half} to i32") for half in (value, high)]
            low, high = [self._exchange(half, distance, how) for half in halves]
            low, high = [write(f"zext i32 {half} to i64") for half in (low, high)]
            high = write(f"shl i64 {high}, 32")
            value = write(f"or i64 {low}, {high}")
        elif bits == 32:
            value = self._exchange(value, distance, how)
        else:
            value = self._exchange(write(f"zext {raw} {value} to i32"), distance, how)
            value = write(f"trunc i32 {value} to {raw}")
        if code_of(dtype)[0] == "f":
            value = write(f"bitcast {raw} {value} to {element}")
        return value

    def _exchange(self, word: str, distance: int, how: str) -> str:
        types = ["i32", "i32", "i32", "i32"]
        last = "0" if how == "up" else "31"
        given = ["-1", word, str(distance), last]
        return self.writer.intrinsic("i32", f"{SHUFFLE}.{how}.i32", types, given)
