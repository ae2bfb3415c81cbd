"""How the polynomials of `devices.llvm.math` are found, and how far they are off.

    fit(mpmath.exp, lambda x: x, lambda x: 1 / mpmath.exp(x), (-0.35, 0.35), 7, "f32")

gives seven coefficients of a polynomial whose weighted distance from the function is about as small
as it can be. Least squares are repeated, each time with more weight on the points where the error
was larger (Lawson's algorithm); a coefficient is rounded and the others are fitted again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath  # type: ignore[import-untyped]

from ogive.compiler.devices.llvm.math.float_formats import nearest

Number = Any
Function = Callable[[Number], Number]
ROUNDS = 12
"""How often the weights are changed; the error falls by a few percent beyond."""


class Sample(NamedTuple):
    """A point: the variable of the polynomial there, what it shall be, how much an error counts."""

    variable: Number
    wanted: Number
    weight: Number


def points(interval: tuple[float, float], count: int) -> list[Number]:
    """Points that lie closer to each other at both ends, none of them 0."""
    low, high = (mpmath.mpf(end) for end in interval)
    turns = [mpmath.pi * (index + mpmath.mpf("0.37")) / count for index in range(count)]
    return [(low + high) / 2 - (high - low) / 2 * mpmath.cos(turn) for turn in turns]


def evaluate(coefficients: Sequence[Number], variable: Number) -> Number:
    total = mpmath.mpf(0)
    for coefficient in reversed(coefficients):
        total = total * variable + coefficient
    return total


def fit(
    function: Function,
    variable: Function,
    weight: Function,
    interval: tuple[float, float],
    count: int,
    dtype: str,
) -> tuple[float, ...]:
    """Coefficients of `function` as a polynomial of `variable`, each a float of the format."""
    with mpmath.workprec(300):
        places = points(interval, 5 * count + 10)
        samples = [Sample(variable(x), function(x), abs(weight(x))) for x in places]
        known: list[float] = []
        while len(known) < count:
            found = _solve(samples, known, count - len(known))
            # The last third is so small beside the rest that its rounding does not matter.
            settled = 1 if len(known) < 2 * count // 3 else len(found)
            known += [nearest(_fraction(value), dtype) for value in found[:settled]]
    return tuple(known)


def _fraction(value: Number) -> Fraction:
    return Fraction(int(mpmath.floor(mpmath.ldexp(value, 400))), 2**400)


def _solve(samples: list[Sample], known: list[float], count: int) -> list[Number]:
    """The next `count` coefficients, with the least maximum of the weighted errors."""
    powers = [[s.variable ** (len(known) + i) for i in range(count)] for s in samples]
    wanted = [s.wanted - evaluate(known, s.variable) for s in samples]
    stress = [mpmath.mpf(1)] * len(samples)
    best: list[Number] = []
    least = mpmath.inf
    for _ in range(ROUNDS):
        squares = [s.weight**2 * part for s, part in zip(samples, stress, strict=True)]
        matrix, vector = mpmath.matrix(count, count), mpmath.matrix(count, 1)
        for square, row, value in zip(squares, powers, wanted, strict=True):
            for i in range(count):
                vector[i] += square * row[i] * value
                for j in range(count):
                    matrix[i, j] += square * row[i] * row[j]
        found = list(mpmath.lu_solve(matrix, vector))
        errors = [
            abs(value - mpmath.fdot(row, found)) * sample.weight
            for sample, row, value in zip(samples, powers, wanted, strict=True)
        ]
        largest = max(errors)
        if largest < least:
            least, best = largest, found
        stress = [
            part * (error / largest + mpmath.mpf("0.02"))
            for part, error in zip(stress, errors, strict=True)
        ]
    return best
