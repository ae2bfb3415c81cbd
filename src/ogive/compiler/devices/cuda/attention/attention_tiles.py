"""How an attention is tiled: operands in shared memory, blocks of columns, order of the tiles."""

from __future__ import annotations

from ogive.compiler.devices.cuda.attention.region_attention import RegionAttention, extent
from ogive.compiler.devices.cuda.attention.warpgroup_products import BOX
from ogive.compiler.devices.cuda.products.region_product import Access
from ogive.compiler.devices.cuda.tensor_cores.tiles import ROWS, WARPGROUP
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import LINE
from ogive.compiler.ir.node import UOp
from ogive.named import NamedTuple

BARRIERS = 1024
"""Bytes at the beginning of shared memory for barriers; also the alignment of the tiles."""
CONSUMERS = 2
TILE_ROWS = CONSUMERS * ROWS
THREADS = (CONSUMERS + 1) * WARPGROUP
MOST_GROUP = 16
"""The most heads whose rows are computed together, so that their columns stay in the L2 cache."""


class Operand(NamedTuple):
    """Lines in memory: an access, the counter of the lines, and the counter along a line."""

    access: Access
    line: UOp
    inner: UOp

    @property
    def boxes(self) -> int:
        """How many boxes of 64 elements a line takes."""
        return -(-extent(self.inner) // BOX)

    def strides(self, batch: tuple[UOp, ...]) -> tuple[int, ...]:
        """The strides of the inner axis, of the lines and of the batches, the last batch first."""
        access = self.access
        return (
            access.stride(self.inner), access.stride(self.line),
            *[access.stride(axis) for axis in reversed(batch)],
        )  # fmt: skip


class AttentionTile(NamedTuple):
    """The operands of rows and of columns, the numbers of those that scores and the product read,
    the columns of a block, and the stages of the ring."""

    rows: tuple[Operand, ...]
    columns: tuple[Operand, ...]
    score_rows: tuple[int, ...]
    score_columns: tuple[int, ...]
    mixed_columns: int | None
    block: int
    stages: int

    @property
    def row_bytes(self) -> int:
        """The bytes of shared memory for rows, whose place the results take later."""
        given = sum([operand.boxes for operand in self.rows])
        results = 0 if self.mixed_columns is None else self.columns[self.mixed_columns].boxes
        return max(given, results) * TILE_ROWS * LINE

    def column_bytes(self, number: int) -> int:
        return self.columns[number].boxes * self.block * LINE

    @property
    def stage_bytes(self) -> int:
        return sum([self.column_bytes(number) for number in range(len(self.columns))])

    @property
    def shared_bytes(self) -> int:
        return BARRIERS + self.row_bytes + self.stages * self.stage_bytes


def choose_tile(attention: RegionAttention, shared_bytes: int) -> AttentionTile:
    """Choose the tile of an attention: 128 columns if registers can hold one score of each."""
    rows: list[Operand] = []
    columns: list[Operand] = []

    def place(operands: list[Operand], operand: Operand) -> int:
        """The number of an operand; operands that read the same lines share one."""
        same = [
            number for number, other in enumerate(operands)
            if other.access.slot == operand.access.slot
            and other.access.first == operand.access.first
            and other.strides(attention.batch) == operand.strides(attention.batch)
            and extent(other.inner) == extent(operand.inner)
        ]  # fmt: skip
        if same:
            return same[0]
        operands.append(operand)
        return len(operands) - 1

    score_rows = [place(rows, Operand(s.left, attention.row, s.terms)) for s in attention.scores]
    score_columns = [
        place(columns, Operand(s.right, attention.column, s.terms)) for s in attention.scores
    ]
    mixed = None
    if attention.values is not None and attention.depth is not None:
        mixed = place(columns, Operand(attention.values, attention.column, attention.depth))
    tile = AttentionTile(
        tuple(rows), tuple(columns), tuple(score_rows), tuple(score_columns), mixed,
        128 if len(attention.scores) == 1 else 64, 2,
    )  # fmt: skip
    room = shared_bytes - BARRIERS - tile.row_bytes
    return tile._replace(stages=min(4, room // tile.stage_bytes))


def last_column(attention: RegionAttention, row: int) -> int:
    """The end of the columns whose weights in a row are not 0; at least 1."""
    columns = extent(attention.column)
    if attention.bound is None:
        return columns
    return min(max(attention.bound.first + attention.bound.slope * row, 1), columns)


def most_edges(attention: RegionAttention, block: int) -> int:
    """The most blocks of columns that are partly masked for some rows."""
    most = 0
    for first in range(0, extent(attention.row), TILE_ROWS):
        ends = [last_column(attention, first), last_column(attention, first + TILE_ROWS - 1)]
        most = max(most, -(-max(ends) // block) - min(ends) // block)
    return most


def head_group(batches: int) -> int:
    """How many heads are computed together: a divisor of their number."""
    return max([size for size in range(1, MOST_GROUP + 1) if batches % size == 0])


def tiles_together(attention: RegionAttention, row_tiles: int, all_tiles: int, blocks: int) -> int:
    """How many tiles of rows form a unit of work, for that many `blocks` of columns.

    Two if tiles differ in their columns: a long one is paired with a short one. If the number of
    tiles is odd, the middle one is computed twice.
    """
    is_uneven = attention.bound is not None and attention.bound.slope != 0
    is_cheap = row_tiles % 2 == 0 or row_tiles > 8
    return 2 if is_uneven and is_cheap and all_tiles > blocks else 1
