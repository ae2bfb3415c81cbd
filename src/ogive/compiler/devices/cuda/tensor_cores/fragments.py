"""The layout of matrix elements in shared memory and in the registers of a warp.

A tile in shared memory is lines of bytes along its contiguous axis. Pieces of 16 bytes are
*swizzled*: piece `p` of line `l` lies at `p ^ (l mod 8)`, so that the same piece of eight lines
lies in eight different sets of banks.

An instruction multiplies 32 bytes along k. Of its fragments, lane `t` of a warp holds

    left    16 × 32 bytes, four words: rows t/4 and t/4 + 8, bytes 4 (t mod 4) and 16 later
    right   32 bytes × 8 columns, two words: column t/4, bytes 4 (t mod 4) and 16 later
    result  16 × 8 elements, two pairs: rows t/4 and t/4 + 8, columns 2 (t mod 4) and the next

`ldmatrix` loads four 8 × 16-byte matrices for a warp; lanes 8 i to 8 i + 7 supply the addresses of
the lines of matrix i. It can transpose elements of two bytes.
"""

from __future__ import annotations

from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText
from ogive.named import NamedTuple

PIECE = 16
"""The bytes that the swizzle keeps together."""
INSTRUCTION_BYTES = 32
"""The extent of an instruction along k, in bytes."""
BANKS = 128
"""The bytes that shared memory delivers at once."""
WORD = 4


class SharedTile(NamedTuple):
    """Lines of `line_bytes` in shared memory, with swizzled pieces."""

    lines: int
    line_bytes: int

    @property
    def nbytes(self) -> int:
        return self.lines * self.line_bytes

    def offset(self, text: KernelText, line: Index, piece: Index) -> Index:
        """The offset of a piece of a line. Lines eight apart differ by `8 * line_bytes`."""
        sharing = max(1, BANKS // self.line_bytes)
        turns = min(8, self.line_bytes // PIECE)
        turn = text.remainder(text.divide(line, sharing), turns)
        return text.add(
            text.multiply(line, self.line_bytes), text.multiply(text.xor(piece, turn), PIECE)
        )


class LinePlace(NamedTuple):
    """The line and the piece of it whose address a lane supplies to `ldmatrix`."""

    line: Index
    piece: Index


def lines_first(text: KernelText, lane: Index) -> LinePlace:
    """Lines 0–7, lines 8–15, then both again one piece later: the left matrix by rows, or the
    right one by rows with transposition."""
    return LinePlace(text.remainder(lane, 16), text.divide(lane, 16))


def pieces_first(text: KernelText, lane: Index) -> LinePlace:
    """Lines 0–7, the same one piece later, then both of lines 8–15: the right matrix by columns,
    or the left one by columns with transposition."""
    line = text.add(text.remainder(lane, 8), text.multiply(text.divide(lane, 16), 8))
    return LinePlace(line, text.remainder(text.divide(lane, 8), 2))


class Element(NamedTuple):
    """The row and column of an element of a result fragment."""

    row: Index
    column: Index


def result_place(text: KernelText, lane: Index) -> Element:
    """The first element of a lane: its neighbour is the next column, and 8 rows below are two more.

    >>> result_place(KernelText("", (), 32), 7)
    Element(row=1, column=6)
    """
    return Element(text.divide(lane, 4), text.multiply(text.remainder(lane, 4), 2))


def load_matrices(text: KernelText, address: Index, transposed: bool) -> list[str]:
    """Load four 8 × 8 matrices of two-byte elements; returns a word of each."""
    suffix = ".trans" if transposed else ""
    return text.assembly(
        f"ldmatrix.sync.aligned.m8n8.x4{suffix}.shared.b16 {{$0,$1,$2,$3}}, [$4];",
        ["i32"] * 4,
        [("i32", str(address))],
    )


def gather_word(
    text: KernelText, tile: SharedTile, base: Index, line: Index, along: Index, size: int
) -> str:
    """Gather a word of elements from consecutive lines, from `line` on, at byte `along`."""
    parts = []
    for each in range(WORD // size):
        piece, rest = text.divide(along, PIECE), text.remainder(along, PIECE)
        place = tile.offset(text, text.add(line, each), piece)
        parts.append(text.load_shared(f"i{8 * size}", text.sum(base, place, rest), size))
    if len(parts) == 1:
        return parts[0]
    word = text.instruction(f"zext i{8 * size} {parts[0]} to i32")
    for each, part in enumerate(parts[1:], 1):
        wide = text.instruction(f"zext i{8 * size} {part} to i32")
        moved = text.instruction(f"shl i32 {wide}, {8 * size * each}")
        word = text.instruction(f"or i32 {word}, {moved}")
    return word
