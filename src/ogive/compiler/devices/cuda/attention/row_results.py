"""The results of a thread's rows, stored from registers or through shared memory."""

from __future__ import annotations

from ogive.compiler.devices.cuda.attention import warpgroup_products as products
from ogive.compiler.devices.cuda.attention.attention_tiles import TILE_ROWS
from ogive.compiler.devices.cuda.attention.region_attention import RegionAttention, extent
from ogive.compiler.devices.cuda.attention.row_weights import (
    HALVES,
    AttentionValues,
    RowWeights,
    elementwise_nodes,
)
from ogive.compiler.devices.cuda.attention.tile_places import TilePlace
from ogive.compiler.devices.cuda.tensor_cores import warpgroup_instructions as ptx
from ogive.compiler.devices.cuda.tensor_cores.epilogue import MEMORY_TYPES
from ogive.compiler.devices.cuda.tensor_cores.fragments import SharedTile, lines_first
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText
from ogive.compiler.devices.cuda.tensor_cores.tiles import ROWS
from ogive.compiler.devices.cuda.tensor_cores.warpgroup_instructions import LINE
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.targets.target import Target


class RowResults:
    """Stores the results of a thread's two rows, `row` and the one 8 below."""

    def __init__(
        self, text: KernelText, target: Target, attention: RegionAttention, place: TilePlace,
        weights: RowWeights, row: Index, lane: Index,
    ) -> None:  # fmt: skip
        self.text, self.target, self.attention, self.place = text, target, attention, place
        self.weights, self.row, self.lane = weights, row, lane
        self.counters = weights.outer.counters

    def _values(self, known: list[str], sums: list[str]) -> list[str]:
        """The values to store: one per sum, or one per row if there are no sums."""
        attention = self.attention
        rows = [self._row_place(half, ended) for half, ended in enumerate(self._ended(known))]
        if attention.mixed is None:
            return [place.evaluate(attention.value) for place in rows]
        column = self.text.multiply(self.text.remainder(self.lane, 4), 2)
        values = []
        for at, value in enumerate(sums):
            counters: dict[UOp, Index] = {}
            if self._reads_columns:
                own = self.text.add(column, at // 4 * 8 + at % 2)
                depth = attention.depth
                last = extent(depth) - 1 if depth is not None else 0
                counters = {depth: self.text.minimum(own, last)} if depth else {}
            place = AttentionValues(
                self.text, self.target, counters, {attention.mixed: value}, [rows[at % 4 // 2]],
                unrounded=attention.value,
            )  # fmt: skip
            values.append(place.evaluate(attention.value))
        return values

    @property
    def _reads_columns(self) -> bool:
        return any(
            node.op is Op.LOAD and self.attention.depth in node.ranges
            for node in elementwise_nodes(self.attention.value, self._reduced)
        )

    @property
    def _reduced(self) -> set[UOp]:
        attention = self.attention
        peaks = [] if attention.softmax is None else [attention.softmax.peak]
        return {node for node in (*peaks, attention.total, attention.mixed) if node is not None}

    def _ended(self, known: list[str]) -> list[dict[UOp, str]]:
        return self.weights.ended(known)

    def _row_place(self, half: int, ended: dict[UOp, str]) -> AttentionValues:
        """The values at a row, with the divisor of its sums inverted once."""
        attention, text = self.attention, self.text
        place = AttentionValues(
            text, self.target, self.weights.rows[half].counters, ended, [self.weights.rows[half]]
        )
        inverted: dict[UOp, str] = {}
        for node in elementwise_nodes(attention.value, self._reduced):
            if node.op is Op.DIV and attention.mixed is not None:
                below = node.right.walk()
                if attention.mixed not in below and attention.depth not in node.right.ranges:
                    divisor = place.evaluate(node.right)
                    inverted[node.right] = text.instruction(f"fdiv float 1.0, {divisor}")
        place.inverted = inverted
        return place

    # By threads

    def store(self, known: list[str], sums: list[str]) -> None:
        """Store the elements that are inside the result."""
        text, attention = self.text, self.attention
        dtype, access = attention.value.dtype, attention.result
        kind, size = MEMORY_TYPES[dtype], dtype.itemsize
        values = self._values(known, sums)
        if kind not in ("float", "i32") and attention.mixed is not None:
            values = [text.instruction(f"fptrunc float {each} to {kind}") for each in values]
        first_lane = text.equal(text.remainder(self.lane, 4), 0)
        column = text.multiply(text.remainder(self.lane, 4), 2)
        for half in range(HALVES):
            row = text.add(self.row, 8 * half)
            within = text.less(row, "%rows")
            counters = {**self.counters, attention.row: row}
            terms = [
                text.wide_product(text.wide(counters[axis]), str(stride))
                for axis, stride in access.strides.items() if axis in counters
            ]  # fmt: skip
            offset = text.wide_sum(*terms, str(access.first))
            pointer = text.at(f"%slot{access.slot}", offset, size)
            if attention.mixed is None:
                inside = text.both(within, first_lane)
                text.store_if(inside, kind, self._narrowed(values[half]), pointer, size)
                continue
            for at, value in enumerate(values):
                if at % 4 // 2 != half:
                    continue
                own = text.add(column, at // 4 * 8 + at % 2)
                inside = text.both(within, text.less(own, extent(self._depth)))
                behind = text.wide_product(text.wide(own), str(access.stride(self._depth)))
                text.store_if(inside, kind, value, text.at(pointer, behind, size), size)

    def _narrowed(self, value: str) -> str:
        kind = MEMORY_TYPES[self.attention.value.dtype]
        if kind in ("float", "i32"):
            return value
        return self.text.instruction(f"fptrunc float {value} to {kind}")

    @property
    def _depth(self) -> UOp:
        assert self.attention.depth is not None
        return self.attention.depth

    # Through shared memory

    def stage(self, known: list[str], sums: list[str], to: Index, warp: Index) -> None:
        """Write results into boxes of 64 columns in shared memory, for the copying engine."""
        text, dtype = self.text, self.attention.value.dtype
        values = self._values(known, sums)
        words = [
            products.round_pair(text, dtype, values[at], values[at + 1])
            for at in range(0, len(values), 2)
        ]
        shared = SharedTile(ROWS, LINE)
        line, piece = lines_first(text, self.lane)
        line = text.add(line, text.multiply(warp, 16))
        for at in range(0, len(words), 4):  # 16 rows of a warp × 16 columns
            box, inside = divmod(4 * at, products.BOX)
            place = shared.offset(text, line, text.add(piece, inside // 8))
            ptx.store_matrices(
                text, text.sum(to, place, box * TILE_ROWS * LINE), words[at : at + 4]
            )
