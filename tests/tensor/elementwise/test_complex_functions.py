"""Functions of complex numbers at zeros, infinities and NaN, and their derivatives at such seams.

The values are those that the array API standard lists, after C99's Annex G: for the upper half of
the plane; the lower half is its mirror image.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from ogive import Tensor

INF, NAN, PI = math.inf, math.nan, math.pi
HALF, QUARTER = PI / 2, PI / 4
ANY_INF, ANY_ZERO = (INF,), (0.0,)
"""Values whose sign is left open."""

Value = float | tuple[float]

VALUES: dict[str, list[tuple[float, float, Value, Value]]] = {
    "exp": [
        (0.0, 0.0, 1, 0), (-0.0, 0.0, 1, 0), (1.0, INF, NAN, NAN), (1.0, NAN, NAN, NAN),
        (INF, 0.0, INF, 0), (-INF, 1.0, 0, 0), (INF, 2.0, -INF, INF), (-INF, INF, 0, 0),
        (INF, INF, ANY_INF, NAN), (-INF, NAN, 0, ANY_ZERO), (INF, NAN, ANY_INF, NAN),
        (NAN, 0.0, NAN, 0), (NAN, 1.0, NAN, NAN), (NAN, NAN, NAN, NAN), (-1000.0, INF, NAN, NAN),
    ],
    "expm1": [
        (0.0, 0.0, 0, 0), (-0.0, 0.0, ANY_ZERO, 0), (1.0, INF, NAN, NAN), (1.0, NAN, NAN, NAN),
        (INF, 0.0, INF, 0), (-INF, 1.0, -1, 0), (INF, 2.0, -INF, INF), (-INF, INF, -1, 0),
        (INF, INF, ANY_INF, NAN), (-INF, NAN, -1, ANY_ZERO), (INF, NAN, ANY_INF, NAN),
        (NAN, 0.0, NAN, 0), (NAN, 1.0, NAN, NAN), (NAN, NAN, NAN, NAN),
    ],
    "sinh": [
        (0.0, 0.0, 0, 0), (0.0, INF, ANY_ZERO, NAN), (0.0, NAN, ANY_ZERO, NAN),
        (1.0, INF, NAN, NAN), (1.0, NAN, NAN, NAN), (INF, 0.0, INF, 0), (INF, 2.0, -INF, INF),
        (INF, INF, ANY_INF, NAN), (INF, NAN, ANY_INF, NAN), (NAN, 0.0, NAN, 0),
        (NAN, 1.0, NAN, NAN), (NAN, NAN, NAN, NAN),
    ],
    "cosh": [
        (0.0, 0.0, 1, 0), (0.0, INF, NAN, ANY_ZERO), (0.0, NAN, NAN, ANY_ZERO),
        (1.0, INF, NAN, NAN), (1.0, NAN, NAN, NAN), (INF, 0.0, INF, 0), (INF, 2.0, -INF, INF),
        (INF, INF, ANY_INF, NAN), (INF, NAN, INF, NAN), (NAN, 0.0, NAN, ANY_ZERO),
        (NAN, 1.0, NAN, NAN), (NAN, NAN, NAN, NAN), (-1.0, 0.0, math.cosh(1), -0.0),
    ],
    "tanh": [
        (0.0, 0.0, 0, 0), (1.0, INF, NAN, NAN), (25.0, INF, NAN, NAN), (0.0, INF, 0, NAN),
        (1.0, NAN, NAN, NAN), (-30.0, NAN, NAN, NAN), (0.0, NAN, 0, NAN), (INF, 1.0, 1, 0),
        (INF, INF, 1, ANY_ZERO), (INF, NAN, 1, ANY_ZERO), (NAN, 0.0, NAN, 0), (NAN, 1.0, NAN, NAN),
        (NAN, NAN, NAN, NAN),
    ],
    "asinh": [
        (0.0, 0.0, 0, 0), (1.0, INF, INF, HALF), (1.0, NAN, NAN, NAN), (INF, 1.0, INF, 0),
        (INF, INF, INF, QUARTER), (INF, NAN, INF, NAN), (NAN, 0.0, NAN, 0), (NAN, 1.0, NAN, NAN),
        (NAN, INF, ANY_INF, NAN), (NAN, NAN, NAN, NAN), (-INF, 1.0, -INF, 0),
    ],
    "acosh": [
        (0.0, 0.0, 0, HALF), (-0.0, 0.0, 0, HALF), (1.0, INF, INF, HALF), (1.0, NAN, NAN, NAN),
        (0.0, NAN, NAN, (HALF,)), (-INF, 1.0, INF, PI), (INF, 1.0, INF, 0),
        (-INF, INF, INF, 3 * QUARTER), (INF, INF, INF, QUARTER), (INF, NAN, INF, NAN),
        (-INF, NAN, INF, NAN), (NAN, 1.0, NAN, NAN), (NAN, INF, INF, NAN), (NAN, NAN, NAN, NAN),
    ],
    "acos": [
        (0.0, 0.0, HALF, -0.0), (-0.0, 0.0, HALF, -0.0), (0.0, NAN, HALF, NAN),
        (1.0, INF, HALF, -INF), (1.0, NAN, NAN, NAN), (-INF, 1.0, PI, -INF), (INF, 1.0, 0, -INF),
        (-INF, INF, 3 * QUARTER, -INF), (INF, INF, QUARTER, -INF), (INF, NAN, NAN, ANY_INF),
        (-INF, NAN, NAN, ANY_INF), (NAN, 1.0, NAN, NAN), (NAN, INF, NAN, -INF),
        (NAN, NAN, NAN, NAN),
    ],
    "atanh": [
        (0.0, 0.0, 0, 0), (0.0, NAN, 0, NAN), (1.0, 0.0, INF, 0), (1.0, INF, 0, HALF),
        (1.0, NAN, NAN, NAN), (INF, 1.0, 0, HALF), (INF, INF, 0, HALF), (INF, NAN, 0, NAN),
        (NAN, 1.0, NAN, NAN), (NAN, INF, ANY_ZERO, HALF), (NAN, NAN, NAN, NAN),
    ],
    "sqrt": [
        (0.0, 0.0, 0, 0), (-0.0, 0.0, 0, 0), (1.0, INF, INF, INF), (NAN, INF, INF, INF),
        (1.0, NAN, NAN, NAN), (-INF, 1.0, 0, INF), (INF, 1.0, INF, 0), (-INF, NAN, NAN, ANY_INF),
        (INF, NAN, INF, NAN), (NAN, 1.0, NAN, NAN), (NAN, NAN, NAN, NAN),
    ],
    "log": [
        (-0.0, 0.0, -INF, PI), (0.0, 0.0, -INF, 0), (1.0, INF, INF, HALF), (1.0, NAN, NAN, NAN),
        (-INF, 1.0, INF, PI), (INF, 1.0, INF, 0), (-INF, INF, INF, 3 * QUARTER),
        (INF, INF, INF, QUARTER), (INF, NAN, INF, NAN), (NAN, 1.0, NAN, NAN), (NAN, INF, INF, NAN),
        (NAN, NAN, NAN, NAN),
    ],
    "log1p": [
        (-1.0, 0.0, -INF, 0), (1.0, INF, INF, HALF), (1.0, NAN, NAN, NAN), (-INF, 1.0, INF, PI),
        (INF, 1.0, INF, 0), (-INF, INF, INF, 3 * QUARTER), (INF, INF, INF, QUARTER),
        (INF, NAN, INF, NAN), (NAN, 1.0, NAN, NAN), (NAN, INF, INF, NAN), (NAN, NAN, NAN, NAN),
    ],
}  # fmt: skip


def make(points: list[tuple[float, float]], dtype: str) -> Any:
    """Complex numbers whose parts are exactly these: Python's arithmetic would mix them."""
    made = np.empty(len(points), dtype)
    made.real, made.imag = [x for x, _ in points], [y for _, y in points]
    return made


def is_like(found: float, expected: Value, precision: float) -> bool:
    value = expected[0] if isinstance(expected, tuple) else expected
    if math.isnan(value):
        return math.isnan(found)
    if isinstance(expected, tuple):
        found, value = abs(found), abs(value)
    if math.copysign(1, found) != math.copysign(1, value):
        return False
    return found == value or math.isclose(found, value, rel_tol=precision)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", VALUES)
def test_special_values_are_those_of_the_standard(name: str, dtype: str) -> None:
    rows = VALUES[name]
    upper = make([row[:2] for row in rows], dtype)
    precision = 1e-6 if dtype == "complex64" else 1e-15
    above = getattr(Tensor(upper), name)().tolist()
    below = getattr(Tensor(upper.conj()), name)().tolist()
    for (x, y, real, imaginary), found, mirrored in zip(rows, above, below, strict=True):
        assert is_like(found.real, real, precision), (x, y, found)
        assert is_like(found.imag, imaginary, precision), (x, y, found)
        assert is_like(mirrored.real, real, precision), (x, -y, mirrored)
        assert is_like(-mirrored.imag, imaginary, precision), (x, -y, mirrored)


@pytest.mark.parametrize("name", ["sinh", "tanh", "asinh", "atanh"])
def test_odd_functions_are_odd_at_special_values_too(name: str) -> None:
    points = [
        row for row in VALUES[name] if not any(isinstance(value, tuple) for value in row[2:])
    ]
    z = make([row[:2] for row in points], "complex128")
    there = [-number for number in getattr(Tensor(z), name)().tolist()]
    assert str(getattr(Tensor(-z), name)().tolist()) == str(there)


def test_atanh_of_large_numbers_keeps_its_real_part() -> None:
    z = np.array([3e30 + 4e30j, -3e25 + 4e25j], "complex64")
    np.testing.assert_allclose(Tensor(z).atanh().numpy().real, [0.12e-30, -0.12e-25], rtol=1e-6)


SEAMS = [2, 0.5, -0.25, 0.5j, -1.5j, 0.25 + 0.75j, -3 + 0.5j, 0j]


@pytest.mark.parametrize(
    "name",
    ["exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "sinh",
     "cosh", "tanh", "asinh", "acosh", "atanh", "sin", "cos", "tan", "asin", "acos", "atan"],
)  # fmt: skip
def test_gradients_on_the_axes_are_those_of_the_function(name: str) -> None:
    has_pole = {"log", "log2", "log10", "sqrt", "rsqrt", "reciprocal"}
    # Beside cuts PyTorch takes derivatives from the other side.
    cut = {"asin", "acos"}
    z = np.array(SEAMS[name in cut : -1 if name in has_pole else None], "complex128")
    ours, theirs = Tensor(z, requires_grad=True), torch.tensor(z, requires_grad=True)
    (getattr(ours, name)() * (1 - 0.5j)).real.sum().backward()
    (getattr(theirs, name)() * (1 - 0.5j)).real.sum().backward()
    assert ours.grad is not None and theirs.grad is not None
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-12)
