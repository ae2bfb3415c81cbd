"""Which rows and columns a block works on: heads in groups, those rows first that take longest."""

from __future__ import annotations

from ogive.devices.cuda.attention.attention_tiles import TILE_ROWS
from ogive.devices.cuda.attention.region_attention import Bound, RegionAttention
from ogive.devices.cuda.products.kernel_text import Index, KernelText, Parameter
from ogive.named import NamedTuple

SIZES = ("rows", "columns", "batch1", "batch2", "group", "row_tiles", "all_tiles")


def place_parameters() -> list[Parameter]:
    """Lengths, those of the inner batches, how many heads are a group, and how many tiles."""
    return [Parameter(name, "i32") for name in SIZES]


class TilePlace(NamedTuple):
    """Batches, the first row, how many blocks of columns count, how many of them as a whole, and
    the number of the last."""

    batch: tuple[Index, Index, Index]
    row: Index
    blocks: Index
    inside: Index
    last: Index


def find_place(text: KernelText, found: RegionAttention, block: int, number: Index) -> TilePlace:
    """Where the tile of a number is."""
    together = text.multiply("%group", "%row_tiles")
    rest = text.remainder(number, together)
    head = text.add(
        text.multiply(text.divide(number, together), "%group"), text.remainder(rest, "%group")
    )
    tile = text.divide(rest, "%group")
    bound = found.bound
    if bound is not None and bound.slope > 0:  # the last rows have most columns
        tile = text.subtract(text.subtract("%row_tiles", 1), tile)
    row = text.multiply(tile, TILE_ROWS)
    outer = text.divide(head, "%batch2")
    batch = (
        text.divide(outer, "%batch1"), text.remainder(outer, "%batch1"),
        text.remainder(head, "%batch2"),
    )  # fmt: skip
    least, most = _ends(text, bound, row)
    blocks = text.divide(text.add(most, block - 1), block)
    return TilePlace(batch, row, blocks, text.divide(least, block), text.subtract(blocks, 1))


def _ends(text: KernelText, bound: Bound | None, row: Index) -> tuple[Index, Index]:
    """Below which column all rows of a tile count, and below which some do."""
    if bound is None:
        return "%columns", "%columns"
    ends = [find_end(text, bound, each) for each in (row, text.add(row, TILE_ROWS - 1))]
    return (ends[0], ends[1]) if bound.slope >= 0 else (ends[1], ends[0])


def find_end(text: KernelText, bound: Bound | None, row: Index) -> Index:
    """Below which column a row counts: at least 1, so that there is something to go through."""
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
