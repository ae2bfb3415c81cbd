"""Tests of fit, each with a chance of about one in a thousand to fail for a fresh seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import NDArray


def assert_distributed(values: NDArray[Any], distribution: Callable[[float], float]) -> None:
    """Kolmogorov and Smirnov: the values follow a continuous distribution function."""
    ordered = numpy.sort(values.ravel().astype(numpy.float64))
    expected = numpy.array([distribution(value) for value in ordered])
    steps = numpy.arange(ordered.size + 1) / ordered.size
    distance = max((steps[1:] - expected).max(), (expected - steps[:-1]).max())
    assert distance * math.sqrt(ordered.size) < 1.95


def assert_frequencies(counts: NDArray[Any], probabilities: NDArray[Any]) -> None:
    """Chi-square: how often each of several things happened, where all are expected."""
    expected = probabilities / probabilities.sum() * counts.sum()
    assert expected.min() > 5, "too few for the test"
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = counts.size - 1
    # Wilson and Hilferty: the cube root is nearly normal.
    spread = 2 / (9 * freedom)
    assert ((statistic / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread) < 3.1


def assert_uncorrelated(left: NDArray[Any], right: NDArray[Any]) -> None:
    """The correlation of two samples is what chance makes of none."""
    correlation = numpy.corrcoef(left.ravel(), right.ravel())[0, 1]
    assert abs(correlation) * math.sqrt(left.size) < 3.3


def normal_distribution(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))
