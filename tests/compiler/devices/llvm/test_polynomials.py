"""The polynomials of elementary functions are as good as it says beside them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath  # type: ignore[import-untyped]
import pytest

from ogive.compiler.devices.llvm.math import (
    error,
    exponential,
    inverse,
    logarithm,
    power,
    trigonometric,
)
from ogive.compiler.devices.llvm.math.float_formats import nearest
from tests.compiler.devices.llvm.minimax import evaluate, fit, points

Coefficients = tuple[float, ...]
Number = Any
LN2 = 0.3466
ROOTS = (2**-0.5 - 1, 2**0.5 - 1)
EIGHTH = 3.14159 / 8


class Claim(NamedTuple):
    """That `function` is `form(x, p)`, p being a polynomial of x or of its square."""

    name: str
    coefficients: dict[str, Coefficients]
    squared: bool
    form: Callable[[Number, Number], Number]
    function: Callable[[Number], Number]
    interval: tuple[float, float]
    bits: dict[str, float]


def odd(x: Number, p: Number) -> Number:
    return x + x**3 * p


def scaled_erfc(v: Number) -> Number:
    """h of the error functions, as a function of (x - 4) / (x + 4)."""
    x = 4 * (1 + v) / (1 - v)
    return mpmath.erfc(x) * mpmath.exp(x * x) * (x + 4)


CLAIMS = [
    Claim("expm1", exponential.EXPM1, False, lambda x, p: x + x * x * p, mpmath.expm1,
          (-LN2, LN2), {"f32": 30.1, "f64": 61.5}),
    Claim("exp", exponential.EXP, False, lambda x, p: p, mpmath.exp,
          (-LN2, LN2), {"f32": 27.4, "f64": 63}),
    Claim("exp2", exponential.EXP2, False, lambda x, p: 1 + x * p, lambda x: mpmath.mpf(2) ** x,
          (-0.5, 0.5), {"f32": 28.3, "f64": 57.7}),
    Claim("sinh", exponential.SINH, True, odd, mpmath.sinh,
          (0, LN2), {"f32": 34.3, "f64": 61.7}),
    Claim("cosh", exponential.COSH, True, lambda x, p: 1 + x * x * p, mpmath.cosh,
          (0, LN2), {"f32": 33.2, "f64": 70}),
    Claim("log", logarithm.LOG1P, False, lambda x, p: x - x * x / 2 + x**3 * p, mpmath.log1p,
          ROOTS, {"f32": 27.3, "f64": 56.6}),
    Claim("sin", trigonometric.SIN, True, odd, mpmath.sin,
          (0, 2 * EIGHTH + 0.01), {"f32": 27.8, "f64": 57.7}),
    Claim("cos", trigonometric.COS, True, lambda x, p: 1 - x * x / 2 + x**4 * p, mpmath.cos,
          (0, 2 * EIGHTH + 0.01), {"f32": 32.7, "f64": 63.7}),
    Claim("tan", trigonometric.TAN, True, odd, mpmath.tan,
          (0, EIGHTH + 0.005), {"f32": 28.7, "f64": 58.2}),
    Claim("atan", inverse.ATAN, True, odd, mpmath.atan,
          (0, 2**0.5 - 1), {"f32": 30.3, "f64": 59.3}),
    Claim("asin", inverse.ASIN, True, odd, mpmath.asin,
          (0, 0.5), {"f32": 27.5, "f64": 55.9}),
    Claim("erf", error.ERF, True, lambda x, p: x + x * p, mpmath.erf,
          (0, 1), {"f32": 29.4, "f64": 56}),
    Claim("erf beyond 1", {"f64": error.ERF["f64"]}, True, lambda x, p: x + x * p, mpmath.erf,
          (1, 1.125), {"f64": 56}),
    Claim("erf far", {"f32": error.ERF_FAR}, False, lambda x, p: p,
          lambda x: mpmath.erf(x + 2.4375), (1 - 2.4375, 4 - 2.4375), {"f32": 26.5}),
    Claim("erfc for f32", {"f64": error.ERFC["f32"]}, False, lambda v, p: p, scaled_erfc,
          (-0.6, 6.3 / 14.3), {"f64": 28.4}),
    Claim("erfc", {"f64": error.ERFC["f64"]}, False, lambda v, p: p + error.ERFC_LOW, scaled_erfc,
          (-3.2 / 4.8, 23.5 / 31.5), {"f64": 55.6}),
    Claim("pow, log2", {"f64": power.POW_LOG2}, False, lambda x, p: x * p,
          lambda x: mpmath.log1p(x) / mpmath.ln2, ROOTS, {"f64": 35.3}),
    Claim("pow, exp2", {"f64": power.POW_EXP2}, False, lambda x, p: p,
          lambda x: mpmath.mpf(2) ** x, (-0.5, 0.5), {"f64": 34.3}),
]  # fmt: skip
EACH = [(claim, dtype) for claim in CLAIMS for dtype in claim.bits]


@pytest.mark.parametrize(
    ("claim", "dtype"), EACH, ids=[f"{claim.name}, {dtype}" for claim, dtype in EACH]
)
def test_a_polynomial_is_as_good_as_stated(claim: Claim, dtype: str) -> None:
    coefficients = [nearest(Fraction(value), dtype) for value in claim.coefficients[dtype]]
    with mpmath.workprec(120):
        worst = mpmath.mpf(0)
        for x in points(claim.interval, 100):
            p = evaluate(coefficients, x * x if claim.squared else x)
            worst = max(worst, abs(claim.form(x, p) / claim.function(x) - 1))
        assert -mpmath.log(worst, 2) > claim.bits[dtype] - 0.1


def test_fitting_again_gives_no_better_one() -> None:
    found = fit(
        lambda x: (mpmath.atan(x) - x) / x**3,
        lambda x: x * x,
        lambda x: x**3 / mpmath.atan(x),
        (1e-8, 0.4143),
        5,
        "f32",
    )
    assert found == pytest.approx(inverse.ATAN["f32"], rel=1e-6)
