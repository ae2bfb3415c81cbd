"""Line search: find a step length that fulfils the strong Wolfe conditions.

    f(t) ≤ f(0) + c₁·t·f'(0)        the loss decreases enough
    |f'(t)| ≤ c₂·|f'(0)|            the slope is flat enough

First the step grows until two trials enclose a good length. Then the interval shrinks: the next
trial is the minimum of the cubic that has the values and slopes of its two ends.
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
"""The least distance of a trial from the ends of the interval, as a share of its width."""


class Trial(NamedTuple):
    """A step length, and there the loss, its gradient, and its slope along the direction."""

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
    """Search along `direction`. Gives the best trial and the number of trials.

    `evaluate` gives the loss and its gradient at a length. `start` is the trial of length 0, and
    `length` the first length to try. The search ends when the interval, times the largest element
    of `direction`, is at most `tolerance`.
    """
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
    """The next length to try in an interval, and whether it is near an end of the interval.

    If the last trial was near an end (`crowded`) and this one would be again, it is moved inwards.
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
    """The minimum of the cubic through two trials, moved into the bounds `least` and `most`.

    If the cubic has no minimum, the middle of the bounds.
    """
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
