"""Loads, stores and fault reports as LLVM instructions.

Contiguous lanes are one vector access, lanes at the same place a scalar one, other lanes a gather
or scatter. A gate becomes a mask, or for scalars a safe address or a branch. Tiles that need
several such accesses are in `vectors/shuffled_tiles.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ogive.compiler.devices.llvm.kernel_writer import Offset, Writer
from ogive.compiler.devices.llvm.llvm_types import (
    code_of,
    constant,
    mangled,
    memory_type,
    register_type,
)
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, Op
from ogive.compiler.targets.target import CACHE_LINE, Target

Stride = int | str | None

Apart = int | str
"""The distances of lanes from an offset: a stride, or a vector of indices."""

GATHERED_BYTES = 4
"""The bytes of the narrowest elements that processors gather."""

ALL_LANES = "splat (i1 true)"


class Memory:
    """Writes accesses to a kernel's buffers. `bases` has the pointer of each slot.

    `areas` has the staged values that reuse the memory of another one, with that one.
    """

    def __init__(self, writer: Writer, areas: Mapping[UOp, UOp], target: Target) -> None:
        self.writer = writer
        self.target = target
        self.bases: dict[int, str] = {}
        self.areas = areas
        self.scratch: dict[UOp, str] = {}
        self.streams = False
        self.asked: set[tuple[UOp, str, int]] = set()  # prefetched lines, which vectors may share

    def address(self, memory: UOp, dtype: DType, offset: Offset) -> str:
        element = memory_type(dtype, 1)
        place = self.base(memory)
        for part in (offset.register, str(offset.constant)):
            if part != "0":
                place = self.writer.once(f"getelementptr {element}, ptr {place}, i64 {part}")
        return place

    def safe(self, offset: Offset, gate: str) -> Offset:
        """An offset where a gate holds, and 0 where it does not."""
        index = self.writer.index(offset)
        return Offset(self.writer.instruction(f"select i1 {gate}, i64 {index}, i64 0"))

    def base(self, memory: UOp) -> str:
        """The pointer of a buffer, or of a staged value in scratch memory."""
        if memory.op is not Op.STAGE:
            return self.bases[memory.slot]
        memory = self.areas.get(memory, memory)
        if memory not in self.scratch:
            kind = f"[{memory.count} x {memory_type(memory.dtype, 1)}]"
            self.scratch[memory] = self.writer.allocate(kind)
        return self.scratch[memory]

    def poison(self, stage: UOp) -> None:
        """Set all bits of a staged value's memory, unless it reuses that of another one."""
        if stage not in self.areas:
            size = stage.count * stage.dtype.itemsize
            self.writer.declarations.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
            self.writer.effect(
                f"call void @llvm.memset.p0.i64(ptr {self.base(stage)}, i8 -1, i64 {size}, "
                "i1 false)"
            )

    def lane_addresses(
        self, memory: UOp, dtype: DType, offset: Offset, apart: Apart, lanes: int
    ) -> str:
        """A vector of the addresses of all lanes."""
        place = self.address(memory, dtype, offset)
        steps = apart if isinstance(apart, str) else _multiples(apart, lanes)
        return self.writer.instruction(
            f"getelementptr {memory_type(dtype, 1)}, ptr {place}, <{lanes} x i64> {steps}"
        )

    def load(
        self,
        memory: UOp,
        dtype: DType,
        offset: Offset,
        stride: Stride,
        gate: str | None,
        lanes: int,
    ) -> str:
        """The elements at `offset + lane*stride`; zero where the gate does not hold."""
        if lanes == 1:
            return self.load_scalar(memory, dtype, offset, gate)
        if stride == 1:
            value = self.load_vector(memory, dtype, offset, gate, lanes)
            return self.from_memory(value, dtype, lanes)
        return self.gather(memory, dtype, *_apart(offset, stride), gate, lanes)

    def from_memory(self, value: str, dtype: DType, lanes: int) -> str:
        if not dtype.is_bool:
            return value
        kind = memory_type(dtype, lanes)
        zero = "0" if lanes == 1 else "zeroinitializer"
        return self.writer.instruction(f"icmp ne {kind} {value}, {zero}")

    def to_memory(self, value: str, dtype: DType, lanes: int) -> str:
        if not dtype.is_bool:
            return value
        before, after = register_type(dtype, lanes), memory_type(dtype, lanes)
        return self.writer.instruction(f"zext {before} {value} to {after}")

    def load_scalar(self, memory: UOp, dtype: DType, offset: Offset, gate: str | None) -> str:
        write = self.writer.instruction
        if gate is not None:
            offset = self.safe(offset, gate)
        kind = memory_type(dtype, 1)
        place = self.address(memory, dtype, offset)
        value = write(f"load {kind}, ptr {place}, align {dtype.itemsize}")
        if gate is not None:
            zero = "0" if kind.startswith("i") else "0.0"
            value = write(f"select i1 {gate}, {kind} {value}, {kind} {zero}")
        return self.from_memory(value, dtype, 1)

    def load_vector(
        self, memory: UOp, dtype: DType, offset: Offset, gate: str | None, lanes: int
    ) -> str:
        if gate is not None:
            # A masked load far outside its buffer is as slow as the fault it suppresses.
            some = self.any_lane(gate, lanes)
            offset = self.safe(offset, some)
        return self.load_masked(memory, dtype, offset, gate, lanes)

    def load_masked(
        self, memory: UOp, dtype: DType, offset: Offset, gate: str | None, lanes: int
    ) -> str:
        """A vector under a mask, from a place that is near its buffer even if no lane is loaded."""
        place = self.address(memory, dtype, offset)
        if gate is not None:
            if lanes * dtype.itemsize > self.target.register_bytes:
                gate = self.opaque(gate, lanes)
            return self.masked_read("load", place, dtype, gate, lanes)
        kind = memory_type(dtype, lanes)
        return self.writer.instruction(f"load {kind}, ptr {place}, align {dtype.itemsize}")

    def prefetch(self, memory: UOp, dtype: DType, offset: Offset, distance: str) -> None:
        """Prefetch `distance` elements after an offset, which may be outside the buffer."""
        further = self.writer.once(f"add i64 {offset.register}, {distance}")
        line = memory, further, offset.constant * dtype.itemsize // CACHE_LINE
        if line in self.asked:
            return
        self.asked.add(line)
        place = self.address(memory, dtype, Offset(further, offset.constant))
        self.writer.declarations.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
        self.writer.effect(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 2, i32 1)")

    def gather(
        self,
        memory: UOp,
        dtype: DType,
        offset: Offset,
        apart: Apart,
        gate: str | None,
        lanes: int,
    ) -> str:
        """The elements at an offset plus the distance of each lane; zero where the gate fails."""
        if self.target.gathers and dtype.itemsize >= GATHERED_BYTES:
            places = self.lane_addresses(memory, dtype, offset, apart, lanes)
            value = self.masked_read("gather", places, dtype, gate or ALL_LANES, lanes)
        else:
            value = self.load_by_lane(memory, dtype, offset, apart, gate, lanes)
        return self.from_memory(value, dtype, lanes)

    def load_by_lane(
        self,
        memory: UOp,
        dtype: DType,
        offset: Offset,
        apart: Apart,
        gate: str | None,
        lanes: int,
    ) -> str:
        """The same, one lane at a time."""
        write = self.writer.instruction
        element, kind, mask = memory_type(dtype, 1), memory_type(dtype, lanes), f"<{lanes} x i1>"
        if gate is not None:
            indices = f"<{lanes} x i64>"
            first = self.writer.splat(self.writer.index(offset), dtypes.index, lanes)
            steps = apart if isinstance(apart, str) else _multiples(apart, lanes)
            whole = write(f"add {indices} {first}, {steps}")
            apart = write(f"select {mask} {gate}, {indices} {whole}, {indices} zeroinitializer")
            offset = Offset("0")
        result = "poison"
        for lane in range(lanes):
            if isinstance(apart, str):
                step = self.writer.once(f"extractelement <{lanes} x i64> {apart}, i64 {lane}")
                first = self.address(memory, dtype, offset)
                place = write(f"getelementptr {element}, ptr {first}, i64 {step}")
            else:
                place = self.address(memory, dtype, offset.plus(lane * apart))
            value = write(f"load {element}, ptr {place}, align {dtype.itemsize}")
            result = write(f"insertelement {kind} {result}, {element} {value}, i64 {lane}")
        if gate is not None:
            result = write(f"select {mask} {gate}, {kind} {result}, {kind} zeroinitializer")
        return result

    def masked_read(self, name: str, places: str, dtype: DType, gate: str, lanes: int) -> str:
        """A vector, or lanes with an address each, under a mask; zero elsewhere."""
        kind, mask = memory_type(dtype, lanes), f"<{lanes} x i1>"
        pointers, symbol = self.masked_intrinsic(name, dtype, lanes)
        self.writer.declarations.add(f"declare {kind} {symbol}({pointers}, {mask}, {kind})")
        return self.writer.instruction(
            f"call {kind} {symbol}({pointers} align {dtype.itemsize} {places}, {mask} {gate}, "
            f"{kind} zeroinitializer)"
        )

    def masked_write(
        self, name: str, value: str, places: str, dtype: DType, gate: str, lanes: int
    ) -> None:
        """Write lanes under a mask, to a vector or to an address for each lane."""
        kind, mask = memory_type(dtype, lanes), f"<{lanes} x i1>"
        pointers, symbol = self.masked_intrinsic(name, dtype, lanes)
        self.writer.declarations.add(f"declare void {symbol}({kind}, {pointers}, {mask})")
        self.writer.effect(
            f"call void {symbol}({kind} {value}, {pointers} align {dtype.itemsize} {places}, "
            f"{mask} {gate})"
        )

    def masked_intrinsic(self, name: str, dtype: DType, lanes: int) -> tuple[str, str]:
        """The type of the addresses of one of LLVM's masked accesses, and its name."""
        element = mangled("i8" if dtype.is_bool else code_of(dtype), lanes)
        by_lane = name in ("gather", "scatter")
        pointers, suffix = (f"<{lanes} x ptr>", f"v{lanes}p0") if by_lane else ("ptr", "p0")
        return pointers, f"@llvm.masked.{name}.{element}.{suffix}"

    def store(
        self,
        memory: UOp,
        dtype: DType,
        value: str,
        offset: Offset,
        stride: Stride,
        gate: str | None,
        lanes: int,
    ) -> None:
        """Write `value` to the places `offset + lane*stride` where the gate holds."""
        value = self.to_memory(value, dtype, lanes)
        kind, align = memory_type(dtype, lanes), dtype.itemsize
        if lanes > 1 and stride != 1:
            places = self.lane_addresses(memory, dtype, *_apart(offset, stride), lanes)
            self.masked_write("scatter", value, places, dtype, gate or ALL_LANES, lanes)
            return
        place = self.address(memory, dtype, offset)
        if gate is None:
            self.writer.effect(f"store {kind} {value}, ptr {place}, align {align}")
        elif lanes == 1:
            inside, after = self.writer.new_label(), self.writer.new_label()
            self.writer.branch_if(gate, inside, after)
            self.writer.label(inside)
            self.writer.effect(f"store {kind} {value}, ptr {place}, align {align}")
            self.writer.branch(after)
            self.writer.label(after)
        else:
            if dtype.itemsize < 4 or (dtype.itemsize < 8 and not dtype.is_float):
                gate = self.opaque(gate, lanes)
            self.masked_write("store", value, place, dtype, gate, lanes)

    def opaque(self, gate: str, lanes: int) -> str:
        """A mask whose value LLVM cannot know, because of two defects of LLVM 22.

        If it knows that a single lane of a narrowed vector is stored, it stores the wide element,
        up to 7 bytes too many. If a load takes two registers and it knows the mask of one, it loads
        too much or aborts.
        """
        nothing = self.writer.once('call i64 asm "", "=r,0"(i64 0)')
        bit = self.writer.once(f"trunc i64 {nothing} to i1")
        mask = self.writer.splat(bit, dtypes.bool_, lanes)
        return self.writer.instruction(f"xor <{lanes} x i1> {gate}, {mask}")

    def stream(self, memory: UOp, dtype: DType, value: str, offset: Offset, lanes: int) -> None:
        """Write a whole vector by a streaming store, to an address that is aligned to its size."""
        value = self.to_memory(value, dtype, lanes)
        kind, size = memory_type(dtype, lanes), dtype.itemsize * lanes
        place = self.address(memory, dtype, offset)
        self.writer.effect(
            f"store {kind} {value}, ptr {place}, align {min(size, CACHE_LINE)}, !nontemporal !0"
        )
        self.streams = True

    def finish_streams(self) -> None:
        """Add a fence if needed, so that streaming stores are visible when the kernel returns."""
        if self.streams:
            self.writer.declarations.add("declare void @llvm.x86.sse.sfence()")
            self.writer.effect("call void @llvm.x86.sse.sfence()")

    def metadata(self) -> list[str]:
        """The metadata of streaming stores."""
        return ["!0 = !{i32 1}"] if self.streams else []

    def any_lane(self, mask: str, lanes: int) -> str:
        """Whether a mask holds in any lane."""
        return self.writer.of(dtypes.bool_, lanes).any(mask)

    def report(self, good: str, gate: str | None, lanes: int, site: int) -> None:
        """Lower the fault word to `site` if `good` fails anywhere under the gate."""
        masks = self.writer.of(dtypes.bool_, lanes)
        bad = masks.xor(good, constant(dtypes.bool_, True, lanes))
        if gate is not None:
            bad = masks.and_(bad, gate)
        bad = masks.any(bad)
        fails, after = self.writer.new_label(), self.writer.new_label()
        self.writer.branch_if(bad, fails, after)
        self.writer.label(fails)
        self.writer.instruction(f"atomicrmw umin ptr %fault, i64 {site} monotonic")
        self.writer.branch(after)
        self.writer.label(after)


def _apart(offset: Offset, stride: Stride) -> tuple[Offset, Apart]:
    """The common offset of all lanes, and their distances from it.

    With an irregular stride, `offset` has the offset of each lane.
    """
    if stride == IRREGULAR:
        return Offset("0"), offset.register
    return offset, int(stride or 0)


def _multiples(stride: int, lanes: int) -> str:
    return "<" + ", ".join([f"i64 {lane * stride}" for lane in range(lanes)]) + ">"
