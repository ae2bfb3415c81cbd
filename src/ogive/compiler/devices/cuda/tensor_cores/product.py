"""The description of a product: sizes, element types, layouts of the matrices in memory.

    result[b, i, j] = epilogue(sum over l of left[b, i, l] * right[b, l, j])

A `Matrix` has two axes, each with a stride in elements, and strides for up to two batch axes; a
stride of 0 repeats the matrix. Sizes and strides are arguments of the kernels, so a kernel serves
all sizes: it depends only on the types, on which axis is contiguous, and on how many bytes can be
copied at once (`Matrix.unit`).
"""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.named import NamedTuple

WIDEST_COPY = 16
"""The most bytes that a thread copies at once."""


class Matrix(NamedTuple):
    """A matrix in memory: strides of its rows, columns and batch axes, in elements.

    `alignment` is the alignment of its first element, in bytes.
    """

    dtype: DType
    row: int
    column: int
    batch: tuple[int, int] = (0, 0)
    alignment: int = 256

    @property
    def transposed(self) -> Matrix:
        return self._replace(row=self.column, column=self.row)

    def unit(self, rows: int, columns: int) -> int:
        """How many bytes along the contiguous axis can be copied at once, at most 16.

        >>> Matrix(dtypes.bfloat16, row=36, column=1).unit(5, 36)
        8
        """
        size = self.dtype.itemsize
        along, across, count = (
            (self.column, self.row, rows) if self.column == 1 else (self.row, self.column, columns)
        )
        if along != 1:
            return size
        unit = min(WIDEST_COPY, self.alignment)
        strides = [self.batch[0], self.batch[1], across if count > 1 else 0]
        while unit > size and any(stride * size % unit for stride in strides):
            unit //= 2
        return unit


class Product(NamedTuple):
    """`m` × `n` results, each a sum of `k` products, for `batch` pairs of matrices."""

    m: int
    n: int
    k: int
    left: Matrix
    right: Matrix
    result: Matrix
    batch: tuple[int, int] = (1, 1)
    tf32: bool = False  # whether f32 operands may be rounded to tf32

    @property
    def operand(self) -> DType:
        """The element type of the operands."""
        return self.left.dtype

    @property
    def accumulator(self) -> DType:
        """The element type of the sums."""
        return dtypes.int32 if self.operand.is_integer else dtypes.float32

    @property
    def batches(self) -> int:
        """The number of products."""
        return self.batch[0] * self.batch[1]

    @property
    def left_is_k_major(self) -> bool:
        """Whether k is the contiguous axis of the left matrix: it is stored by rows."""
        return self.left.row != 1 or self.left.column == 1

    @property
    def right_is_k_major(self) -> bool:
        """Whether k is the contiguous axis of the right matrix: it is stored by columns."""
        return self.right.column != 1 or self.right.row == 1


def multiply(
    m: int, n: int, k: int, dtype: DType, result: DType | None = None, *,
    left_transposed: bool = False, right_transposed: bool = False,
) -> Product:
    """Describe a product of two dense matrices, each of which may be stored transposed.

    >>> multiply(4, 6, 8, dtypes.bfloat16, right_transposed=True).right
    Matrix(dtype=ogive.bfloat16, row=1, column=8, batch=(0, 0), alignment=256)
    """  # fmt: skip
    left = Matrix(dtype, 1, m) if left_transposed else Matrix(dtype, k, 1)
    right = Matrix(dtype, 1, k) if right_transposed else Matrix(dtype, n, 1)
    return Product(m, n, k, left, right, Matrix(result or dtype, n, 1), tf32=True)
