"""The passes of a sorting network as instructions on staged rows, whose lanes are contiguous."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ogive.compiler.devices.llvm.kernel_writer import Offset
from ogive.compiler.devices.llvm.llvm_types import constant
from ogive.compiler.devices.llvm.memory_accesses import Memory
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.staging.sorting_network import Pass, filled_length, sorting_passes


class Exchanges:
    """Sorts the rows of the staged value `stage`, one in each lane."""

    def __init__(
        self, stage: UOp, lanes: int, memory: Memory, instructions: Instructions
    ) -> None:
        self.stage = stage
        self.dtype = stage.dtype
        self.lanes = lanes
        self.stride = 1 if lanes > 1 else None
        self.writer = memory.writer
        self.memory = memory
        self.instructions = instructions

    def sort(self, count: int, begin: int) -> None:
        """Write the instructions that sort `count` elements from `begin` on."""
        passes = sorting_passes(count)
        if len(passes) > 1:
            self.fill_up(count, begin)
        for each in passes:
            self.write_pass(each, begin)

    def fill_up(self, count: int, begin: int) -> None:
        """Pad the row with the greatest possible elements."""
        greatest = constant(self.dtype, self.dtype.limits[1], self.lanes)
        missing = filled_length(count) - count
        if not missing:
            return
        with self.counting(missing, 1) as (number, _):
            offset = Offset(number, begin + count * self.lanes)
            self.memory.store(
                self.stage, self.dtype, greatest, offset, self.stride, None, self.lanes
            )

    def write_pass(self, each: Pass, begin: int) -> None:
        with (
            self.counting(each.runs, each.length) as (run, _),
            self.counting(each.groups, 1) as (ahead, back),
        ):
            places = []
            for place in each.places:
                group = ahead if place.step > 0 else back if place.step < 0 else "0"
                offset = self.writer.once(f"add i64 {run}, {group}")
                places.append(Offset(offset, begin + place.first * self.lanes))
            access = (self.stride, None, self.lanes)
            values = [self.memory.load(self.stage, self.dtype, at, *access) for at in places]
            for low, high in each.exchanges:
                values[low], values[high] = [
                    self.instructions.combine(op, self.dtype, values[low], values[high], self.lanes)
                    for op in (Op.MINIMUM, Op.MAXIMUM)
                ]
            for at, value in zip(places, values, strict=True):
                self.memory.store(self.stage, self.dtype, value, at, *access)

    @contextlib.contextmanager
    def counting(self, times: int, step: int) -> Iterator[tuple[str, str]]:
        """The offset of each of `times` steps, and its negative."""
        if times == 1:
            yield "0", "0"
            return
        with self.writer.counting("0", str(times)) as number:
            ahead = self.writer.instruction(f"mul i64 {number}, {step * self.lanes}")
            yield ahead, self.writer.instruction(f"sub i64 0, {ahead}")
