"""A step length along a direction that fulfils the strong Wolfe conditions.

    f(t) ≤ f(0) + c₁·t·f'(0)        it goes down far enough
    |f'(t)| ≤ c₂·|f'(0)|            and has become flat enough

First the step grows until a good one lies between two that were tried; then the cubic through the
two, by their values and slopes, says where to try next.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.named import NamedTuple

Array = numpy.ndarray[Any, Any]

DECREASE = 1e-4
FLATNESS = 0.9
TRIALS = 25
NARROWEST = 0.1
"""How near to an end of the interval the next trial may lie, as a part of it."""


class Trial(NamedTuple):
    """The loss at a step length: value, gradient, and slope along the direction."""

    length: float
    value: float
    gradient: Array
    slope: float


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Array]],
    direction: Array,
    start: Trial,
    length: float,
    tolerance: float = 1e-9,
) -> tuple[Trial, int]:
    """The best trial, and how many there were. `start` is at length 0, `length` the first try."""
    reach = float(numpy.abs(direction).max())

    def attempt(at: float) -> Trial:
        value, gradient = evaluate(at)
        return Trial(at, value, gradient, float(gradient @ direction))

    def is_low(trial: Trial) -> bool:
        return trial.value <= start.value + DECREASE * trial.length * start.slope

    def is_flat(trial: Trial) -> bool:
        return abs(trial.slope) <= -FLATNESS * start.slope

    before, now, count = start, attempt(length), 1
    while is_low(now) and not (count > 1 and now.value >= before.value):
        if is_flat(now) or count == TRIALS:
            return now, count
        if now.slope >= 0:
            break
        least = now.length + 0.01 * (now.length - before.length)
        following = _cubic_minimum(before, now, least, now.length * 10)
        before, now, count = now, attempt(following), count + 1
    low, high = (before, now) if before.value <= now.value else (now, before)
    crowded = False
    while count < TRIALS and abs(high.length - low.length) * reach > tolerance:
        following, crowded = _between(low, high, crowded)
        trial, count = attempt(following), count + 1
        if not is_low(trial) or trial.value >= low.value:
            high = trial
            if high.value < low.value:
                low, high = high, low
            continue
        if is_flat(trial):
            return trial, count
        if trial.slope * (high.length - low.length) >= 0:
            high = low
        low = trial
    return low, count


def _between(low: Trial, high: Trial, crowded: bool) -> tuple[float, bool]:
    """Where to try next inside an interval, and whether that is near an end of it.

    The second time that the cubic points near to an end, the trial is moved away from there.
    """
    first, last = sorted((low.length, high.length))
    at = _cubic_minimum(low, high, first, last)
    margin = NARROWEST * (last - first)
    if min(at - first, last - at) >= margin:
        return at, False
    if not crowded and first < at < last:
        return at, True
    return (last - margin if last - at < at - first else first + margin), False


def _cubic_minimum(one: Trial, other: Trial, least: float, most: float) -> float:
    """Where the cubic through two trials is least, within bounds; their middle if it nowhere is."""
    first, last = (one, other) if one.length <= other.length else (other, one)
    width = last.length - first.length
    if not width:
        return (least + most) / 2
    mean = first.slope + last.slope - 3 * (last.value - first.value) / width
    squared = mean * mean - first.slope * last.slope
    if not squared >= 0:
        return (least + most) / 2
    root = math.sqrt(squared)
    bottom = last.slope - first.slope + 2 * root
    if not bottom:
        return (least + most) / 2
    return min(max(last.length - width * ((last.slope + root - mean) / bottom), least), most)
