"""Operands that programs seldom have: numbers beside small dtypes, NaN, several kinds at once."""

from __future__ import annotations

import numpy
import pytest
import torch

import ogive.torch as ours
from tests.eager.beside_torch import check, floats


@pytest.mark.parametrize("number", [0, 2, 1e10, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_xlogy_of_a_number_has_the_dtype_of_the_tensor(dtype: str, number: float) -> None:
    check(lambda lib, x: lib.xlogy(x, number), [numpy.array([0, 1, 2], dtype)])


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_gradients_of_extremes_that_are_nan_are_nan(name: str) -> None:
    given = floats([[1, numpy.nan, numpy.nan], [1, 2, 2]])
    check(lambda lib, x: getattr(x, name)(1), [given])


@pytest.mark.parametrize("name", ["atan2", "copysign", "div", "xlogy"])
@pytest.mark.parametrize("kinds", [("uint8", "int8"), ("uint8", "int64"), ("int8", "int32")])
def test_floats_of_integers_are_those_of_their_own_values(
    name: str, kinds: tuple[str, str]
) -> None:
    """Integers with axes and one without meet in the dtype of the first, which may not hold it."""
    several = numpy.array([4, 2, 1], kinds[0])
    alone = numpy.array(-3 if kinds[1] == "int8" and name != "xlogy" else 100, kinds[1])
    if kinds[1] in ("int64", "int32"):
        alone = alone * 3
    check(lambda lib, x, y: getattr(lib, name)(x, y), [several, alone])
    check(lambda lib, x, y: getattr(lib, name)(y, x), [several, alone])


@pytest.mark.parametrize(
    "name",
    ["add", "div", "divide", "floor_divide", "mul", "multiply", "pow", "remainder", "sub",
     "subtract", "true_divide"],
)  # fmt: skip
@pytest.mark.parametrize("number", [7, 2.5])
@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32"])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_number_may_come_first(
    name: str, number: float, dtype: str, shape: tuple[int, ...]
) -> None:
    values = numpy.resize(numpy.array([3, 2, 1], dtype), shape)
    # PyTorch gives no gradient for remainders of numbers.
    check(lambda lib, x: getattr(lib, name)(number, x.detach()), [values])


@pytest.mark.parametrize("kinds", [
    ("float16", "uint8"), ("float64", "float16"), ("int16", "int64"), ("int8", "float64"),
    ("bool", "int8"), ("complex128", "int8"),
])  # fmt: skip
@pytest.mark.parametrize("shape", [(), (3,)])
def test_the_base_of_ldexp_has_the_dtype_of_the_tensor(
    kinds: tuple[str, str], shape: tuple[int, ...]
) -> None:
    x = numpy.array([1, 0, 1]).astype(kinds[0])
    exponent = numpy.resize(numpy.array([2.5, 1.5, 3]).astype(kinds[1]), shape)
    expected = torch.ldexp(torch.tensor(x), torch.tensor(exponent)).numpy()
    found = ours.ldexp(ours.tensor(x), ours.tensor(exponent)).numpy()
    assert found.dtype == expected.dtype
    numpy.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize("name", ["add", "div", "mul", "remainder", "sub"])
def test_a_number_that_comes_first_and_does_not_fit_is_pytorchs(name: str) -> None:
    check(lambda lib, x: getattr(lib, name)(300, x), [numpy.array([3, 2, 1], "uint8")])
