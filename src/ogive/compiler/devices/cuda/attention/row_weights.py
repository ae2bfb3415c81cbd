"""The weights of a block of columns, computed in registers from the scores.

    m' = max(m, largest score);  w = 2^((s - m') c);  l' = l 2^((m - m') c) + sum of w

where `c` is the scale of the scores times log₂ e. The exponentials are the hardware's, with a
relative error of at most 2⁻²², and are rounded to 16 bits next.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence

from ogive.compiler.devices.cuda.attention import warpgroup_products as products
from ogive.compiler.devices.cuda.attention.region_attention import RegionAttention
from ogive.compiler.devices.cuda.attention.tile_places import TilePlace
from ogive.compiler.devices.cuda.products.element_values import ElementValues
from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText
from ogive.compiler.devices.llvm.llvm_types import constant
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.targets.target import Target

HALVES = 2
"""The rows of a thread: one, and another eight below."""
_MINUS_INFINITY = constant(dtypes.float32, -math.inf, 1)
_LOG2_E = 1.4426950408889634


class AttentionValues(ElementValues):
    """Values at a place, with the hardware's exponentials; a divisor of a row is inverted once."""

    inverted: Mapping[UOp, str] = {}

    def apply(self, node: UOp, source: DType, operands: list[str]) -> str:
        if node.op is Op.EXP:
            factor = constant(dtypes.float32, _LOG2_E, 1)
            exponent = self.text.instruction(f"fmul float {operands[0]}, {factor}")
            return products.power_of_two(self.text, exponent)
        if node.op is Op.DIV:
            inverse = self.find_inverse(node.right)
            if inverse is not None:
                return self.text.instruction(f"fmul float {operands[0]}, {inverse}")
        return super().apply(node, source, operands)

    def find_inverse(self, divisor: UOp) -> str | None:
        places: list[ElementValues] = [self, *self.around]
        for place in places:
            inverse = place.inverted.get(divisor) if isinstance(place, AttentionValues) else None
            if inverse is not None:
                return inverse
        return None


def at_hand(attention: RegionAttention) -> set[UOp]:
    """The reductions of an attention, which the kernel holds and no element value recomputes."""
    sums = [score.total for score in attention.scores]
    peaks = [] if attention.softmax is None else [attention.softmax.peak]
    ends = [node for node in (attention.total, attention.mixed) if node is not None]
    return {*sums, *peaks, *ends}


def elementwise_nodes(value: UOp, stops: Collection[UOp]) -> list[UOp]:
    """The nodes that threads compute to get a value."""
    order: list[UOp] = []
    waiting, seen = [value], set(stops)
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        order.append(node)
        if node.op is not Op.LOAD and node.dtype is not dtypes.index:
            waiting += node.src
    return order


def loaded_slots(attention: RegionAttention) -> set[int]:
    """The slots of the buffers whose elements threads load themselves."""
    nodes = [
        node for value in (attention.weight, attention.value)
        for node in elementwise_nodes(value, at_hand(attention))
    ]  # fmt: skip
    return {node.place.base.slot for node in nodes if node.op is Op.LOAD}


class RowWeights:
    """Computes the weights of a thread's two rows.

    Args:
        text: the kernel to write to.
        target: the processor.
        attention: the attention to compute.
        place: the place of the tile.
        row: the first of the two rows.
        lane: the thread's lane in its warp.
    """

    def __init__(
        self, text: KernelText, target: Target, attention: RegionAttention, place: TilePlace,
        row: Index, lane: Index,
    ) -> None:  # fmt: skip
        self.text, self.target, self.attention = text, target, attention
        counters = dict(zip(attention.batch, place.batch[3 - len(attention.batch) :], strict=True))
        known = {} if attention.bound is None else {attention.bound.condition: "true"}
        last = text.subtract("%rows", 1)
        self.column = text.multiply(text.remainder(lane, 4), 2)
        self.rows: list[AttentionValues] = []
        self.ends: list[Index] = []
        stops = at_hand(attention)
        nodes = elementwise_nodes(attention.weight, stops)
        around = {*attention.batch, attention.row}
        for half in range(HALVES):
            own = text.add(row, 8 * half)
            place_of_row = AttentionValues(
                text, target, {**counters, attention.row: text.minimum(own, last)}, known
            )
            for node in nodes:
                if _is_of(node, around, stops) and node is not attention.weight:
                    place_of_row.evaluate(node)
            self.rows.append(place_of_row)
            self.ends.append(self._end(own))
        outer = AttentionValues(text, target, counters, known)
        self.outer = outer
        beside = {*attention.batch, attention.column}
        self.column_nodes = [n for n in nodes if _is_of(n, beside, stops)]
        self.column_nodes = [n for n in self.column_nodes if attention.column in n.ranges]
        conditions = set(known)
        self.needs_columns = any(
            node.dtype is dtypes.index and attention.column in node.ranges
            for node in elementwise_nodes(attention.weight, stops | conditions)
        ) or any(attention.column in n.ranges for n in nodes if n.op is Op.LOAD)
        self.factor = self._find_factor()

    def _end(self, row: Index) -> Index:
        """The end of the columns that count for a row; it may be negative."""
        bound, text = self.attention.bound, self.text
        if bound is None:
            return "%columns"
        moved: Index = bound.first
        if bound.slope > 0:
            moved = text.add(row, bound.first)
        elif bound.slope < 0:
            moved = text.subtract(bound.first, row)
        return text.intrinsic("i32", "smin.i32", ["i32", "i32"], [str(moved), "%columns"])

    def _find_factor(self) -> float | None:
        """The scale of the scores, if nothing but scaling and the mask precedes the softmax."""
        softmax, bound = self.attention.softmax, self.attention.bound
        if softmax is None or len(self.attention.scores) != 1:
            return None
        node, factor = softmax.seen, 1.0
        while node is not self.attention.scores[0].total:
            if node.op is Op.WHERE and bound is not None and node.condition is bound.condition:
                node = node.if_true
            elif node.op is Op.MUL and node.right.op is Op.CONST and node.right.literal > 0:
                node, factor = node.left, factor * node.right.literal
            else:
                return None
        return factor

    @property
    def initial(self) -> list[str]:
        """The state of the rows before any score: the largest scores, if there is a softmax, and
        the sums of weights, if the region needs them."""
        peaks = [] if self.attention.softmax is None else [_MINUS_INFINITY] * HALVES
        return peaks + ([] if self.attention.total is None else ["0.0"] * HALVES)

    def compute(
        self, scores: Sequence[list[str]], block: Index, known: Sequence[str], is_edge: bool
    ) -> tuple[list[str], list[str], list[str]]:
        """The new state of the rows, the weights, and the factors that rescale the sums so far."""
        text, attention = self.text, self.attention
        first: Index = 0
        width = 2 * len(scores[0])
        if is_edge or self.needs_columns:
            first = text.add(text.multiply(block, width), self.column)
        places = self._element_places(scores, first, is_edge)
        peaks, totals = list(known[:HALVES]), list(known[-HALVES:])
        factors: list[str] = []
        if attention.softmax is None:
            values = [place.evaluate(attention.weight) for place in places]
            if is_edge:
                values = self._leave_out(values, first, "0.0")
        else:
            if self.factor is None:
                seen = [place.evaluate(attention.softmax.seen) for place in places]
            else:
                seen = list(scores[0])
            if is_edge:
                seen = self._leave_out(seen, first, _MINUS_INFINITY)
            peaks, factors, values = self._exponentials(seen, peaks)
            for place, value in zip(places, values, strict=True):
                place.values[attention.softmax.exponential] = value
            values = [place.evaluate(attention.weight) for place in places]
        state = [] if attention.softmax is None else peaks
        if attention.total is not None:
            state = state + self._add_up(totals, values, factors)
        return state, values, factors

    def _element_places(
        self, scores: Sequence[list[str]], first: Index, is_edge: bool
    ) -> list[AttentionValues]:
        text, attention = self.text, self.attention
        columns: dict[int, AttentionValues] = {}
        places: list[AttentionValues] = []
        for at in range(len(scores[0])):
            behind = at // 4 * 8 + at % 2
            if behind not in columns:
                column: Index = 0
                if self.needs_columns:
                    column = text.add(first, behind)
                    if is_edge:
                        column = text.minimum(column, text.subtract("%columns", 1))
                columns[behind] = AttentionValues(
                    text, self.target, {attention.column: column}, {}, [self.outer]
                )
                for node in self.column_nodes:
                    columns[behind].evaluate(node)
            totals = [score.total for score in attention.scores]
            known = {total: each[at] for total, each in zip(totals, scores, strict=True)}
            around = [columns[behind], self.rows[at % 4 // 2]]
            places.append(AttentionValues(text, self.target, {}, known, around))
        return places

    def _leave_out(self, values: list[str], first: Index, instead: str) -> list[str]:
        """The values, replaced by `instead` in the columns that do not count."""
        text, counted = self.text, []
        for at, value in enumerate(values):
            column = text.add(first, at // 4 * 8 + at % 2)
            end = self.ends[at % 4 // 2]
            counts = text.instruction(f"icmp slt i32 {column}, {end}")
            counted.append(
                text.instruction(f"select i1 {counts}, float {value}, float {instead}")
            )
        return counted

    def _exponentials(
        self, seen: list[str], before: list[str]
    ) -> tuple[list[str], list[str], list[str]]:
        """The new maxima, the factors that rescale sums of the old maxima, and the weights."""
        text = self.text
        scale = constant(dtypes.float32, (self.factor or 1.0) * _LOG2_E, 1)
        peaks, factors, offsets = [], [], []
        for half in range(HALVES):
            own = [value for at, value in enumerate(seen) if at % 4 // 2 == half]
            largest = _fold(own, lambda x, y: products.maximum(text, x, y))
            for distance in (1, 2):
                other = products.exchange(text, largest, distance)
                largest = products.maximum(text, largest, other)
            peak = products.maximum(text, before[half], largest)
            # A row of which no column counts yet is taken relative to 0.
            is_none = text.instruction(f"fcmp oeq float {peak}, {_MINUS_INFINITY}")
            used = text.instruction(f"select i1 {is_none}, float 0.0, float {peak}")
            scaled = text.instruction(f"fmul float {used}, {scale}")
            offset = text.instruction(f"fneg float {scaled}")
            moved = products.multiply_add(text, before[half], scale, offset)
            peaks.append(peak)
            offsets.append(offset)
            factors.append(products.power_of_two(text, moved))
        values = [
            products.power_of_two(
                text, products.multiply_add(text, value, scale, offsets[at % 4 // 2])
            )
            for at, value in enumerate(seen)
        ]
        return peaks, factors, values

    def _add_up(self, totals: list[str], values: list[str], factors: list[str]) -> list[str]:
        text, added_up = self.text, []
        for half in range(HALVES):
            own = [value for at, value in enumerate(values) if at % 4 // 2 == half]
            added = _fold(own, lambda x, y: text.instruction(f"fadd float {x}, {y}"))
            if factors:
                total = products.multiply_add(text, totals[half], factors[half], added)
            else:
                total = text.instruction(f"fadd float {totals[half]}, {added}")
            added_up.append(total)
        return added_up

    def scale(self, sums: list[str], factors: list[str]) -> list[str]:
        """The sums rescaled to the new maxima."""
        if not factors:
            return sums
        return [
            self.text.instruction(f"fmul float {value}, {factors[at % 4 // 2]}")
            for at, value in enumerate(sums)
        ]

    def words(self, values: list[str]) -> list[str]:
        """The weights rounded and packed, two to a word."""
        return [
            products.round_pair(self.text, self.attention.dtype, values[at], values[at + 1])
            for at in range(0, len(values), 2)
        ]

    def ended(self, known: Sequence[str]) -> list[dict[UOp, str]]:
        """The final reductions of each row, after all columns."""
        text, attention = self.text, self.attention
        results: list[dict[UOp, str]] = [{} for _ in range(HALVES)]
        for half, values in enumerate(results):
            if attention.softmax is not None:
                peak = known[half]
                if self.factor not in (None, 1.0):
                    scale = constant(dtypes.float32, self.factor or 1.0, 1)
                    peak = text.instruction(f"fmul float {peak}, {scale}")
                values[attention.softmax.peak] = peak
            if attention.total is not None:
                total = known[len(known) - HALVES + half]
                for distance in (1, 2):
                    other = products.exchange(text, total, distance)
                    total = text.instruction(f"fadd float {total}, {other}")
                values[attention.total] = total
        return results


def _is_of(node: UOp, counters: set[UOp], stops: set[UOp]) -> bool:
    """Whether a value depends only on loads, constants and these counters."""
    if node.op is Op.CONST or node.dtype is dtypes.index or not node.ranges <= counters:
        return False
    return not any(each in stops for each in node.walk())


def _fold(values: list[str], join: Callable[[str, str], str]) -> str:
    """Combine all values in a binary tree."""
    while len(values) > 1:
        paired = [join(*values[at : at + 2]) for at in range(0, len(values) - 1, 2)]
        values = paired + ([values[-1]] if len(values) % 2 else [])
    return values[0]
