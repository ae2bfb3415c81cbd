"""Forms that choose between values: maxima and minima, bounds, masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.casts import check_together, in_rows, pair, sides, unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.elementwise import arithmetic, pairwise
from ogive.tensor.movement import joining

_ndarray = numpy.ndarray


def _declare(function: Callable[..., Any], operation: Any, beaten: Any) -> None:
    """Declare `maximum` or `minimum`. Equal operands share the gradient."""

    @form(function)
    def compute(x: Any, other: Any) -> Any:
        return operation(*pair(x, other))

    @gradient(compute)
    def _(given: Any, out: Any, x: Any, other: Any) -> Any:
        shared = numpy.where(x == other, given / 2, given)
        return sides(
            x, other,
            lambda: numpy.where(beaten(x, other), 0, shared),
            lambda: numpy.where(beaten(other, x), 0, shared),
        )  # fmt: skip


_declare(arithmetic.maximum, numpy.maximum, numpy.less)
_declare(arithmetic.minimum, numpy.minimum, numpy.greater)


def _declare_apart_from_nan(function: Callable[..., Any], operation: Any, wins: Any) -> None:
    """Declare `fmax` or `fmin`, which ignore NaN. Of equal operands the first has the gradient."""

    @form(function)
    def compute(x: Any, other: Any) -> Any:
        return operation(*pair(x, other))

    @gradient(compute)
    def _(given: Any, out: Any, x: Any, other: Any) -> Any:
        is_first = wins(x, other) | (other != other)
        return sides(
            x, other,
            lambda: numpy.where(is_first, given, 0), lambda: numpy.where(is_first, 0, given),
        )  # fmt: skip


_declare_apart_from_nan(pairwise.fmax, numpy.fmax, numpy.greater_equal)
_declare_apart_from_nan(pairwise.fmin, numpy.fmin, numpy.less_equal)


# Bounds


@form(arithmetic.clamp)
def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    """`x`, clamped to bounds."""
    if min is None and max is None:
        raise Refused
    if min is not None:
        x = _limited(numpy.maximum, x, min)
    return x if max is None else _limited(numpy.minimum, x, max)


@gradient(clamp)
def _clamp(given: Any, out: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    is_low = False if min is None else x < min
    is_high = False if max is None else x > max
    parts = [numpy.where(numpy.logical_or(is_low, is_high) | (x != x), 0, given)]
    if min.__class__ is _ndarray:
        is_low = is_low if max is None else is_low & (min < max)
        parts.append(numpy.where(is_low, given, 0))
    if max.__class__ is _ndarray:
        is_high = is_high if min is None else is_high | (max < min)
        parts.append(numpy.where(is_high, given, 0))
    bounds = [bound for bound in (min, max) if bound.__class__ is _ndarray]
    return [unbroadcast(part, operand) for part, operand in zip(parts, [x, *bounds], strict=True)]


@form(arithmetic.clamp_min)
def clamp_min(x: Any, min: Any) -> Any:
    """`x`, but at least `min`."""
    return _limited(numpy.maximum, x, min)


@gradient(clamp_min)
def _clamp_min(given: Any, out: Any, x: Any, min: Any) -> Any:
    return _clamp(given, out, x, min)


@form(arithmetic.clamp_max)
def clamp_max(x: Any, max: Any) -> Any:
    """`x`, but at most `max`."""
    return _limited(numpy.minimum, x, max)


@gradient(clamp_max)
def _clamp_max(given: Any, out: Any, x: Any, max: Any) -> Any:
    return _clamp(given, out, x, None, max)


def _limited(operation: Any, x: Any, bound: Any) -> Any:
    if bound != bound if bound.__class__ is not _ndarray else bound.dtype.kind == "b":
        raise Refused
    if x.dtype.kind == "b":
        raise Refused
    return operation(*pair(x, bound))


# Masks


def _choose(condition: Any, x: Any, other: Any) -> Any:
    if condition.__class__ is not _ndarray or condition.dtype.kind != "b":
        raise Refused
    if x.__class__ is _ndarray or other.__class__ is _ndarray:
        x, other = pair(x, other)
        for value in (x, other):
            if value.__class__ is _ndarray:
                check_together(condition, value)
    else:
        x, other = _numbers(x, other)
    out = numpy.where(condition, x, other)
    if allowance.is_beyond(out.size):
        raise Refused
    return out


def _numbers(x: Any, other: Any) -> tuple[Any, Any]:
    """Two Python numbers as NumPy numbers of their promoted dtype."""
    kinds = {x.__class__, other.__class__}
    if not kinds <= {bool, int, float}:
        raise Refused
    kind: Any = numpy.float32 if float in kinds else numpy.int64 if int in kinds else numpy.bool_
    return kind(x), kind(other)


@form(joining.where)
def where(condition: Any, if_true: Any, if_false: Any) -> Any:
    """`if_true` where `condition` is True, `if_false` elsewhere."""
    return _choose(condition, if_true, if_false)


@gradient(where)
def _where(given: Any, out: Any, condition: Any, if_true: Any, if_false: Any) -> Any:
    return (None, *_chosen(given, condition, if_true, if_false))


@form(pairwise.where)
def where_method(x: Any, condition: Any, other: Any) -> Any:
    """`x` where `condition` is True, `other` elsewhere."""
    return _choose(condition, x, other)


@gradient(where_method)
def _where_method(given: Any, out: Any, x: Any, condition: Any, other: Any) -> Any:
    first, *rest = _chosen(given, condition, x, other)
    return (first, None, *rest)


def _chosen(given: Any, condition: Any, x: Any, other: Any) -> Any:
    return sides(
        x, other,
        lambda: numpy.where(condition, given, 0), lambda: numpy.where(condition, 0, given),
    )  # fmt: skip


_FILLS = {"f": (float, int, bool), "i": (int, bool), "u": (int, bool), "b": (bool,)}
"""The types of numbers with which an array can be filled, by the kind of its dtype."""


@form(pairwise.masked_fill)
def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """`value` where `mask` is True, `x` elsewhere, in the dtype of `x`."""
    if value.__class__ is _ndarray:
        if value.ndim or value.dtype != x.dtype:
            raise Refused
    elif value.__class__ not in _FILLS[x.dtype.kind]:
        raise Refused
    return in_rows(_choose(mask, value, x))


@gradient(masked_fill)
def _masked_fill(given: Any, out: Any, x: Any, mask: Any, value: Any) -> Any:
    kept = unbroadcast(numpy.where(mask, 0, given), x)
    if value.__class__ is not _ndarray:
        return (kept, None)
    return (kept, None, unbroadcast(numpy.where(mask, given, 0), value))
