"""Elementwise ops that the reference writes out, and conversions, by what they must give."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.meaning.element_functions import dot, integer_power
from ogive.compiler.ir.meaning.number_formats import Array, cast
from ogive.compiler.ir.meaning.threefry_cipher import threefry
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from tests.compiler.devices.reference.graphs import given, result_of


@pytest.mark.parametrize(
    ("counter", "key", "bits"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_threefry_gives_the_bits_that_its_authors_published(
    counter: tuple[int, int], key: tuple[int, int], bits: tuple[int, int]
) -> None:
    def joined(words: tuple[int, int]) -> Array:
        return np.array([words[0] | words[1] << 32], np.uint64)

    assert threefry(joined(counter), joined(key)) == joined(bits)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64])
def test_powers_of_integers_are_those_of_python_as_far_as_they_fit(dtype: type) -> None:
    bases, exponents = np.meshgrid(np.arange(-3, 14), np.arange(12))
    if dtype is np.uint8:
        bases = np.abs(bases)
    got = integer_power(bases.astype(dtype), exponents.astype(dtype))
    modulus = 2 ** (8 * np.dtype(dtype).itemsize)
    for base, exponent, power in zip(bases.flat, exponents.flat, got.flat, strict=True):
        assert (int(power) - int(base) ** int(exponent)) % modulus == 0


def test_negative_powers_are_0_but_of_1_and_minus_1() -> None:
    bases = np.array([-2, -1, 0, 1, 2])
    assert integer_power(bases, np.full(5, -3)).tolist() == [0, -1, 0, 1, 0]
    assert integer_power(bases, np.full(5, -4)).tolist() == [0, 1, 0, 1, 0]


def test_words_are_multiplied_element_by_element() -> None:
    left, right = np.arange(-4, 4).astype(np.int8), np.arange(3, 11).astype(np.int8)
    words = left.view(np.uint32), right.view(np.uint32)
    products = left.astype(int) * right
    assert dot(*words, ("int8", "int8")).tolist() == products.reshape(2, 4).sum(1).tolist()
    halves = left.astype(ml_dtypes.bfloat16), right.astype(ml_dtypes.bfloat16)
    pairs = dot(halves[0].view(np.uint32), halves[1].view(np.uint32), ("bfloat16", "bfloat16"))
    assert pairs.tolist() == products.reshape(4, 2).sum(1).tolist()


@pytest.mark.parametrize(
    ("target", "value", "wanted"),
    [
        (dtypes.int8, 300.7, 44), (dtypes.int8, -1.9, -1), (dtypes.uint8, -1.0, 255),
        (dtypes.int32, 3e9, -(2**31)), (dtypes.int32, np.nan, -(2**31)),
        (dtypes.int64, -np.inf, -(2**63)), (dtypes.uint32, 3e9, 3_000_000_000),
        (dtypes.uint64, 1.5 * 2**63, 3 * 2**62), (dtypes.bool_, np.nan, True),
        (dtypes.bool_, -0.0, False),
    ],
)  # fmt: skip
def test_floats_become_integers_as_pytorch_has_it(
    target: DType, value: float, wanted: int
) -> None:
    with np.errstate(all="ignore"):
        assert cast(np.array([value]), dtypes.float64, target).tolist() == [wanted]


def test_a_long_integer_becomes_the_nearest_float_at_once() -> None:
    # By way of float64 it would be rounded to the middle between two, and then down.
    number = np.array([2**62 + 2**38 + 1])
    assert cast(number, dtypes.int64, dtypes.float32).tolist() == [2.0**62 + 2.0**39]


def test_each_result_is_a_number_of_its_dtype() -> None:
    third = np.array([1.0], np.float32)
    one, three = given(1, third), UOp.const(dtypes.float32, 3.0)
    quotient = UOp(Op.DIV, dtypes.float32, (one, three))
    wide = UOp(Op.CAST, dtypes.float64, (quotient,))
    assert result_of(wide, third).tolist() == [float(np.float32(1) / np.float32(3))]
