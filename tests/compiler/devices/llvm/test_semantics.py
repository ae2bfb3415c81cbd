"""What integer and float operations mean at their edges: PyTorch's meaning on a CPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import ogive
from ogive import Tensor

Array = NDArray[Any]
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8")
FLOATS = ("float32", "float64")
NAN, INFINITY = float("nan"), float("inf")


def edge_values(name: str) -> list[int]:
    limits = np.iinfo(name)
    candidates = {0, 1, 2, 3, 7, -1, -2, -3, -7, limits.min, limits.max, limits.min + 1}
    return sorted(value for value in candidates if limits.min <= value <= limits.max)


def pairs(name: str, nonzero: bool = False) -> tuple[Array, Array]:
    """Every pair of edge values."""
    values = edge_values(name)
    rights = [value for value in values if value or not nonzero]
    left, right = zip(*itertools.product(values, rights), strict=True)
    return np.array(left, name), np.array(right, name)


def check(function: Callable[..., Any], *arrays: Array) -> None:
    """The function of tensors gives what it gives for PyTorch's, bit for bit."""
    wanted = function(*[torch.from_numpy(array) for array in arrays]).numpy()
    got = function(*[Tensor(array) for array in arrays]).numpy()
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    if wanted.dtype.kind == "f":
        numbers = ~np.isnan(wanted)
        np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_division_rounds_down_at_every_edge(name: str) -> None:
    left, right = pairs(name, nonzero=True)
    if name in SIGNED:
        # PyTorch traps or wraps for the least number by -1; the wrapped result is defined below.
        limits = np.iinfo(name)
        good = ~((left == limits.min) & (right == -1))
        left, right = left[good], right[good]
    check(lambda a, b: a // b, left, right)
    check(lambda a, b: a % b, left, right)


@pytest.mark.parametrize("name", SIGNED)
def test_the_least_integer_divided_by_minus_one_wraps(name: str) -> None:
    least = np.iinfo(name).min
    for count in (1, 5, 64):
        x, y = Tensor(np.full(count, least, name)), Tensor(np.full(count, -1, name))
        assert (x // y).tolist() == [least] * count
        assert (x % y).tolist() == [0] * count
        assert (x // -1).tolist() == [least] * count
        assert x.div(y, rounding_mode="trunc").tolist() == [least] * count


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_arithmetic_wraps_at_every_edge(name: str) -> None:
    left, right = pairs(name)
    check(lambda a, b: a + b, left, right)
    check(lambda a, b: a - b, left, right)
    check(lambda a, b: a * b, left, right)
    check(lambda a: a.abs(), left)
    check(lambda a: -a, left)
    check(lambda a: ~a, left)


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_powers_wrap_and_negative_exponents_are_as_in_pytorch(name: str) -> None:
    left, right = pairs(name)
    check(lambda a, b: a**b, left, np.abs(right.astype(np.int64) % 9).astype(name))
    if name in SIGNED:
        exponents = np.array([-1, -2, -3, 0, 1], name)
        bases = np.array([1, -1, 2, -2, 5, 100], name)
        check(lambda a, b: a[:, None] ** b[None, :], bases, exponents)


@pytest.mark.parametrize("name", INTEGERS)
def test_shifts_past_the_width_shift_everything_out(name: str) -> None:
    bits = np.iinfo(name).bits
    values = np.array(edge_values(name), name)
    for amount in (0, 1, bits - 1, bits, bits + 1, min(2 * bits, 100)):
        amounts = np.full(values.shape, amount, name)
        check(lambda a, b: a << b, values, amounts)
        check(lambda a, b: a >> b, values, amounts)


@pytest.mark.parametrize("name", FLOATS)
def test_float_division_and_remainder_take_the_sign_of_the_divisor(name: str) -> None:
    values = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, -3.0, 0.1, -0.1, 7.25, 1e10, -1e10, 1e-10]
    left, right = zip(*itertools.product(values, values), strict=True)
    check(lambda a, b: a % b, np.array(left, name), np.array(right, name))
    check(lambda a, b: a // b, np.array(left, name), np.array(right, name))


@pytest.mark.parametrize("name", FLOATS)
def test_maximum_and_minimum_give_nan_where_either_side_is(name: str) -> None:
    values = [0.0, 1.0, -1.0, INFINITY, -INFINITY, NAN]
    left, right = zip(*itertools.product(values, values), strict=True)
    a, b = np.array(left, name), np.array(right, name)
    check(torch_or_ogive("maximum"), a, b)
    check(torch_or_ogive("minimum"), a, b)


def torch_or_ogive(name: str) -> Callable[..., Any]:
    return lambda a, *rest: getattr(a, name)(*rest)


@pytest.mark.parametrize("name", ["float16", *FLOATS])
@pytest.mark.parametrize("length", [1, 2, 5, 16, 33, 100])
def test_a_nan_anywhere_in_a_row_is_its_max_and_min(name: str, length: int) -> None:
    array = np.tile(np.arange(length, dtype=name), (length, 1))
    np.fill_diagonal(array, NAN)
    x = Tensor(array)
    assert np.isnan(x.amax(-1).numpy()).all()
    assert np.isnan(x.amin(-1).numpy()).all()
    assert np.isnan(x.amax(0).numpy()).all()
    assert x.argmax(-1).tolist() == list(range(length))
    assert x.argmin(-1).tolist() == list(range(length))


def test_infinities_are_the_extremes_of_their_rows() -> None:
    x = Tensor([[1.0, -INFINITY, 3.0], [-INFINITY, -INFINITY, -INFINITY]])
    assert x.amax(-1).tolist() == [3.0, -INFINITY]
    assert (-x).amin(-1).tolist() == [-3.0, INFINITY]


@pytest.mark.parametrize("length", [1, 3, 17, 64, 200])
def test_the_extreme_of_very_negative_integers_is_not_padding(length: int) -> None:
    for name in SIGNED:
        least, most = np.iinfo(name).min, np.iinfo(name).max
        assert Tensor(np.full((3, length), least, name)).amax(-1).tolist() == [least] * 3
        assert Tensor(np.full((3, length), most, name)).amin(-1).tolist() == [most] * 3
    assert Tensor(np.full(length, -INFINITY)).max().item() == -INFINITY
    assert Tensor(np.full(length, 2.0)).prod().item() == 2.0**length


def test_bool_arithmetic_is_logic() -> None:
    a = np.array([False, False, True, True])
    b = np.array([False, True, False, True])
    check(lambda x, y: x + y, a, b)
    check(lambda x, y: x * y, a, b)
    check(lambda x, y: x & y, a, b)
    check(lambda x, y: x ^ y, a, b)
    check(lambda x, y: x | ~y, a, b)
    check(lambda x, y: x < y, a, b)
    check(lambda x, y: x >= y, a, b)
    check(lambda x: x.sum(), b)
    check(lambda x: x + 1, b)
    check(lambda x: x * 2.5, b)
    check(lambda x, y: x.maximum(y), a, b)


def test_comparisons_with_nan_are_false_but_for_not_equal() -> None:
    a = np.array([NAN, 1.0, NAN], np.float32)
    b = np.array([1.0, NAN, NAN], np.float32)
    for function in (
        lambda x, y: x < y, lambda x, y: x <= y, lambda x, y: x == y, lambda x, y: x != y,
        lambda x, y: x > y, lambda x, y: x >= y,
    ):  # fmt: skip
        check(function, a, b)


def test_unsigned_integers_compare_as_unsigned() -> None:
    a = np.array([0, 255, 128, 127], np.uint8)
    check(lambda x, y: x < y, a, a[::-1].copy())
    check(lambda x: x.max(), a)
    check(lambda x: x.min(), a)
    check(lambda x: x >> 1, a)


def test_the_sign_of_zero_survives_joining_padding_and_moving() -> None:
    x = Tensor(np.array([-0.0, 0.0, -0.0], np.float32))
    joined = ogive.cat([x, -x]).numpy()
    assert np.signbit(joined).tolist() == [True, False, True, False, True, False]
    padded = x.pad(((1, 1),)).numpy()
    assert np.signbit(padded).tolist() == [False, True, False, True, False]
    below = x.pad(((1, 1),), value=-0.0).numpy()
    assert np.signbit(below).tolist() == [True, True, False, True, True]
    assert np.signbit(x.flip(0).numpy()).tolist() == [True, False, True]
    assert np.signbit(ogive.stack([x, x]).T.contiguous().numpy()).all(1).tolist() == [1, 0, 1]


def test_the_sign_of_zero_survives_arithmetic() -> None:
    zeros = np.array([-0.0, 0.0, -0.0, 0.0], np.float32)
    others = np.array([-0.0, -0.0, 0.0, 0.0], np.float32)
    check(lambda a, b: a + b, zeros, others)
    check(lambda a, b: a - b, zeros, others)
    check(lambda a, b: a * b, zeros, others)
    check(lambda a: a + 0, zeros)
    check(lambda a: a - 0, zeros)
    check(lambda a: a * 1, zeros)
    check(lambda a: 0 - a, zeros)
    check(lambda a: a.abs(), zeros)
    check(lambda a: a.round(), np.array([-0.4, 0.4, -0.5, 0.5, 1.5, 2.5, -2.5], np.float32))


def test_arithmetic_with_infinities_is_not_simplified_away() -> None:
    array = np.array([INFINITY, -INFINITY, NAN, 1.0, 0.0], np.float32)
    check(lambda a: a - a, array)
    check(lambda a: a * 0, array)
    check(lambda a: a / a, array)
    check(lambda a: a == a, array)
    check(lambda a: 0.0 * a + 1, array)


def test_where_does_not_let_the_other_side_through() -> None:
    x = Tensor(np.array([0.0, 1.0, -1.0, 4.0], np.float32))
    root = ogive.where(x > 0, x.sqrt(), 0.0)
    assert root.tolist() == [0.0, 1.0, 0.0, 2.0]


@pytest.mark.parametrize("name", INTEGERS)
def test_sums_of_integers_do_not_wrap_in_their_own_width(name: str) -> None:
    most = np.iinfo(name).max
    array = np.full((3, 37), most if name != "int64" else 1 << 40, name)
    check(lambda a: a.sum(-1), array)
    check(lambda a: a.sum(0), array)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_sums_of_small_floats_are_rounded_once(name: str) -> None:
    kind = getattr(torch, name)
    reference = torch.full((4, 3000), 1.0, dtype=kind)
    x = Tensor(np.ones((4, 3000), np.float32)).cast(name)
    assert x.sum(-1).float().tolist() == reference.sum(-1).float().tolist()
    assert x.mean(-1).float().tolist() == [1.0] * 4


def test_products_of_integers_wrap() -> None:
    array = np.arange(1, 40, dtype=np.int64)
    check(lambda a: a.prod(), array)
    matrix = np.full((5, 7), 2**40, np.int64)
    check(lambda a, b: a @ b, matrix, matrix.T.copy())
    bytes_ = np.full((5, 7), 100, np.int8)
    check(lambda a, b: a @ b, bytes_, bytes_.T.copy())


@pytest.mark.parametrize("factor", [INFINITY, NAN])
@pytest.mark.parametrize("name", FLOATS)
def test_a_constant_factor_need_not_be_finite(name: str, factor: float) -> None:
    check(lambda a: a * factor + 1, np.array([1.0, -2.5, 0.0], name))
