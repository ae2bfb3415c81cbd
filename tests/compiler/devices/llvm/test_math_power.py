"""Functions of two arguments: pow, atan2 and integer powers."""

from __future__ import annotations

import numpy
import pytest
import torch

from ogive.compiler.devices.llvm.math import define_integer_power
from tests.compiler.devices.llvm.math_functions import (
    BOUNDS,
    SPECIAL,
    Array,
    check,
    compile_definition,
    compiled,
)


def all_pairs(values: list[float], kind: type[numpy.floating]) -> list[Array]:
    with numpy.errstate(over="ignore"):
        array = numpy.array(values, numpy.float64).astype(kind)
    return [each.ravel() for each in numpy.meshgrid(array, array)]


@pytest.mark.parametrize(("kind", "lanes"), [(numpy.float32, 16), (numpy.float64, 8)])
def test_pow_errors(kind: type[numpy.floating], lanes: int) -> None:
    generator = numpy.random.default_rng()
    count = 50_000
    near = generator.standard_normal(count)
    with numpy.errstate(all="ignore"):
        x = numpy.concatenate(
            [
                numpy.exp2(generator.uniform(-1074, 1024, count)),
                generator.uniform(0, 4, count),
                1 + near * 2.0 ** generator.integers(-50, -1, count),
            ]
        ).astype(kind)
        y = numpy.concatenate(
            [
                near * 2.0 ** generator.integers(-10, 3, count),
                generator.uniform(-500, 500, count),
                near * 2.0 ** generator.integers(0, 55, count),
            ]
        ).astype(kind)
    check("pow", BOUNDS["pow"][kind is numpy.float64], lanes, x, y)


@pytest.mark.parametrize(("kind", "lanes"), [(numpy.float32, 16), (numpy.float64, 8)])
def test_pow_of_special_values_as_in_c99(kind: type[numpy.floating], lanes: int) -> None:
    values = [*SPECIAL, 5.0, -5.0, 4.0, 2.0**24 + 2, -0.1, numpy.nextafter(1, 2)]
    check("pow", BOUNDS["pow"][kind is numpy.float64], lanes, *all_pairs(values, kind))


def test_pow_of_anything_to_zero_and_of_one_is_one() -> None:
    power = compiled("pow", "f32", 1)
    x = numpy.array([numpy.nan, numpy.inf, 0.0, 1.0, 1.0], numpy.float32)
    y = numpy.array([0.0, -0.0, 0.0, numpy.nan, numpy.inf], numpy.float32)
    assert power(x, y).tolist() == [1.0] * 5


@pytest.mark.parametrize(("kind", "lanes"), [(numpy.float32, 16), (numpy.float64, 8)])
def test_atan2_errors_and_quadrants(kind: type[numpy.floating], lanes: int) -> None:
    generator = numpy.random.default_rng()
    bits = numpy.uint32 if kind is numpy.float32 else numpy.uint64
    top = numpy.iinfo(bits).max
    patterns = generator.integers(0, top, (2, 100_000), dtype=bits, endpoint=True).view(kind)
    near = generator.standard_normal((2, 100_000)).astype(kind)
    pairs = zip(patterns, near, all_pairs(SPECIAL, kind), strict=True)
    bound = BOUNDS["atan2"][kind is numpy.float64]
    check("atan2", bound, lanes, *(numpy.concatenate(parts) for parts in pairs))


@pytest.mark.parametrize("lanes", [1, 8, 16])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [True, False])
def test_integer_powers_wrap(bits: int, lanes: int, signed: bool) -> None:
    generator = numpy.random.default_rng()
    kind = numpy.dtype(f"{'i' if signed else 'u'}{bits // 8}")
    limits = numpy.iinfo(kind)
    edges = numpy.array([limits.min, limits.max, 0, 1, 2, 3, limits.max - 1], kind)
    if signed:
        edges = numpy.concatenate([edges, numpy.array([-1, -2, -3], kind)])
    some = generator.integers(limits.min, limits.max, 40, dtype=kind, endpoint=True)
    values = numpy.concatenate([edges, some])
    base, exponent = (each.ravel() for each in numpy.meshgrid(values, values))

    def expected(b: int, e: int) -> int:
        if e < 0:
            return b if b in (0, 1) else (1 if e % 2 == 0 else -1) if b == -1 else 0
        return int(pow(b, e, 2**bits))

    want = [expected(int(b), int(e)) % 2**bits for b, e in zip(base, exponent, strict=True)]
    definition = define_integer_power(bits, lanes, signed)
    got = compile_definition(definition, f"i{bits}", lanes, 2)(base, exponent)
    assert [int(value) % 2**bits for value in got] == want


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_integer_powers_agree_with_torch(bits: int) -> None:
    kind = numpy.dtype(f"i{bits // 8}")
    values = numpy.array([0, 1, -1, 2, -2, 3, 7, 63, 64, 100, -100, -128, 127], kind)
    base, exponent = (each.ravel() for each in numpy.meshgrid(values, values))
    got = compile_definition(define_integer_power(bits, 8), f"i{bits}", 8, 2)(base, exponent)
    want = torch.pow(torch.from_numpy(base), torch.from_numpy(exponent))
    assert got.tolist() == want.tolist()
