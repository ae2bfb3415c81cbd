"""Operands that programs seldom have: numbers beside small dtypes, NaN, several kinds at once."""

from __future__ import annotations

import numpy
import pytest

from tests.eager.beside_torch import check, floats


@pytest.mark.parametrize("number", [0, 2, 1e10, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_xlogy_of_a_number_has_the_dtype_of_the_tensor(dtype: str, number: float) -> None:
    check(lambda lib, x: lib.xlogy(x, number), [numpy.array([0, 1, 2], dtype)])


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_gradients_of_extremes_that_are_nan_are_nan(name: str) -> None:
    given = floats([[1, numpy.nan, numpy.nan], [1, 2, 2]])
    check(lambda lib, x: getattr(x, name)(1), [given])
