"""Tiles that have another order in memory than in registers: shuffled on the way.

picked        entries whose lanes are close together, picked out of vectors
transposed    contiguous entries, each with its lanes far apart
interleaved   entries whose lanes alternate
"""

from __future__ import annotations

from ogive.compiler.devices.llvm.kernel_writer import Offset, Writer
from ogive.compiler.devices.llvm.llvm_types import memory_type, register_type
from ogive.compiler.devices.llvm.memory_accesses import Memory
from ogive.compiler.devices.llvm.registers import Tile
from ogive.compiler.devices.llvm.vectors.register_transpose import transpose
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.lower.irregular_lanes import Picks
from ogive.named import NamedTuple

Gate = tuple[str | None, str | None]
"""The mask of a vector, and whether it holds in any lane; None if it holds in all."""

BLOCK_BITS = 128
"""The bits of the least vector for which there is an optimization barrier."""


class TransposedPlace(NamedTuple):
    """The place of a tile with contiguous rows: the first element of each lane, and the gates.

    There is a gate for each row and one for the lanes; None always holds.
    """

    offsets: list[Offset]
    gates: list[str | None]
    lane_gate: str | None


def load_picked(
    memory: Memory,
    buffer: UOp,
    dtype: DType,
    base: Offset,
    picks: Picks,
    gates: list[str | None],
    lanes: int,
) -> dict[Tile, str]:
    """The entries of a tile picked out of vectors, each under its own gate; zero where that
    fails."""
    kind = memory_type(dtype, lanes)
    loaded = []
    for number, first in enumerate(picks.windows):
        mask = _window_mask(memory.writer, number, picks, gates, dtype, lanes)
        loaded.append(memory.load_vector(buffer, dtype, base.plus(first), mask, lanes))
    registers: dict[Tile, str] = {}
    for entry, sources in picks.sources.items():
        result = "poison"
        for number in sorted({window for window, _ in sources}):
            numbers = [
                lanes + position if window == number else lane
                for lane, (window, position) in enumerate(sources)
            ]
            result = memory.writer.shuffle(result, loaded[number], numbers, kind)
        registers[entry] = memory.from_memory(result, dtype, lanes)
    return registers


def _window_mask(
    writer: Writer,
    window: int,
    picks: Picks,
    gates: list[str | None],
    dtype: DType,
    lanes: int,
) -> str | None:
    """A mask of the elements of a window that are picked under a gate that holds; None for all."""
    if not any(gates):
        return None
    words = Words(writer, dtype, lanes)
    result = words.none
    for gate, sources in zip(gates, picks.sources.values(), strict=True):
        inside = {at: lane for lane, (number, at) in enumerate(sources) if number == window}
        if inside:
            holders = [inside[at] if at in inside else lanes + at for at in range(lanes)]
            result = writer.shuffle(words.of_mask(gate), result, holders, words.kind)
    return words.mask(result)


class Words:
    """Masks as vectors of words, with all bits set in the lanes where the mask holds.

    LLVM 22 confuses shuffled masks of single bits on processors with mask registers: the second of
    two gets the operands of the first.
    """

    def __init__(self, writer: Writer, dtype: DType, lanes: int) -> None:
        self.writer = writer
        self.lanes = lanes
        bits = max(8 * dtype.itemsize, BLOCK_BITS // lanes)
        self.dtype = {1: dtypes.int8, 2: dtypes.int16, 4: dtypes.int32, 8: dtypes.int64}[bits // 8]
        self.kind = register_type(self.dtype, lanes)
        self.none = "zeroinitializer"

    def of_mask(self, mask: str | None) -> str:
        """A mask as words; None always holds."""
        if mask is None:
            return f"splat (i{8 * self.dtype.itemsize} -1)"
        return self.writer.instruction(f"sext <{self.lanes} x i1> {mask} to {self.kind}")

    def mask(self, words: str) -> str:
        """Words as a mask. A fence keeps LLVM from comparing them before the shuffle, which would
        then be a shuffle of bits."""
        words = self.writer.fence(words, self.dtype, self.lanes)
        return self.writer.instruction(f"icmp slt {self.kind} {words}, zeroinitializer")


def load_transposed(
    memory: Memory,
    buffer: UOp,
    dtype: DType,
    where: TransposedPlace,
    lanes: int,
    ahead: str | None,
) -> list[str]:
    """Load contiguous values, each with its lanes far apart, and prefetch `ahead` elements on."""
    width, gates = _lane_gates(memory, where, lanes)
    rows = []
    for lane, (gate, holds) in enumerate(gates):
        offset = where.offsets[lane]
        if ahead is not None:
            memory.prefetch(buffer, dtype, offset, ahead)
        if holds is not None:
            offset = memory.safe(offset, holds)
        rows.append(memory.load_masked(buffer, dtype, offset, gate, width))
    return transpose(memory.writer, rows, dtype, width)[: len(where.gates)]


def store_transposed(
    memory: Memory,
    buffer: UOp,
    dtype: DType,
    values: list[str],
    where: TransposedPlace,
    lanes: int,
    is_streamed: bool,
) -> None:
    """Store contiguous values, each with its lanes far apart; streamed if there are no gates."""
    width, gates = _lane_gates(memory, where, lanes)
    rows = [*values, *["poison"] * (width - len(values))]
    for lane, row in enumerate(transpose(memory.writer, rows, dtype, lanes)):
        offset = where.offsets[lane]
        gate, _ = gates[lane]
        if is_streamed and gate is None:
            memory.stream(buffer, dtype, row, offset, width)
        else:
            memory.store(buffer, dtype, row, offset, 1, gate, width)


def store_interleaved(
    memory: Memory,
    buffer: UOp,
    dtype: DType,
    values: list[str],
    gates: list[str | None],
    offset: Offset,
    lanes: int,
) -> None:
    """Store values whose lanes alternate in memory, each where its gate holds."""
    words = Words(memory.writer, dtype, lanes)
    masks = [words.of_mask(gate) for gate in gates] if any(gates) else []
    for number in range(len(values)):
        row = _interleave(memory.writer, values, number, register_type(dtype, lanes), lanes)
        mask = None
        if masks:
            turns = _interleave(memory.writer, masks, number, words.kind, lanes)
            mask = words.mask(turns)
        memory.store(buffer, dtype, row, offset.plus(number * lanes), 1, mask, lanes)


def _interleave(writer: Writer, values: list[str], number: int, kind: str, lanes: int) -> str:
    """The `number`-th vector of the interleaved values, which have all of lane 0 first."""
    result = "poison"
    for turn, value in enumerate(values):
        picks = [
            lanes + place // len(values) if place % len(values) == turn else lane
            for lane, place in enumerate(range(number * lanes, (number + 1) * lanes))
        ]
        result = writer.shuffle(result, value, picks, kind)
    return result


def _lane_gates(memory: Memory, where: TransposedPlace, lanes: int) -> tuple[int, list[Gate]]:
    """The number of elements of each lane that are accessed at once, and the gate of each lane."""
    write = memory.writer.instruction
    width = max(1 << (len(where.gates) - 1).bit_length(), 2)
    rows = _mask_of(memory.writer, [*where.gates, *["false"] * (width - len(where.gates))])
    some = memory.any_lane(rows, width) if rows is not None and any(where.gates) else None
    if where.lane_gate is None:
        return width, [(rows, some)] * lanes
    gates: list[Gate] = []
    for lane in range(lanes):
        bit = write(f"extractelement <{lanes} x i1> {where.lane_gate}, i64 {lane}")
        mask = memory.writer.splat(bit, dtypes.bool_, width)
        gates.append(
            (
                mask if rows is None else write(f"and <{width} x i1> {mask}, {rows}"),
                bit if some is None else write(f"and i1 {bit}, {some}"),
            )
        )
    return width, gates


def _mask_of(writer: Writer, gates: list[str | None]) -> str | None:
    """A mask of scalar conditions, where None always holds; None if all hold."""
    if not any(gates):
        return None
    known = ", ".join("i1 false" if gate == "false" else "i1 true" for gate in gates)
    mask = f"<{known}>"
    for number, gate in enumerate(gates):
        if gate is not None and gate != "false":
            mask = writer.instruction(
                f"insertelement <{len(gates)} x i1> {mask}, i1 {gate}, i64 {number}"
            )
    return mask
