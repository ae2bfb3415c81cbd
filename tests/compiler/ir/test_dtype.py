"""Promotion is PyTorch's, for every pair of dtypes and every strength of operand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy
import pytest
import torch

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import ALL, DType, promote, result_type, to_dtype
from ogive.errors import DtypeError
from tests.raising import raises

TORCH: dict[DType, Any] = {
    dtype: getattr(torch, {"float8_e4m3": "float8_e4m3fn"}.get(dtype.name, dtype.name))
    for dtype in ALL
}
OURS = {theirs: ours for ours, theirs in TORCH.items()} | {torch.complex32: dtypes.complex64}
PAIRS = list(itertools.product(ALL, repeat=2))
WIDE_UNSIGNED = {dtypes.uint16, dtypes.uint32, dtypes.uint64}


def is_ours_alone(*mixed: DType) -> bool:
    """Whether PyTorch refuses what we take, or takes what we refuse."""
    return bool(WIDE_UNSIGNED & set(mixed)) or any(dtype.is_storage_only for dtype in mixed)


@pytest.mark.parametrize("left, right", PAIRS, ids=[f"{a.name}-{b.name}" for a, b in PAIRS])
def test_promotion_of_two_dtypes(left: DType, right: DType) -> None:
    try:
        expected = OURS[torch.promote_types(TORCH[left], TORCH[right])]
    except RuntimeError:
        assert is_ours_alone(left, right)
        return
    if left is not right and is_ours_alone(left, right):
        check_own_promotion(left, right)
    else:
        assert promote(left, right) is expected


def check_own_promotion(left: DType, right: DType) -> None:
    try:
        found = promote(left, right)
    except DtypeError:
        return
    if not found.is_float:
        for dtype in (left, right):
            assert found.limits[0] <= dtype.limits[0] and dtype.limits[1] <= found.limits[1]


@pytest.mark.parametrize("ranks", [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_tensors_without_axes_are_weak(ranks: tuple[int, int]) -> None:
    for left, right in PAIRS:
        if is_ours_alone(left, right):
            continue
        operands = [
            torch.zeros((2,) * n, dtype=TORCH[d]) for d, n in zip((left, right), ranks, strict=True)
        ]
        expected = OURS[torch.result_type(*operands)]
        found = result_type([(left, ranks[0]), (right, ranks[1])])
        assert found is expected, (left, right)


@pytest.mark.parametrize("scalar", [True, 3, 2.5, 1j])
@pytest.mark.parametrize("rank", [0, 1])
def test_python_numbers_are_weaker_still(scalar: complex, rank: int) -> None:
    for dtype in ALL:
        if is_ours_alone(dtype):
            continue
        expected = OURS[torch.result_type(torch.zeros((2,) * rank, dtype=TORCH[dtype]), scalar)]
        assert result_type([(dtype, rank)], [scalar]) is expected, dtype


@pytest.mark.parametrize("dtype", ALL, ids=lambda dtype: dtype.name)
def test_integers_wrap_and_floats_round_as_numpy_has_it(dtype: DType) -> None:
    for value in (0, 1, -1, 127, 128, 255, 256, 65535, 2**31, 2**63, -(2**63) - 1):
        if dtype.is_float:
            with numpy.errstate(over="ignore"):
                expected = float(numpy.float64(value).astype(dtype.numpy))
            found = dtype.canonical(value)
            assert found == expected or (math.isnan(found) and math.isnan(expected))
        elif dtype.is_complex:
            number = complex(value, -value / 3)
            assert dtype.canonical(number) == complex(numpy.complex128(number).astype(dtype.numpy))
        elif dtype.is_bool:
            assert dtype.canonical(value) is bool(value)
        else:
            masked = numpy.array([value % 2**64], dtype=numpy.uint64).astype(dtype.numpy)
            assert dtype.canonical(value) == int(masked[0])


def test_dtypes_are_found_by_any_name() -> None:
    for given in ("float32", "float", float, numpy.float32, numpy.dtype("f4"), dtypes.float32):
        assert to_dtype(given) is dtypes.float32
    with raises(DtypeError, match="did you mean 'float32'"):
        to_dtype("flot32")
