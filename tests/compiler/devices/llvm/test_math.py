"""Elementary functions: errors over the whole range of each format, special values, lanes."""

from __future__ import annotations

import numpy
import pytest

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.definitions import definitions
from ogive.compiler.devices.llvm.math import BINARY, UNARY, define
from tests.compiler.devices.llvm.math_functions import (
    BOUNDS,
    SPECIAL,
    Array,
    check,
    compile_definition,
    compiled,
)

# Where most of a function happens.
CENTRES = {
    "exp": (-746.0, 710.0), "exp2": (-1076.0, 1025.0), "expm1": (-38.0, 5.0),
    "sinh": (-5.0, 5.0), "cosh": (-5.0, 5.0), "tanh": (-20.0, 20.0), "erf": (-6.0, 6.0),
    "erfc": (-6.0, 27.5), "acosh": (1.0, 3.0), "sin": (-1e5, 1e5), "cos": (-1e5, 1e5),
    "tan": (-1e5, 1e5),
}  # fmt: skip


def test_every_function_has_a_stated_error() -> None:
    assert list(BOUNDS) == [*UNARY, *BINARY]
    assert all(0.5 < bound <= 1 for bounds in BOUNDS.values() for bound in bounds)


def around(function: str, count: int, generator: numpy.random.Generator) -> Array:
    """Doubles of all sizes, near one, near zero, subnormal, and where the function happens."""
    patterns = generator.integers(0, 2**64, count, dtype=numpy.uint64).view(numpy.float64)
    subnormal = generator.integers(0, 2**53, count // 8, dtype=numpy.uint64).view(numpy.float64)
    near = generator.standard_normal(count)
    parts = [
        patterns,
        subnormal,
        -subnormal,
        near * 2.0 ** generator.integers(-40, 8, count),
        1 + near * 2.0 ** generator.integers(-50, -1, count),
        generator.uniform(*CENTRES.get(function, (-2.0, 2.0)), count),
        numpy.array(SPECIAL),
    ]
    return numpy.concatenate(parts)


@pytest.mark.parametrize("function", UNARY)
def test_f32_errors_over_all_bit_patterns(function: str) -> None:
    generator = numpy.random.default_rng()
    step = 4096
    patterns = numpy.arange(0, 2**32, step, dtype=numpy.uint64)
    patterns += generator.integers(0, step, patterns.size, dtype=numpy.uint64)
    x = patterns.astype(numpy.uint32).view(numpy.float32)
    special = numpy.array(SPECIAL, numpy.float64)
    with numpy.errstate(over="ignore"):
        x = numpy.concatenate([x, special.astype(numpy.float32)])
    check(function, BOUNDS[function][0], 16, x)


@pytest.mark.parametrize("function", UNARY)
def test_f64_errors_over_random_and_special_values(function: str) -> None:
    count = 600 if function in ("erf", "erfc") else 40_000
    x = around(function, count, numpy.random.default_rng())
    check(function, BOUNDS[function][1], 8, x)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(
    ("function", "least", "most"),
    [
        ("tanh", -1.0, 1.0),
        ("erf", -1.0, 1.0),
        ("erfc", 0.0, 2.0),
        ("sin", -1.0, 1.0),
        ("cos", -1.0, 1.0),
        ("expm1", -1.0, numpy.inf),
        ("cosh", 1.0, numpy.inf),
        ("exp", 0.0, numpy.inf),
    ],
)
def test_no_result_is_outside_of_the_range_of_its_function(
    function: str, least: float, most: float, dtype: str
) -> None:
    x = around(function, 50_000, numpy.random.default_rng())
    # Where sine and cosine are largest, and on the way to where others do not grow any more.
    x = numpy.concatenate(
        [x, numpy.arange(-4000, 4000) * (numpy.pi / 2), numpy.arange(-40, 40, 1e-3)]
    )
    with numpy.errstate(over="ignore"):
        x = x[~numpy.isnan(x)].astype(numpy.float32 if dtype == "f32" else numpy.float64)
    if function in ("sin", "cos"):
        x = x[numpy.isfinite(x)]
    got = compiled(function, dtype, 16)(x)
    assert ((got >= least) & (got <= most)).all()


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("function", [*UNARY, *BINARY])
def test_scalars_and_vectors_give_the_same_bits(function: str, dtype: str) -> None:
    generator = numpy.random.default_rng()
    kind, bits = (numpy.float32, numpy.int32) if dtype == "f32" else (numpy.float64, numpy.int64)
    with numpy.errstate(all="ignore"):
        arrays = [around(function, 211, generator).astype(kind) for _ in range(2)]
    arrays = arrays[: 2 if function in BINARY else 1]
    first, *others = (compiled(function, dtype, lanes)(*arrays) for lanes in (1, 8, 16, 32))
    for other in others:
        same = (first.view(bits) == other.view(bits)) | (numpy.isnan(first) & numpy.isnan(other))
        assert same.all()


@pytest.mark.skipif(not host_target().scalings, reason="no instruction multiplies by 2**k here")
@pytest.mark.parametrize(("dtype", "low", "high"), [("f32", -110, 95), ("f64", -760, 715)])
def test_an_instruction_that_scales_changes_no_bit_of_exp(
    dtype: str, low: float, high: float
) -> None:
    # Subnormal and infinite results among them, then arguments so large that nothing is reduced.
    near = numpy.random.default_rng().uniform(low, high, 400_000)
    far = 2.0 ** numpy.linspace(5, 127.9, 4001)
    x = numpy.concatenate([near, far, -far, SPECIAL])
    with numpy.errstate(over="ignore"):
        x = x.astype(numpy.float32 if dtype == "f32" else numpy.float64)
    plain = compile_definition(define("exp", dtype, 16), dtype, 16, 1)(x)
    numpy.testing.assert_array_equal(compiled("exp", dtype, 16)(x), plain)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("function", ["sin", "cos", "tan"])
def test_huge_arguments_are_reduced_by_all_of_pi(function: str, dtype: str) -> None:
    kind = numpy.float32 if dtype == "f32" else numpy.float64
    # The double nearest to a multiple of pi/2, relative to its size, among others.
    x = numpy.array([1e5, 2.0**31, 1e22, 1e30, 3e38, 6381956970095103.0 * 2.0**797], numpy.float64)
    with numpy.errstate(over="ignore"):
        x = numpy.concatenate([x, -x]).astype(kind)
    check(function, BOUNDS[function][dtype == "f64"], 1, x)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize(
    ("function", "x", "exact"),
    [
        ("exp", 0.0, 1.0),
        ("exp2", -3.0, 0.125),
        ("exp2", 10.0, 1024.0),
        ("cosh", 0.0, 1.0),
        ("tanh", 40.0, 1.0),
        ("log", 1.0, 0.0),
        ("log2", 8.0, 3.0),
        ("log2", 2.0**-140, -140.0),
        ("log10", 1.0, 0.0),
        ("cos", 0.0, 1.0),
        ("acos", 1.0, 0.0),
        ("erf", 7.0, 1.0),
        ("erfc", -7.0, 2.0),
        ("erfc", 0.0, 1.0),
        ("rsqrt", 4.0, 0.5),
    ],
)
def test_exact_results(function: str, x: float, exact: float, dtype: str) -> None:
    kind = numpy.float32 if dtype == "f32" else numpy.float64
    assert compiled(function, dtype, 1)(numpy.array([x], kind)).tolist() == [exact]


def test_a_definition_is_made_once() -> None:
    assert define("exp", "f32", 16) is define("exp", "f32", 16)
    assert define("exp", "f32", 16).symbol == "@ogive.exp.f32.x16"


def test_shared_requirements_come_first_and_once() -> None:
    needed = definitions(
        [define("sin", "f32", 8), define("cos", "f32", 8), define("exp", "f32", 8)]
    )
    symbols = [each.symbol for each in needed]
    assert symbols == [
        "@ogive.reciprocal_pi",
        "@ogive.reduce.f32.x8",
        "@ogive.sin.f32.x8",
        "@ogive.cos.f32.x8",
        "@ogive.exp.f32.x8",
    ]
