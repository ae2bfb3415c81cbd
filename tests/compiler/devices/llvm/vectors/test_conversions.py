"""Conversions between dtypes, against PyTorch and `ml_dtypes`, bit by bit."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import ogive
from ogive import Tensor

Array = NDArray[Any]

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")
SMALL_FLOATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
SPECIAL = [
    0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, 2.5, 126.9, 127.5, 128.0, -128.5, -129.0, 255.0,
    255.9, 256.0, -1.0, 300.0, 32767.5, 32768.0, -32769.0, 65535.0, 65536.0, 1e6, -1e6,
    2147483520.0, 2147483648.0, -2147483648.0, -2147483904.0, 4294967296.0, 1e10, -1e10, 9.2e18,
    9.3e18, -9.3e18, 1e20, -1e20, 1e30, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip


def every_pattern(name: str) -> Array:
    """All values of a small float format."""
    kind = np.dtype(SMALL_FLOATS[name])
    bits = np.arange(1 << (8 * kind.itemsize), dtype=np.uint32)
    patterns: Array = bits.astype(f"u{kind.itemsize}").view(kind)
    return patterns


def same_bits(got: Array, wanted: Array) -> Array:
    """Where two float arrays hold the same number, sign of zero included, or both NaN."""
    both_missing = np.isnan(got) & np.isnan(wanted)
    same = (got == wanted) & (np.signbit(got) == np.signbit(wanted))
    agreement: Array = both_missing | same
    return agreement


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_every_pattern_of_a_small_float_widens_exactly(name: str) -> None:
    patterns = every_pattern(name)
    for wide in ("float32", "float64"):
        got = Tensor(patterns).cast(wide).numpy()
        with np.errstate(invalid="ignore"):
            assert same_bits(got, patterns.astype(np.float32).astype(wide)).all()


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_every_pattern_of_a_small_float_survives_a_round_trip(name: str) -> None:
    patterns = every_pattern(name)
    back = Tensor(patterns).cast("float32").cast(name).numpy()
    wide, wanted = back.astype(np.float32), patterns.astype(np.float32)
    assert same_bits(wide, wanted).all()


def halfway_points(name: str) -> Array:
    """Finite values of a format, what lies between neighbours, and just beside that."""
    values = every_pattern(name).astype(np.float32)
    values = np.unique(values[np.isfinite(values)])
    middles = values[:-1] / 2 + values[1:] / 2
    low, high = np.nextafter(middles, -np.inf), np.nextafter(middles, np.inf)
    with np.errstate(over="ignore"):
        beyond = values[-1] * np.array([1.0, 1.01, 1.03, 1.0625, 1.07, 1.13, 2, 16], np.float32)
    tiny = np.abs(values[values != 0]).min() * np.array([0.25, 0.5, 0.500001, 0.75], np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], np.float32)
    points: Array = np.concatenate(
        [values, middles, low, high, beyond, -beyond, tiny, -tiny, special]
    ).astype(np.float32)
    return points


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_float32_rounds_to_a_small_float_as_ml_dtypes_does(name: str) -> None:
    points = halfway_points(name)
    with np.errstate(over="ignore"):
        wanted = points.astype(SMALL_FLOATS[name]).astype(np.float32)
    got = Tensor(points).cast(name).numpy().astype(np.float32)
    wrong = ~same_bits(got, wanted)
    assert not wrong.any(), list(zip(points[wrong], got[wrong], wanted[wrong], strict=True))[:5]


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_float64_rounds_to_a_small_float_as_pytorch_does(name: str) -> None:
    points = halfway_points(name).astype(np.float64)
    points = np.concatenate([points, points * (1 + 2.0**-40)])
    wanted = torch.from_numpy(points).to(getattr(torch, name)).float().numpy()
    got = Tensor(points).cast(name).numpy().astype(np.float32)
    assert same_bits(got, wanted).all()


@pytest.mark.parametrize("count", [1, 16])
@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_what_has_the_sign_of_a_float64_rounds_as_well(name: str, count: int) -> None:
    points = np.linspace(-2, 2, count)
    wanted = torch.from_numpy(points).abs().copysign(torch.tensor(-0.0)).to(getattr(torch, name))
    sign = Tensor(np.full(count, -0.0))
    got = Tensor(points).abs().copysign(sign).cast(name).numpy().astype(np.float32)
    assert same_bits(got, wanted.float().numpy()).all()


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("count", [1, 42, 1000])
def test_floats_become_integers_as_in_pytorch(source: str, target: str, count: int) -> None:
    array = np.resize(np.array(SPECIAL, source), count)
    if target in ("int8", "int16", "uint8"):
        # PyTorch's own scalar and vector code disagree beyond 32 bits.
        array = array[(np.abs(array) < 2**31) | ~np.isfinite(array)]
        array = array[np.isfinite(array)]
    wanted = torch.from_numpy(array).to(getattr(torch, target)).numpy()
    np.testing.assert_array_equal(Tensor(array).cast(target).numpy(), wanted)


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", [*INTEGERS, "bool", "float16", "bfloat16", "float32", "float64"])
def test_integers_are_converted_as_in_pytorch(source: str, target: str) -> None:
    limits = np.iinfo(source)
    low, high = limits.min, limits.max
    edges = [high, high - 1, high // 2, high // 3, low, low + 1, low // 2, low // 7]
    array = np.array([0, 1, 2, 3, 100, 127, *edges], source)
    wanted = torch.from_numpy(array).to(getattr(torch, target))
    got = Tensor(array).cast(target)
    if target == "bfloat16":
        np.testing.assert_array_equal(got.float().numpy(), wanted.float().numpy())
    else:
        np.testing.assert_array_equal(got.numpy(), wanted.numpy())


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_wide_unsigned_integers_convert_both_ways(name: str) -> None:
    limits = np.iinfo(name)
    array = np.array([0, 1, limits.max // 2, limits.max // 2 + 1, limits.max - 1, limits.max], name)
    np.testing.assert_array_equal(Tensor(array).cast("float64").numpy(), array.astype("float64"))
    np.testing.assert_array_equal(Tensor(array).cast("float32").numpy(), array.astype("float32"))
    np.testing.assert_array_equal(Tensor(array).cast("int8").numpy(), array.astype("int8"))
    floats = np.array([0.0, 1.5, 200.0, 65535.0, float(limits.max // 2 + 1)])
    np.testing.assert_array_equal(Tensor(floats).cast(name).numpy(), floats.astype(name))


def test_anything_but_zero_is_true() -> None:
    array = np.array([0.0, -0.0, 1e-45, np.nan, np.inf, -1.0], np.float32)
    assert Tensor(array).cast("bool").tolist() == [False, False, True, True, True, True]
    assert Tensor(np.array([0, -1, 2, 0], np.int8)).cast("bool").tolist() == [0, 1, 1, 0]


def test_a_bool_becomes_zero_or_one_whatever_byte_stands_for_it() -> None:
    array = np.array([0, 1, 2, 255], np.uint8).view(bool)
    assert Tensor(array).cast("int32").tolist() == [0, 1, 1, 1]
    assert Tensor.from_numpy(array).cast("float32").sum().item() == 3.0


def test_bits_are_kept_by_a_bitcast() -> None:
    bits = np.random.default_rng(0).integers(0, 1 << 32, 257, dtype=np.uint32)
    for name in ("float32", "int32"):
        back = Tensor(bits).bitcast(name).contiguous().bitcast("uint32")
        np.testing.assert_array_equal(back.numpy(), bits)
    halves = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
    for name in ("float16", "bfloat16", "int16"):
        back = Tensor(halves).bitcast(name).contiguous().bitcast("uint16")
        np.testing.assert_array_equal(back.numpy(), halves)


def test_constants_of_small_floats_are_rounded_once() -> None:
    for name, kind in SMALL_FLOATS.items():
        got = ogive.full((3,), 0.3, dtype=name).numpy()
        np.testing.assert_array_equal(got, np.full(3, 0.3).astype(kind))
