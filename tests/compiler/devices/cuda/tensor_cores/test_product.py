"""What can be said of matrices in memory."""

from __future__ import annotations

import pytest

from ogive.compiler.devices.cuda.tensor_cores.product import Matrix, multiply
from ogive.compiler.ir import dtype as dtypes


@pytest.mark.parametrize(
    ("stride", "batch", "alignment", "unit"),
    [(64, 0, 256, 16), (68, 0, 256, 8), (66, 0, 256, 4), (65, 0, 256, 2), (64, 4, 256, 8),
     (64, 0, 2, 2)],
)  # fmt: skip
def test_units_divide_strides_and_addresses(
    stride: int, batch: int, alignment: int, unit: int
) -> None:
    matrix = Matrix(dtypes.bfloat16, stride, 1, (0, batch), alignment)
    assert matrix.unit(10, 20) == unit
    assert matrix.transposed.unit(20, 10) == unit


def test_one_line_needs_no_stride() -> None:
    assert Matrix(dtypes.bfloat16, 33, 1).unit(1, 33) == 16


def test_what_is_contiguous_nowhere_is_copied_by_element() -> None:
    assert Matrix(dtypes.float32, 64, 2).unit(8, 8) == 4


def test_which_axis_is_contiguous() -> None:
    plain = multiply(8, 16, 24, dtypes.float16)
    turned = multiply(8, 16, 24, dtypes.float16, left_transposed=True, right_transposed=True)
    assert (plain.left_is_k_major, plain.right_is_k_major) == (True, False)
    assert (turned.left_is_k_major, turned.right_is_k_major) == (False, True)
