"""Epilogues: steps from a sum to the stored result, such as scales, biases, activations, casts.

Registers hold results as pairs of neighbours in a row. A *step* writes elementwise code for a pair,
and may have kernel parameters, from which it reads at the pair's place. Places beyond the edge of
the result are clamped to it, so that every read of a step is in bounds.
"""

from __future__ import annotations

from typing import Protocol

from ogive.compiler.devices.cuda.tensor_cores.kernel_text import Index, KernelText, Parameter
from ogive.compiler.devices.cuda.tensor_cores.product import Matrix, Product
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.named import NamedTuple

MEMORY_TYPES = {
    dtypes.float16: "half", dtypes.bfloat16: "bfloat", dtypes.float32: "float",
    dtypes.int32: "i32",
}  # fmt: skip


class Place(NamedTuple):
    """The place of a pair in the result, with the column of each of its two elements."""

    batch: tuple[Index, Index]
    row: Index
    columns: tuple[Index, Index]


class Step(Protocol):
    """One elementwise step on pairs of sums or of the results of earlier steps."""

    def parameters(self, number: int) -> tuple[Parameter, ...]:
        """The parameters of the step; `number` makes their names unique among the steps."""

    def write(self, text: KernelText, number: int, place: Place, pair: list[str]) -> list[str]:
        """Write the step; returns the names of the new pair."""


Steps = tuple[Step, ...]


def step_parameters(steps: Steps) -> list[Parameter]:
    """The parameters of all steps."""
    return [each for number, step in enumerate(steps) for each in step.parameters(number)]


def finish_pair(
    text: KernelText, steps: Steps, place: Place, pair: list[str], result: DType
) -> list[str]:
    """Apply all steps to a pair of sums; returns elements of the result."""
    for number, step in enumerate(steps):
        pair = step.write(text, number, place, pair)
    kind = MEMORY_TYPES[result]
    if kind in ("float", "i32"):
        return pair
    return [text.instruction(f"fptrunc float {each} to {kind}") for each in pair]


class Result(NamedTuple):
    """The memory of the results, and how wide a store may be."""

    matrix: Matrix
    in_pairs: bool  # whether one store writes two neighbours

    @staticmethod
    def of(product: Product) -> Result:
        matrix = product.result
        size = matrix.dtype.itemsize
        fits = matrix.column == 1 and matrix.unit(product.m, product.n) >= 2 * size
        return Result(matrix, fits and product.n % 2 == 0)



class PairPlace(NamedTuple):
    """The distance of a pair of a lane below and to the right of the lane's first pair."""

    below: int
    right: int


class PairWriter:
    """Finishes the pairs of a lane and stores the elements that are inside the result.

    Args:
        text: the kernel to write to.
        steps: the steps of the epilogue.
        result: the memory of the results.
        batch: the batch of the result.
        row: the row of the lane's first pair.
        column: the column of its first element.
    """

    def __init__(
        self, text: KernelText, steps: Steps, result: Result, batch: tuple[Index, Index],
        row: Index, column: Index,
    ) -> None:  # fmt: skip
        self.text, self.steps, self.result = text, steps, result
        self.batch, self.row, self.column = batch, row, column
        self.last = (text.subtract("%m", 1), text.subtract("%n", 1))
        self._rows: dict[int, tuple[str, str]] = {}
        self._inside: dict[int, str] = {}

    def finish(self, place: PairPlace, pair: list[str]) -> list[str]:
        """Convert a pair of sums to elements of the result."""
        text = self.text
        row = text.add(self.row, place.below)
        columns = [text.add(self.column, place.right + each) for each in (0, 1)]
        if self.steps:
            row = text.minimum(row, self.last[0])
            columns = [text.minimum(each, self.last[1]) for each in columns]
        where = Place(self.batch, row, (columns[0], columns[1]))
        return finish_pair(text, self.steps, where, pair, self.result.matrix.dtype)

    def store(self, place: PairPlace, pair: list[str]) -> None:
        """Store a finished pair."""
        text, dtype = self.text, self.result.matrix.dtype
        kind, size = MEMORY_TYPES[dtype], dtype.itemsize
        pointer, within = self._row(place.below)
        if self.result.in_pairs:
            both, inside = pack(text, kind, pair), text.both(within, self._column(place.right))
            kinds = f"<2 x {kind}>"
            text.store_if(inside, kinds, both, pointer, 2 * size, place.right * size)
            return
        for each, value in enumerate(pair):
            right = place.right + each
            inside = text.both(within, self._column(right))
            if self.result.matrix.column == 1:
                text.store_if(inside, kind, value, pointer, size, right * size)
            else:
                offset = text.wide_product(str(right), "%result_column")
                text.store_if(inside, kind, value, text.at(pointer, offset, size), size)

    def _row(self, below: int) -> tuple[str, str]:
        """The address of the lane's first element in a row, and whether the row is inside."""
        place = self._rows.get(below)
        if place is None:
            text, matrix = self.text, self.result.matrix
            row = text.add(self.row, below)
            along = "1" if matrix.column == 1 else "%result_column"
            offset = text.wide_sum(
                text.wide_product(text.wide(self.batch[0]), "%result_batch0"),
                text.wide_product(text.wide(self.batch[1]), "%result_batch1"),
                text.wide_product(text.wide(row), "%result_row"),
                text.wide_product(text.wide(self.column), along),
            )
            pointer = text.at("%result", offset, matrix.dtype.itemsize)
            place = self._rows[below] = pointer, text.less(row, "%m")
        return place

    def _column(self, right: int) -> str:
        """Whether the column is inside the result."""
        is_inside = self._inside.get(right)
        if is_inside is None:
            column = self.text.add(self.column, right)
            is_inside = self._inside[right] = self.text.less(column, "%n")
        return is_inside


def pack(text: KernelText, kind: str, pair: list[str]) -> str:
    """Pack two elements into a vector."""
    first = text.instruction(f"insertelement <2 x {kind}> poison, {kind} {pair[0]}, i32 0")
    return text.instruction(f"insertelement <2 x {kind}> {first}, {kind} {pair[1]}, i32 1")
