"""Transposes tiles in registers: from rows to columns.

First, elements are exchanged within blocks of 16 bytes, where every machine can interleave two
vectors with one instruction; then whole blocks are exchanged. With 4 rows of 8 elements in blocks
of 4:

    rows      a0 a1 a2 a3 a4 a5 a6 a7    b0 ...                c0 ...    d0 ...
    within    a0 b0 c0 d0 a4 b4 c4 d4    a1 b1 c1 d1 a5 ...    ...       ...
    among     a0 b0 c0 d0    a1 b1 c1 d1    ...    a7 b7 c7 d7
"""

from __future__ import annotations

from ogive.compiler.devices.llvm.kernel_writer import Writer
from ogive.compiler.devices.llvm.llvm_types import register_type
from ogive.compiler.ir.dtype import DType

BLOCK_BYTES = 16
STAGES_TOGETHER = 2
"""The exchanges between two barriers. LLVM tries to merge every shuffle with its operands, and on
longer chains that takes longer than all its other work."""


def transpose(writer: Writer, rows: list[str], dtype: DType, length: int) -> list[str]:
    """The columns of a tile whose rows have `length` elements. Both counts are powers of two."""
    block = min(BLOCK_BYTES // dtype.itemsize, len(rows), length)
    joined = max(1, len(rows) // length)
    # If there are more rows than elements in a row, rows that are a block apart share a vector.
    vectors = [
        writer.join(rows[first : first + joined * block : block], dtype, length, length * joined)
        for start in range(0, len(rows), joined * block)
        for first in range(start, start + block)
    ]
    lanes = length * joined
    exchanges = _Exchanges(writer, dtype, block)
    groups = [
        exchanges.within_blocks(vectors[first : first + block], lanes, 1)
        for first in range(0, len(vectors), block)
    ]
    columns = [
        exchanges.among_blocks([group[number] for group in groups], lanes, length, block)
        for number in range(block)
    ]
    return [column[place] for place in range(length // block) for column in columns]


class _Exchanges:
    """Writes exchanges between vectors whose elements are in blocks of `block`."""

    def __init__(self, writer: Writer, dtype: DType, block: int) -> None:
        self.writer = writer
        self.dtype = dtype
        self.block = block

    def within_blocks(self, vectors: list[str], lanes: int, size: int) -> list[str]:
        """One vector for each place in a block: the first has the first column of each block, and
        so on. Pairs of vectors are interleaved by `size` elements.

            before   a0 a1 a2 a3    b0 b1 b2 b3    after   a0 b0 a1 b1    a2 b2 a3 b3
        """
        if size == self.block:
            return vectors
        vectors = self.settle(vectors, lanes, size)
        half = self.block // 2
        low = [
            source + start + first + place
            for start in range(0, lanes, self.block)
            for first in range(0, half, size)
            for source in (0, lanes)
            for place in range(size)
        ]
        lows, highs = self.exchange(vectors, lanes, low, half)
        return [
            *self.within_blocks(lows, lanes, 2 * size),
            *self.within_blocks(highs, lanes, 2 * size),
        ]

    def among_blocks(self, vectors: list[str], lanes: int, length: int, size: int) -> list[str]:
        """One vector for each block of a row of `length`: the first has the first block of each
        row, and so on. `size` elements of a row are in separate vectors already.

            before   A0 A1 A2 A3    B0 B1 B2 B3    after   A0 B0    A1 B1    A2 B2    A3 B3
        """
        if size == length:
            return vectors
        vectors = self.settle(vectors, lanes, size)
        even = [
            start + place
            for start in range(0, lanes * min(len(vectors), 2), 2 * self.block)
            for place in range(self.block)
        ]
        if len(vectors) == 1:
            vectors = [*vectors, "poison"]
        evens, odds = self.exchange(vectors, lanes, even, self.block)
        halves = [self.among_blocks(half, len(even), length, 2 * size) for half in (evens, odds)]
        return [column for pair in zip(*halves, strict=True) for column in pair]

    def exchange(
        self, vectors: list[str], lanes: int, low: list[int], step: int
    ) -> tuple[list[str], list[str]]:
        """The elements that `low` picks from each pair of vectors, and those `step` places after
        them."""
        kind = register_type(self.dtype, lanes)
        pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
        high = [pick + step for pick in low]
        return (
            [self.writer.shuffle(*pair, low, kind) for pair in pairs],
            [self.writer.shuffle(*pair, high, kind) for pair in pairs],
        )

    def settle(self, vectors: list[str], lanes: int, size: int) -> list[str]:
        """The same vectors, behind a barrier after every `STAGES_TOGETHER` stages."""
        stages = size.bit_length() - 1
        if stages == 0 or stages % STAGES_TOGETHER:
            return vectors
        return [self.writer.fence(vector, self.dtype, lanes) for vector in vectors]
