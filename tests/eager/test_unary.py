"""Functions of one tensor, done at once, beside PyTorch."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
import ogive.torch as ours
from ogive.errors import OgiveError
from tests.eager.beside_torch import check, compare, floats, numbers

ANYWHERE = (
    "exp", "exp2", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh", "erf",
    "erfc", "reciprocal", "square", "neg", "abs", "sign", "sgn", "floor", "ceil", "round", "trunc",
    "frac", "sinc", "deg2rad", "nan_to_num",
)  # fmt: skip
POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
UNIT = ("asin", "acos", "atanh", "logit")
QUESTIONS = (
    "isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal", "signbit", "logical_not",
)  # fmt: skip
OF_INTEGERS = [name for name in (*ANYWHERE, *POSITIVE) if name not in ("frac", "tan")]
RANGES = {
    **dict.fromkeys(ANYWHERE, (-4, 4)), **dict.fromkeys(POSITIVE, (0.1, 4)),
    **dict.fromkeys(UNIT, (0.1, 0.9)), "acosh": (1.1, 4),
}  # fmt: skip
TOLERANCE = {"float32": 1e-5, "float64": 1e-11}


def _call(name: str, *args: Any, **kwargs: Any) -> Any:
    return lambda module, x: getattr(x, name)(*args, **kwargs)


@pytest.mark.parametrize("shape", [(3, 4), (), (0,)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", RANGES)
def test_functions_of_floats_are_those_of_pytorch(name: str, dtype: str, shape: Any) -> None:
    least, greatest = RANGES[name]
    array = numbers(dtype, *shape, least=least, greatest=greatest)
    check(_call(name), [array], tolerance=TOLERANCE[dtype])


@pytest.mark.parametrize("name", OF_INTEGERS)
def test_functions_of_integers_are_those_of_pytorch(name: str) -> None:
    check(_call(name), [numbers("int64", 2, 3, least=1)], tolerance=1e-5)
    check(_call(name), [numbers("int8", 5, least=1)], tolerance=1e-5)


@pytest.mark.parametrize("name", ["exp", "sqrt", "sin", "sign", "reciprocal"])
def test_functions_of_masks_are_those_of_pytorch(name: str) -> None:
    check(_call(name), [numbers("bool", 5)], tolerance=1e-5)


SPECIAL = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1.0, -1.0], "float32")


@pytest.mark.parametrize("name", [*QUESTIONS])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_questions_are_answered_as_by_pytorch(name: str, dtype: str) -> None:
    check(_call(name), [SPECIAL if dtype == "float32" else numbers(dtype, 2, 3)])


@pytest.mark.parametrize("name", [*ANYWHERE, *POSITIVE, "acosh", "asin"])
def test_what_is_infinite_or_no_number_is_as_in_pytorch(name: str) -> None:
    found = getattr(ours.tensor(SPECIAL), name)()
    compare(found, getattr(torch.tensor(SPECIAL), name)(), tolerance=1e-5)
    assert found.is_eager


@pytest.mark.parametrize("name", ["abs", "sqrt", "sign", "relu", "square", "sinc"])
def test_gradients_at_zero_are_those_of_pytorch(name: str) -> None:
    check(_call(name), [floats([0.0, 1.0])])


@pytest.mark.parametrize("decimals", [1, 3, -1])
def test_round_to_decimals_is_that_of_pytorch(decimals: int) -> None:
    array = floats([12.345, -7.25, 155.0, 0.05])
    check(lambda module, x: x.round(decimals=decimals), [array])


def test_halves_are_rounded_to_even() -> None:
    check(_call("round"), [floats([0.5, 1.5, -0.5, 2.5])])


def test_logit_keeps_inside_eps() -> None:
    check(_call("logit", 0.2), [numbers("float32", 8, least=0.0, greatest=1.0)])
    check(lambda module, x: module.logit(x, eps=0.2), [numbers("float32", 8, least=-1.0)])


def test_nan_to_num_takes_replacements() -> None:
    check(_call("nan_to_num", 5.0, 6.0, -7.0), [SPECIAL])
    check(lambda module, x: module.nan_to_num(x, nan=2.0), [SPECIAL])


def test_bits_are_inverted() -> None:
    check(lambda module, x: ~x, [numbers("int64", 5)])
    check(lambda module, x: ~x, [numbers("bool", 5)])


@pytest.mark.parametrize("size", [200, 5000])
def test_the_error_function_is_right_to_the_last_bits(size: int) -> None:
    array = numpy.linspace(-7, 7, size).astype("float32")
    found = numpy.asarray(ours.tensor(array).erf())
    wanted = torch.erf(torch.tensor(array).double()).numpy()
    numpy.testing.assert_allclose(found, wanted, rtol=1.2e-7)
    assert ours.tensor(array).erf().is_eager


def test_the_error_function_of_no_number_is_none() -> None:
    array = numpy.full(1000, numpy.nan, "float32")
    assert numpy.isnan(numpy.asarray(ours.tensor(array).erf())).all()


def test_functions_write_in_place() -> None:
    x = ours.tensor([0.0, 1.0])
    assert x.exp_() is x
    assert x.is_eager
    numpy.testing.assert_allclose(numpy.asarray(x), numpy.exp([0, 1]), rtol=1e-6)


def test_the_functions_of_the_module_are_the_methods() -> None:
    check(lambda module, x: module.exp(module.sin(x)), [numbers("float32", 3)])


REFUSED = {
    "neg": True, "abs": True, "floor": True, "round": True, "frac": 1, "bitwise_not": 1.5,
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_those_of_plain_tensors(name: str) -> None:
    with pytest.raises(OgiveError) as found:
        getattr(ours.tensor([REFUSED[name]]), name)()
    with pytest.raises(OgiveError) as expected:
        getattr(ogive.Tensor([REFUSED[name]]), name)()
    assert type(found.value) is type(expected.value)
