"""The rows and columns that a block computes: heads in groups, the longest rows first.

In causal attention the first rows have few columns and the last ones many. A block takes pairs of
tiles, a long one with a short one, so that all blocks take equally long:

    8 tiles of rows    8+1, 7+2, 6+3, 5+4
"""

from __future__ import annotations

from ogive.compiler.devices.cuda.attention.attention_tiles import TILE_ROWS
from ogive.compiler.devices.cuda.attention.region_attention import Bound
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText, Parameter
from ogive.named import NamedTuple

SIZES = (
    "rows", "columns", "batch1", "batch2", "group", "row_tiles", "turns", "row_units", "all_units",
)  # fmt: skip


def place_parameters() -> list[Parameter]:
    """The parameters: lengths of the axes and of the inner batches, heads in a group, tiles of
    rows, tiles in a unit, and units of a head and of all heads."""
    return [Parameter(name, "i32") for name in SIZES]


class TilePlace(NamedTuple):
    """Batches, the first row, how many blocks of columns count, how many of them are not masked at
    all, and the number of the last."""

    batch: tuple[Index, Index, Index]
    row: Index
    blocks: Index
    inside: Index
    last: Index


def find_place(text: KernelText, bound: Bound | None, block: int, number: Index) -> TilePlace:
    """The place of the tile with a number."""
    blocks = text.special("nctaid.x")
    turn = text.divide(number, blocks)
    unit = text.add(
        text.multiply(text.divide(turn, "%turns"), blocks), text.remainder(number, blocks)
    )
    together = text.multiply("%group", "%row_units")
    rest = text.remainder(unit, together)
    head = text.add(
        text.multiply(text.divide(unit, together), "%group"), text.remainder(rest, "%group")
    )
    first: Index = text.divide(rest, "%group")
    last: Index = text.subtract(text.subtract("%row_tiles", 1), first)
    is_second = text.equal(text.remainder(turn, "%turns"), 1)
    if bound is not None and bound.slope > 0:  # the last rows have most columns
        first, last = last, first
    tile = text.choose(is_second, last, first)
    row = text.multiply(tile, TILE_ROWS)
    outer = text.divide(head, "%batch2")
    batch = (
        text.divide(outer, "%batch1"), text.remainder(outer, "%batch1"),
        text.remainder(head, "%batch2"),
    )  # fmt: skip
    least, most = _ends(text, bound, row)
    count = text.divide(text.add(most, block - 1), block)
    return TilePlace(batch, row, count, text.divide(least, block), text.subtract(count, 1))


def find_end_of_numbers(text: KernelText) -> Index:
    """The end of the tile numbers of this block, which takes one unit per turn."""
    block, blocks = text.special("ctaid.x"), text.special("nctaid.x")
    units = text.divide(text.sum(text.subtract("%all_units", block), blocks, -1), blocks)
    return text.add(block, text.multiply(text.multiply(units, "%turns"), blocks))


def _ends(text: KernelText, bound: Bound | None, row: Index) -> tuple[Index, Index]:
    """The ends of the columns that count for all rows of a tile, and for some."""
    if bound is None:
        return "%columns", "%columns"
    ends = [find_end(text, bound, each) for each in (row, text.add(row, TILE_ROWS - 1))]
    return (ends[0], ends[1]) if bound.slope >= 0 else (ends[1], ends[0])


def find_end(text: KernelText, bound: Bound | None, row: Index) -> Index:
    """The end of the columns that count for a row; at least 1, so that loops are not empty."""
    if bound is None:
        return "%columns"
    moved: Index = bound.first
    if bound.slope > 0:
        moved = text.add(row, bound.first)
    elif bound.slope < 0:
        moved = text.subtract(bound.first, row)
    types = ["i32", "i32"]
    least = text.intrinsic("i32", "smax.i32", types, [str(moved), "1"])
    return text.intrinsic("i32", "smin.i32", types, [least, "%columns"])
