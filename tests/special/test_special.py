"""Special functions against series of 60 digits, and against what relates them to each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy
import pytest
import torch
from numpy.typing import NDArray

from ogive import Tensor, special
from ogive.errors import DtypeError
from tests.raising import raises

Array = NDArray[Any]


def values(name: str, *arguments: Any) -> Array:
    made: Tensor = getattr(special, name)(*[Tensor(numpy.asarray(x)) for x in arguments])
    return made.numpy()


def bessel(order: int, x: float) -> float:
    """Σ (-x²/4)ᵏ / (k! (k + n)!) · (x/2)ⁿ, exactly summed."""
    square = -Fraction(x) ** 2 / 4
    term, total = Fraction(1), Fraction(0)
    for k in range(1, 120):
        total += term
        term *= square / (k * (k + order))
    return float(total * (Fraction(x) / 2) ** order)


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_functions_are_their_power_series(order: int) -> None:
    points = numpy.array([0.0, 0.375, 2.5, 7.0, 13.25, 19.5, 24.75, 25.5, 31.0])
    expected = [bessel(order, x) for x in points]
    numpy.testing.assert_allclose(values(f"bessel_j{order}", points), expected, atol=5e-14)
    numpy.testing.assert_allclose(
        values(f"bessel_j{order}", -points), numpy.array(expected) * (-1) ** order, atol=5e-14
    )


def test_both_kinds_of_bessel_functions_fit_together() -> None:
    x = numpy.concatenate([numpy.linspace(0.05, 30, 97), [1e3, 1e6]])
    j0, j1, y0, y1 = [values(f"bessel_{name}", x) for name in ("j0", "j1", "y0", "y1")]
    numpy.testing.assert_allclose((j1 * y0 - j0 * y1) * x * math.pi / 2, 1, rtol=1e-11)
    k0, k1 = [values(f"scaled_modified_bessel_k{order}", x) for order in (0, 1)]
    i0, i1 = [values(f"i{order}e", x) for order in (0, 1)]
    numpy.testing.assert_allclose((i0 * k1 + i1 * k0) * x, 1, rtol=2e-14)
    plain = values("modified_bessel_k0", x[:50])
    numpy.testing.assert_allclose(plain * numpy.exp(x[:50]), k0[:50], rtol=1e-13)


def airy(x: float) -> float:
    with localcontext() as context:
        context.prec = 60
        point = Decimal(x)
        even = Decimal("0.355028053887817239260063186004183176397979174199178")
        odd = Decimal("-0.258819403792806798405183560189203963479091138354935") * point
        total = Decimal(0)
        for k in range(1, 300):
            total += even + odd
            even *= point**3 / ((3 * k - 1) * (3 * k))
            odd *= point**3 / ((3 * k) * (3 * k + 1))
        return float(total)


def test_airys_function_is_its_power_series() -> None:
    points = numpy.array([-12.5, -10.25, -9.75, -4.0, -0.5, 0.0, 1.0, 1.75, 2.25, 4.0, 6.5])
    expected = numpy.array([airy(x) for x in points])
    numpy.testing.assert_allclose(values("airy_ai", points), expected, atol=4e-14)
    assert values("airy_ai", [math.inf, -math.inf]).tolist() == [0, 0]
    above = points > 0
    numpy.testing.assert_allclose(values("airy_ai", points[above]), expected[above], rtol=1e-13)


def exponential_sum(terms: int, x: float) -> float:
    """Q(n, x) = e⁻ˣ Σ xᵏ/k! for k < n."""
    with localcontext() as context:
        context.prec = 60
        point = Decimal(x)
        total = sum((point**k / math.factorial(k) for k in range(terms)), Decimal(0))
        return float(total * (-point).exp())


@pytest.mark.parametrize("a", [1, 3, 19, 21, 64, 300])
def test_the_incomplete_gamma_function_of_an_integer_is_a_finite_sum(a: int) -> None:
    x = a * numpy.array([0.125, 0.5, 0.71, 0.96875, 1.0, 1.0625, 1.28, 1.34375, 2.5, 6.0])
    expected = [exponential_sum(a, point) for point in x]
    upper = values("gammaincc", numpy.full(len(x), float(a)), x)
    numpy.testing.assert_allclose(upper, expected, atol=2e-13)
    lower = values("gammainc", numpy.full(len(x), float(a)), x)
    numpy.testing.assert_allclose(lower, 1 - numpy.array(expected), atol=2e-13)


def test_the_ends_of_the_incomplete_gamma_function() -> None:
    a = [1.0, 1.0, 0.0, -1.0, 2.0, math.inf, 0.0]
    x = [0.0, math.inf, 2.0, 2.0, -1.0, 3.0, 0.0]
    expected = torch.special.gammainc(torch.tensor(a), torch.tensor(x)).numpy()
    numpy.testing.assert_array_equal(values("gammainc", a, x), expected)


def test_the_gradient_of_the_incomplete_gamma_function_is_the_density() -> None:
    x = Tensor(numpy.array([0.5, 3.0, 30.0]), requires_grad=True)
    special.gammainc(Tensor(numpy.array([2.0, 2.5, 28.0])), x).sum().backward()
    y = torch.tensor([0.5, 3.0, 30.0], dtype=torch.float64, requires_grad=True)
    shape = torch.tensor([2.0, 2.5, 28.0], dtype=torch.float64)
    torch.special.gammainc(shape, y).sum().backward()
    assert x.grad is not None and y.grad is not None
    numpy.testing.assert_allclose(x.grad.numpy(), y.grad.numpy(), rtol=1e-10)


def test_erfcx_vanishes_slowly_and_has_no_steps() -> None:
    x = numpy.linspace(-3, 3, 41)
    expected = [math.exp(v * v) * math.erfc(v) for v in x]
    numpy.testing.assert_allclose(values("erfcx", x), expected, rtol=1e-13)
    far = numpy.array([1e2, 1e8, 1e300])
    numpy.testing.assert_allclose(values("erfcx", far) * far * math.sqrt(math.pi), 1, rtol=1e-4)


FAMILIES: dict[str, Callable[[int, float], float]] = {
    "chebyshev_polynomial_t": lambda n, x: math.cos(n * math.acos(x)),
    "chebyshev_polynomial_u": lambda n, x: math.sin((n + 1) * math.acos(x)) / math.sqrt(1 - x * x),
    "shifted_chebyshev_polynomial_t": lambda n, x: math.cos(n * math.acos(2 * x - 1)),
    "legendre_polynomial_p": lambda n, x: float(numpy.polynomial.Legendre.basis(n)(x)),
    "hermite_polynomial_h": lambda n, x: float(numpy.polynomial.Hermite.basis(n)(x)),
    "hermite_polynomial_he": lambda n, x: float(numpy.polynomial.HermiteE.basis(n)(x)),
    "laguerre_polynomial_l": lambda n, x: float(numpy.polynomial.Laguerre.basis(n)(x)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_polynomials_of_any_degree(name: str) -> None:
    degrees = numpy.array([[0], [1], [2], [7]])
    points = numpy.array([0.125, 0.3, 0.875])
    expected = [[FAMILIES[name](int(n), x) for x in points] for n in degrees[:, 0]]
    numpy.testing.assert_allclose(values(name, points, degrees), expected, rtol=1e-12, atol=1e-12)
    family = getattr(special, name)
    one = family(Tensor(points), 7).numpy()
    numpy.testing.assert_allclose(one, expected[3], rtol=1e-12, atol=1e-12)
    assert not family(Tensor(points), -1).numpy().any()


def test_complex_numbers_are_refused() -> None:
    with raises(DtypeError, match="complex"):
        special.bessel_j0(Tensor([1j]))
