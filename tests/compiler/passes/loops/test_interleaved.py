"""Rows that fill the gaps between each other's lanes are written as whole vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Tensor

RANDOM = np.random.default_rng(3)


def data(dtype: str, *shape: int) -> NDArray[Any]:
    return (10 * RANDOM.standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "int32", "bool"])
@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_a_stack_along_the_last_axis_is_right(count: int, dtype: str) -> None:
    parts = [data(dtype, 3, 37) for _ in range(count)]
    got = ogive.stack([Tensor(part) for part in parts], -1)
    np.testing.assert_array_equal(got.numpy(), np.stack(parts, -1))


@pytest.mark.parametrize("length", [32, 63, 64, 97])
def test_what_is_cut_off_is_not_written(length: int) -> None:
    parts = [data("float32", 5, 49) for _ in range(2)]
    joined = ogive.stack([Tensor(part) for part in parts], -1).flatten(1)[:, :length]
    whole = ogive.zeros(7, length).realize()
    whole[1:6] = joined * 2
    wanted = np.zeros((7, length), np.float32)
    wanted[1:6] = 2 * np.stack(parts, -1).reshape(5, 98)[:, :length]
    np.testing.assert_array_equal(whole.numpy(), wanted)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_vectors_are_shuffled_and_not_scattered(count: int) -> None:
    planes = Tensor(data("float32", count, 40, 40))
    plan = planes.permute(1, 2, 0).contiguous().prepare()
    assert not any("masked.scatter" in kernel.ir for kernel in plan.kernels)
    assert any("shufflevector" in kernel.ir for kernel in plan.kernels)
