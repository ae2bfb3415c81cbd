"""Operations element by element, done at once, beside PyTorch."""

from __future__ import annotations

import operator
from typing import Any

import numpy
import pytest
import torch

import ogive
import ogive.torch as ours
from ogive.errors import DtypeError, OgiveError
from tests.eager.beside_torch import check, compare, floats, numbers
from tests.raising import raises

SHAPES = [((4,), (4,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((), (3,)), ((), ()), ((0, 3), (3,))]

ARITHMETIC: dict[str, Any] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floordiv": lambda a, b: a // b, "mod": operator.mod,
    "trunc": lambda a, b: a.div(b, rounding_mode="trunc"),
    "floor": lambda a, b: a.div(b, rounding_mode="floor"),
    "maximum": lambda a, b: a.maximum(b), "minimum": lambda a, b: a.minimum(b),
    "fmod": lambda a, b: a.fmod(b), "fmax": lambda a, b: a.fmax(b), "fmin": lambda a, b: a.fmin(b),
    "atan2": lambda a, b: a.atan2(b), "copysign": lambda a, b: a.copysign(b),
    "xlogy": lambda a, b: a.xlogy(b.abs()),
}  # fmt: skip
COMPARISONS: dict[str, Any] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
    "eq": operator.eq, "ne": operator.ne,
    "and": lambda a, b: a.logical_and(b), "or": lambda a, b: a.logical_or(b),
    "xor": lambda a, b: a.logical_xor(b),
}  # fmt: skip
NOT_TRACKED = {"floordiv"}
"""What PyTorch has no gradient for."""


def _two(function: Any) -> Any:
    return lambda module, a, b: function(a, b)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_floats_is_that_of_pytorch(name: str, shapes: Any) -> None:
    arrays = [numbers("float32", *shapes[0]), numbers("float32", *shapes[1], greatest=3.5)]
    if name in NOT_TRACKED:
        found = ARITHMETIC[name](*[ours.tensor(array) for array in arrays])
        compare(found, ARITHMETIC[name](*[torch.tensor(array) for array in arrays]))
    else:
        check(_two(ARITHMETIC[name]), arrays)


DTYPES = [
    ("float64", "float64"), ("float64", "float32"), ("int64", "float32"), ("float32", "int64"),
    ("int64", "int64"), ("int8", "int32"), ("uint8", "int8"), ("int32", "float64"),
]  # fmt: skip


@pytest.mark.parametrize("dtypes", DTYPES, ids=str)
@pytest.mark.parametrize("name", [name for name in ARITHMETIC if name not in NOT_TRACKED])
def test_dtypes_meet_as_in_pytorch(name: str, dtypes: Any) -> None:
    least = 1 if "uint8" in dtypes else -4
    arrays = [numbers(dtypes[0], 4, least=least), numbers(dtypes[1], 4, least=least, greatest=3)]
    check(_two(ARITHMETIC[name]), arrays, tolerance=1e-6)


def test_a_scalar_does_not_widen_what_has_axes() -> None:
    check(_two(operator.mul), [numbers("float32", 3), numbers("float64")])
    check(_two(operator.add), [numbers("int8", 3), numbers("int64")])


@pytest.mark.parametrize("dtypes", [*DTYPES, ("bool", "bool"), ("bool", "int64")], ids=str)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_are_those_of_pytorch(name: str, dtypes: Any) -> None:
    least = 1 if "uint8" in dtypes else -4
    first = numbers(dtypes[0], 2, 3, least=least)
    second = numbers(dtypes[1], 3, least=least)
    second[0] = first[1, 0]
    check(_two(COMPARISONS[name]), [first, second])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "bool"])
@pytest.mark.parametrize("number", [2, 2.5, -3, True])
@pytest.mark.parametrize("name", ["add", "mul", "div", *COMPARISONS])
def test_numbers_meet_tensors_as_in_pytorch(name: str, number: Any, dtype: str) -> None:
    function = {**ARITHMETIC, **COMPARISONS}[name]
    if name in ("and", "or", "xor"):
        check(lambda module, a: function(a, module.tensor(number)), [numbers(dtype, 2, 3)])
    else:
        check(lambda module, a: function(a, number), [numbers(dtype, 2, 3)])


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("number", [3, -2.5])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_reflected_operators_are_those_of_pytorch(name: str, number: Any, dtype: str) -> None:
    function = ARITHMETIC[name]
    check(lambda module, a: function(number, a), [numbers(dtype, 2, 3)])


@pytest.mark.parametrize("operation", [operator.floordiv, operator.mod])
def test_reflected_remainders_are_those_of_pytorch(operation: Any) -> None:
    array = numbers("float32", 5)
    found = operation(7.5, ours.tensor(array))
    compare(found, operation(7.5, torch.tensor(array)))
    assert found.is_eager


def test_a_remainder_of_zero_has_the_sign_of_the_dividend() -> None:
    found = (ours.tensor([-4.0, 4.0]) % 2).numpy()
    assert numpy.signbit(found).tolist() == [True, False]


@pytest.mark.parametrize("alpha", [2, -1, 0.5])
@pytest.mark.parametrize("name", ["add", "sub"])
def test_alpha_scales_the_second_operand(name: str, alpha: Any) -> None:
    arrays = [numbers("float32", 2, 3), numbers("float32", 3)]
    check(lambda module, a, b: getattr(a, name)(b, alpha=alpha), arrays)
    check(lambda module, a: getattr(a, name)(3, alpha=alpha), arrays[:1])


BITS = {
    "and": operator.and_, "or": operator.or_, "xor": operator.xor, "left": operator.lshift,
    "right": operator.rshift,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint8"])
@pytest.mark.parametrize("name", BITS)
def test_bits_are_those_of_pytorch(name: str, dtype: str) -> None:
    arrays = [numbers(dtype, 2, 3, least=1), numbers(dtype, 3, least=1)]
    check(_two(BITS[name]), arrays)
    check(lambda module, a: BITS[name](a, 2), arrays[:1])


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_bits_of_masks_are_those_of_pytorch(name: str) -> None:
    check(_two(BITS[name]), [numbers("bool", 2, 3), numbers("bool", 3)])


EXPONENTS = [0, 1, 2, 3, 4, 0.5, -0.5, -1, -2, 2.5, -1.5]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_by_a_number_are_those_of_pytorch(exponent: Any, dtype: str) -> None:
    array = numbers(dtype, 2, 3, least=0.2)
    check(lambda module, a: a**exponent, [array], tolerance=3e-6)


@pytest.mark.parametrize("exponent", [0, 1, 2, 0.5, 3.0])
def test_powers_of_zero_are_those_of_pytorch(exponent: Any) -> None:
    check(lambda module, a: a**exponent, [floats([0, 1, 4])])


def test_integer_powers_stay_integers() -> None:
    check(lambda module, a: a**3, [numbers("int64", 5)])
    check(lambda module, a: a**2.0, [numbers("int64", 5)])
    check(lambda module, a, b: a**b, [numbers("int64", 5), numbers("int64", 5, least=1)])


def test_powers_of_tensors_are_those_of_pytorch() -> None:
    base = floats([[0.0, 0.5, 2.0], [0.0, 1.0, 3.0]])
    check(lambda module, a, b: a**b, [base, floats([0.0, -1.5, 2.0])], tolerance=3e-6)


@pytest.mark.parametrize("base", [2, 0.5, 0])
def test_numbers_to_the_power_of_a_tensor_are_those_of_pytorch(base: Any) -> None:
    check(lambda module, a: base**a, [numbers("float32", 4, least=0.5)], tolerance=3e-6)


def test_lerp_is_that_of_pytorch() -> None:
    arrays = [numbers("float32", 2, 3), numbers("float32", 3)]
    for weight in (0.25, 0.75, 1, 2.0):
        check(lambda module, a, b, w=weight: a.lerp(b, w), arrays)
    weights = numbers("float32", 2, 1, least=0, greatest=1)
    check(lambda module, a, b, c: a.lerp(b, c), [*arrays, weights])


def test_products_and_quotients_are_added_as_in_pytorch() -> None:
    arrays = [numbers("float32", 2, 3), numbers("float32", 3), numbers("float32", 2, 1)]
    for value in (1, 0.5):
        check(lambda module, a, b, c, v=value: a.addcmul(b, c, value=v), arrays, tolerance=1e-5)
        check(lambda module, a, b, c, v=value: a.addcdiv(b, c, value=v), arrays, tolerance=1e-5)


@pytest.mark.parametrize("name", ["hypot", "logaddexp"])
def test_lengths_and_logarithms_of_sums_are_those_of_pytorch(name: str) -> None:
    arrays = [numbers("float32", 2, 3), numbers("float32", 3)]
    check(lambda module, a, b: getattr(module, name)(a, b), arrays)


# Bounds and choices


@pytest.mark.parametrize("bounds", [(-1, 2), (None, 1.5), (-0.5, None), (2, -1)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_clamp_is_that_of_pytorch(dtype: str, bounds: Any) -> None:
    check(lambda module, a: a.clamp(*bounds), [numbers(dtype, 3, 4)])
    check(lambda module, a: module.clamp(a, min=bounds[0], max=bounds[1]), [numbers(dtype, 3, 4)])


def test_clamp_by_tensors_is_that_of_pytorch() -> None:
    arrays = [numbers("float32", 3, 4), numbers("float32", 4), numbers("float32", 3, 1)]
    check(lambda module, a, b, c: a.clamp(b, c), arrays)
    check(lambda module, a, b: a.clamp_min(b), arrays[:2])
    check(lambda module, a, b: a.clamp_max(b), arrays[:2])


def test_at_a_bound_the_gradient_passes() -> None:
    check(lambda module, a: a.clamp(-1, 1), [floats([-1, 0, 1, 2, numpy.nan])])
    check(lambda module, a: a.clamp_min(1), [floats([-1, 0, 1, 2])])


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_ties_and_missing_numbers_are_as_in_pytorch(name: str) -> None:
    arrays = [floats([1, 2, numpy.nan, 4]), floats([1, 3, 2, numpy.nan])]
    check(lambda module, a, b: getattr(a, name)(b), arrays)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_where_is_that_of_pytorch(dtype: str) -> None:
    arrays = [numbers("bool", 2, 3), numbers(dtype, 3), numbers(dtype, 2, 1)]
    check(lambda module, c, a, b: module.where(c, a, b), arrays)
    check(lambda module, c, a, b: a.where(c, b), arrays)


@pytest.mark.parametrize("numbers_given", [(1, 0), (1.0, 0), (True, False), (1, 2.5)], ids=str)
def test_where_of_numbers_is_that_of_pytorch(numbers_given: Any) -> None:
    check(lambda module, c: module.where(c, *numbers_given), [numbers("bool", 2, 3)])


def test_where_of_a_tensor_and_a_number_is_that_of_pytorch() -> None:
    arrays = [numbers("bool", 2, 3), numbers("float64", 3)]
    check(lambda module, c, a: module.where(c, a, 0), arrays)
    check(lambda module, c, a: module.where(c, 1.5, a), arrays)
    check(lambda module, c, a: module.where(c, 1.5, a), [arrays[0], numbers("int64", 3)])


def test_masked_fill_is_that_of_pytorch() -> None:
    mask = numbers("bool", 2, 3)
    check(lambda module, a, m: a.masked_fill(m, -1e9), [numbers("float32", 2, 3), mask])
    check(lambda module, a, m: a.masked_fill(m, float("-inf")), [numbers("float32", 3), mask])
    check(lambda module, a, m: a.masked_fill(m, 7), [numbers("int64", 2, 3), mask])
    check(lambda module, a, m: a.masked_fill(m, True), [numbers("bool", 2, 3), mask])
    value = numpy.float32(2.5)
    check(lambda module, a, m, v: a.masked_fill(m, v), [numbers("float32", 2, 3), mask, value])


def test_masked_fill_writes_in_place() -> None:
    x = ours.tensor([1.0, 2.0])
    assert x.masked_fill_(ours.tensor([True, False]), 9.0) is x
    assert x.is_eager
    assert x.tolist() == [9.0, 2.0]


# Closeness


def test_isclose_is_that_of_pytorch() -> None:
    first = floats([1, 1, numpy.nan, numpy.inf, 0])
    second = floats([1.000001, 1.1, numpy.nan, numpy.inf, 1e-9])
    check(lambda module, a, b: module.isclose(a, b), [first, second])
    check(lambda module, a, b: module.isclose(a, b, equal_nan=True), [first, second])
    check(lambda module, a, b: module.isclose(a, b), [numbers("int64", 3), numbers("int64", 3)])


def test_allclose_and_equal_give_truth_values() -> None:
    x, y = ours.tensor([1.0, 2.0]), ours.tensor([1.0, 2.0000001])
    assert ours.allclose(x, y) is True
    assert ours.allclose(x, y + 1) is False
    assert ours.equal(x, x.clone()) is True
    assert x.equal(ours.tensor([1.0])) is False
    assert x.is_eager
    assert y.is_eager


# Views, and what is refused


def test_views_are_operands_like_others() -> None:
    arrays = [numbers("float32", 2, 3), numbers("float32", 4, 3)]
    check(lambda module, a, b: a[:, 1:] * b[::2, :2], arrays)


REFUSED = {
    "an integer divided by zero": lambda make: make([1, 2]) // make([1, 0]),
    "an integer divided by the number zero": lambda make: make([1, 2]) % 0,
    "masks subtracted": lambda make: make([True]) - make([True]),
    "a number subtracted from a mask": lambda make: make([True]) - 1,
    "a mask negated": lambda make: -make([True]),
    "integers to a negative power": lambda make: make([1, 2]) ** -1,
    "shapes that do not broadcast": lambda make: make([1, 2]) + make([1, 2, 3]),
    "floats and bits": lambda make: make([1.0]) & 1,
    "a condition of numbers": lambda make: make([1.0]).where(make([1]), 0),
    "no bounds": lambda make: make([1.0]).clamp(),
    "integers scaled by a float": lambda make: make([1]).add(make([1]), alpha=0.5),
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_are_those_of_plain_tensors(case: str) -> None:
    with pytest.raises(OgiveError) as found:
        REFUSED[case](ours.tensor).tolist()
    with pytest.raises(OgiveError) as expected:
        REFUSED[case](ogive.Tensor).tolist()
    assert type(found.value) is type(expected.value)


def test_a_comparison_with_a_string_is_false() -> None:
    assert (ours.tensor([1.0]) == "text") is False
    assert (ours.tensor([1.0]) != None) is True  # noqa: E711


@pytest.mark.usefixtures("no_allowance")
def test_a_result_that_is_not_small_is_left_to_the_compiler() -> None:
    column, row = ours.ones(400, 1), ours.ones(400)
    assert not (column + row).is_eager
    assert float((column + row).sum()) == 320000.0


def test_a_function_that_is_refused_raises_the_error_of_plain_tensors() -> None:
    with raises(DtypeError, match="the condition must be bool"):
        ours.where(ours.tensor([1, 0]), 1, 0)


def test_operands_without_axes_are_computed_with_at_once() -> None:
    arrays = [numbers("float32", 2, 3), numbers("float32"), numbers("float32") + 1]
    check(lambda module, a, b, c: a.addcmul(b, c, value=2), arrays, tolerance=1e-5)
    check(lambda module, a, b, c: a.addcdiv(b, c), arrays, tolerance=1e-5)
    check(lambda module, a, b, c: b.lerp(c, a), arrays, tolerance=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "operation", [operator.sub, operator.truediv, operator.pow, operator.lt, operator.mod]
)
def test_a_plain_tensor_before_an_eager_one_is_taken_up(operation: Any, dtype: str) -> None:
    first, second = numbers(dtype, 2, 3, least=0.5), numbers(dtype, 3, least=0.5)
    plain = ogive.Tensor(first).realize()
    found = operation(plain, ours.tensor(second))
    assert found.is_eager
    compare(found, operation(torch.tensor(first), torch.tensor(second)), tolerance=1e-5)


@pytest.mark.parametrize("name", ["__rsub__", "__rtruediv__", "__rpow__"])
def test_gradients_of_reflected_operators_are_those_of_pytorch(name: str) -> None:
    arrays = [numbers("float32", 2, 3, least=0.5), numbers("float32", 3, least=0.5)]
    check(lambda module, a, b: getattr(a, name)(b), arrays, tolerance=1e-5)


@pytest.mark.parametrize("dtypes", [("int64", "int8", "int8"), ("uint8", "bool", "bool")])
def test_products_that_are_added_are_of_the_dtype_of_all(dtypes: tuple[str, str, str]) -> None:
    def case(T: Any, *given: Any) -> Any:
        x, y, z = [t.to(getattr(T, name)) for t, name in zip(given, dtypes, strict=True)]
        return T.addcmul(x, y, z, value=3)

    given = [numpy.array([value]) for value in (3, 100, 90)]
    check(case, given)
