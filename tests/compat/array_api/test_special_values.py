"""Quotients and remainders of infinities and zeros, as the standard lists them."""

from __future__ import annotations

import math

import pytest

import ogive
from ogive import Tensor

INF, NAN = math.inf, math.nan

QUOTIENTS = [
    (INF, INF, NAN), (INF, -INF, NAN), (0.0, 0.0, NAN), (NAN, 1.0, NAN), (1.0, NAN, NAN),
    (0.0, 2.0, 0.0), (-0.0, 2.0, -0.0), (0.0, -2.0, -0.0), (-0.0, -2.0, 0.0), (1.0, 0.0, INF),
    (1.0, -0.0, -INF), (-1.0, 0.0, -INF), (-1.0, -0.0, INF), (INF, 2.0, INF), (INF, -2.0, -INF),
    (-INF, 2.0, -INF), (-INF, -2.0, INF), (1.0, INF, 0.0), (1.0, -INF, -0.0), (-1.0, INF, -0.0),
    (-1.0, -INF, 0.0), (7.0, 2.0, 3.0), (-7.0, 2.0, -4.0),
]  # fmt: skip

REMAINDERS = [
    (NAN, 1.0, NAN), (1.0, NAN, NAN), (INF, 2.0, NAN), (-INF, INF, NAN), (0.0, 0.0, NAN),
    (-0.0, 0.0, NAN), (1.0, 0.0, NAN), (0.0, 3.0, 0.0), (-0.0, 3.0, 0.0), (0.0, -3.0, -0.0),
    (-0.0, -3.0, -0.0), (1.0, INF, 1.0), (1.0, -INF, -INF), (-1.0, INF, INF), (-1.0, -INF, -1.0),
    (6.0, 3.0, 0.0), (6.0, -3.0, -0.0), (-6.0, 3.0, 0.0), (-7.0, 3.0, 2.0),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "rows"), [("floor_divide", QUOTIENTS), ("remainder", REMAINDERS)]
)
def test_divisions_have_the_standards_special_values(
    name: str, rows: list[tuple[float, float, float]], dtype: str
) -> None:
    left, right, expected = [Tensor(list(column), dtype) for column in zip(*rows, strict=True)]
    found = getattr(ogive, name)(left, right).tolist()
    assert [str(value) for value in found] == [str(value) for value in expected.tolist()]


def test_divisions_take_numbers_on_either_side() -> None:
    assert ogive.floor_divide(Tensor([7, -7]), 2).tolist() == [3, -4]
    assert ogive.floor_divide(7.0, Tensor([2.0, -INF])).tolist() == [3, 0]
    assert ogive.remainder(Tensor([7, -7], dtype="int8"), 3).dtype is ogive.int8
    assert ogive.remainder(-6.0, Tensor([3.0])).tolist() == [0]


def test_a_grid_of_unsaid_indexing_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="'xy', as in NumPy.*'ij' in PyTorch; say which"):
        first, _ = ogive.meshgrid(Tensor([1, 2]), Tensor([3, 4, 5]))
    assert first.shape == (3, 2)
