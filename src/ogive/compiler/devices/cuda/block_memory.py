"""The loads and stores of a thread: aligned vectors, and the shared memory of its block."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ogive.compiler.devices.llvm.kernel_writer import Offset, Writer
from ogive.compiler.devices.llvm.llvm_types import memory_type
from ogive.compiler.devices.llvm.memory_accesses import Memory, Stride
from ogive.compiler.devices.llvm.transfers import Transfers
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import THREAD, Op
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form
from ogive.compiler.passes.lower.lower_accesses import lane_of
from ogive.compiler.targets.target import Target

VECTOR_BYTES = 16
"""The most bytes that a thread loads or stores at once, at an address that is a multiple of it."""

SHARED = "@shared"
"""The name of the block's shared memory in the module."""


def is_shared(stage: UOp) -> bool:
    """Whether the threads of a block fill a staged row together."""
    return any(counter.placement == THREAD for counter in stage.closed)


class BlockMemory(Memory):
    """Writes the accesses of one thread.

    `aligned` says whether the buffers begin at multiples of a vector, and `steps` whether the
    offset of the current access is always a multiple of its lanes. Buffers that are not in
    `written` are constant while the kernel runs, so loads from them stay valid across barriers.
    """

    def __init__(
        self, writer: Writer, areas: Mapping[UOp, UOp], target: Target, written: Collection[UOp]
    ) -> None:
        alike = {a: b for a, b in areas.items() if is_shared(a) == is_shared(b)}
        super().__init__(writer, alike, target)
        self.written = written
        self.aligned = True
        self.steps = False
        self.shared_bytes = 0

    def metadata(self) -> list[str]:
        return [*super().metadata(), "!1 = !{}"]

    def share(self, nbytes: int) -> str:
        """Reserve `nbytes` of shared memory; returns their address."""
        begin = self.shared_bytes
        self.shared_bytes += -(-nbytes // VECTOR_BYTES) * VECTOR_BYTES
        whole = f"addrspacecast (ptr addrspace(3) {SHARED} to ptr)"
        return f"getelementptr (i8, ptr {whole}, i64 {begin})" if begin else whole

    def base(self, memory: UOp) -> str:
        if memory.op is not Op.STAGE or not is_shared(memory):
            return super().base(memory)
        memory = self.areas.get(memory, memory)
        if memory not in self.scratch:
            self.scratch[memory] = self.share(memory.count * memory.dtype.itemsize)
        return self.scratch[memory]

    def is_whole(self, memory: UOp, dtype: DType, lanes: int) -> bool:
        """Whether an access can be one vector instruction."""
        fits = lanes * dtype.itemsize in (2, 4, 8, VECTOR_BYTES)
        return fits and self.steps and (self.aligned or memory.op is Op.STAGE)

    def load_vector(
        self, memory: UOp, dtype: DType, offset: Offset, gate: str | None, lanes: int
    ) -> str:
        if not self.is_whole(memory, dtype, lanes):
            return self.load_by_lane(memory, dtype, offset, 1, gate, lanes)
        if gate is not None:
            # A whole aligned vector is readable wherever one of its elements is.
            offset = self.safe(offset, self.any_lane(gate, lanes))
        kind, align = memory_type(dtype, lanes), lanes * dtype.itemsize
        place = self.address(memory, dtype, offset)
        stays = memory.op is Op.PARAM and memory not in self.written
        mark = ", !invariant.load !1" if stays else ""
        value = self.writer.instruction(f"load {kind}, ptr {place}, align {align}{mark}")
        if gate is None:
            return value
        zero = f"{kind} zeroinitializer"
        mask = f"<{lanes} x i1>"
        return self.writer.instruction(f"select {mask} {gate}, {kind} {value}, {zero}")

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
        if lanes == 1 or stride != 1:
            super().store(memory, dtype, value, offset, stride, gate, lanes)
            return
        value = self.to_memory(value, dtype, lanes)
        if not self.is_whole(memory, dtype, lanes):
            self._store_by_lane(memory, dtype, value, offset, gate, lanes)
        elif gate is None:
            self._store_whole(memory, dtype, value, offset, lanes)
        else:
            masks = self.writer.of(dtypes.bool_, lanes)
            some_fail = masks.any(masks.xor(gate, -1 if lanes > 1 else 1))
            parts, whole, after = [self.writer.new_label() for _ in range(3)]
            self.writer.branch_if(some_fail, parts, whole)
            self.writer.label(parts)
            with self.writer.scope():
                self._store_by_lane(memory, dtype, value, offset, gate, lanes)
            self.writer.branch(after)
            self.writer.label(whole)
            with self.writer.scope():
                self._store_whole(memory, dtype, value, offset, lanes)
            self.writer.branch(after)
            self.writer.label(after)

    def _store_whole(
        self, memory: UOp, dtype: DType, value: str, offset: Offset, lanes: int
    ) -> None:
        kind, align = memory_type(dtype, lanes), lanes * dtype.itemsize
        place = self.address(memory, dtype, offset)
        self.writer.effect(f"store {kind} {value}, ptr {place}, align {align}")

    def _store_by_lane(
        self, memory: UOp, dtype: DType, value: str, offset: Offset, gate: str | None, lanes: int
    ) -> None:
        write = self.writer.instruction
        element, kind = memory_type(dtype, 1), memory_type(dtype, lanes)
        for lane in range(lanes):
            part = write(f"extractelement {kind} {value}, i64 {lane}")
            place = self.address(memory, dtype, offset.plus(lane))
            text = f"store {element} {part}, ptr {place}, align {dtype.itemsize}"
            if gate is None:
                self.writer.effect(text)
                continue
            admits = write(f"extractelement <{lanes} x i1> {gate}, i64 {lane}")
            inside, after = self.writer.new_label(), self.writer.new_label()
            self.writer.branch_if(admits, inside, after)
            self.writer.label(inside)
            self.writer.effect(text)
            self.writer.branch(after)
            self.writer.label(after)


class BlockTransfers(Transfers):
    """Writes loads and stores of a kernel's nodes for one thread of a block.

    The first thread alone stores values that do not depend on the thread. `thread` is the register
    with the thread's number if the threads share a tile.
    """

    thread: str | None = None
    memory: BlockMemory

    def load(self, node: UOp) -> None:
        self.memory.steps = _steps_by(node.place.offset, self.values.lanes_of(node))
        super().load(node)

    def store(self, node: UOp) -> None:
        lane = lane_of(node.closed)
        self.memory.steps = lane is not None and _steps_by(
            node.place.offset, int(lane.extent.literal)
        )
        if self.thread is None or any(c.placement == THREAD for c in node.closed):
            super().store(node)
            return
        first, after = self.writer.new_label(), self.writer.new_label()
        is_first = self.writer.once(f"icmp eq i64 {self.thread}, 0")
        self.writer.branch_if(is_first, first, after)
        self.writer.label(first)
        with self.writer.scope():
            super().store(node)
        self.writer.branch(after)
        self.writer.label(after)

    def keep(self, node: UOp) -> None:
        self.memory.steps = _steps_by(node.offset, self.accumulators.lanes_of(node))
        super().keep(node)


def _steps_by(offset: UOp, lanes: int) -> bool:
    """Whether an offset is a multiple of `lanes` for all values of its counters."""
    terms, constant = linear_form(offset)
    return constant % lanes == 0 and all(factor % lanes == 0 for factor in terms.values())
