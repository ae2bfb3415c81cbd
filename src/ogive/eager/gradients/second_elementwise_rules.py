"""Rules of second derivatives for elementwise functions and reductions.

    y = erf(x)             its gradient: dy · 2/√π · exp(-x²), with records of its own
    y = hardtanh(x)        dy · slope, where the slope is a constant almost everywhere
    y = gelu(x)            composed: that of x · 0.5 · (1 + erf(x / √2))
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import Refused, forms
from ogive.eager.gradients.second_derivatives import composed, rule, sides, slope, spread
from ogive.eager.tensors import give
from ogive.tensor.elementwise import (
    arithmetic,
    pairwise,
    special_functions,
    unary_compositions,
    unary_functions,
)
from ogive.tensor.movement import joining
from ogive.tensor.neural import activations
from ogive.tensor.reduction import basic_reductions, log_sum_exp, scanning, statistics
from ogive.tensor.sorting import order_statistics
from ogive.tensor.tensor import Tensor

_ROOT_OF_PI = math.sqrt(math.pi)

slope(unary_functions.exp2, lambda x, out: out * math.log(2))
slope(unary_functions.log2, lambda x, out: 1 / (x * math.log(2)))
slope(unary_functions.log10, lambda x, out: 1 / (x * math.log(10)))
slope(unary_functions.asin, lambda x, out: (1 - x * x).rsqrt())
slope(unary_functions.acos, lambda x, out: -(1 - x * x).rsqrt())
slope(unary_functions.asinh, lambda x, out: (x * x + 1).rsqrt())
slope(unary_functions.acosh, lambda x, out: (x * x - 1).rsqrt())
slope(unary_functions.atanh, lambda x, out: 1 / (1 - x * x))
slope(unary_functions.erf, lambda x, out: (-x * x).exp() * (2 / _ROOT_OF_PI))
slope(unary_functions.erfc, lambda x, out: (-x * x).exp() * (-2 / _ROOT_OF_PI))
slope(special_functions.erfinv, lambda x, out: (out * out).exp() * (_ROOT_OF_PI / 2))
slope(special_functions.lgamma, lambda x, out: x.digamma())


# Functions made of pieces that are straight lines


def _straight(*functions: Callable[..., Any]) -> None:
    """Declare the rule of functions whose slope is a constant almost everywhere."""
    for function in functions:
        rule(function)(functools.partial(_by_constant_slope, function))


def _by_constant_slope(
    function: Callable[..., Any], given: Any, out: Any, x: Any, *args: Any, **names: Any
) -> Any:
    ones = numpy.ones_like(x.value)
    (found,) = forms[function].gradient(ones, out.value, x.value, *args, **names)
    return [lambda: given * give(numpy.asarray(found))]


_straight(
    unary_functions.sign, unary_functions.floor, unary_functions.ceil, unary_functions.trunc,
    unary_functions.round, unary_compositions.frac, activations.hardtanh, activations.relu6,
    activations.hardsigmoid, activations.softshrink, activations.hardshrink, activations.threshold,
    unary_compositions.nan_to_num,
)  # fmt: skip


# Activations


@composed(activations.gelu)
def _gelu(x: Any, approximate: Any = "none") -> Any:
    if approximate == "none":
        return x * 0.5 * ((x * math.sqrt(0.5)).erf() + 1)
    return x * 0.5 * (((x * x * x * 0.044715 + x) * math.sqrt(2 / math.pi)).tanh() + 1)


@composed(activations.elu)
def _elu(x: Any, alpha: Any = 1.0) -> Any:
    return joining.where(x.detach() > 0, x, x.clamp_max(0).expm1() * alpha)


@composed(activations.celu)
def _celu(x: Any, alpha: Any = 1.0) -> Any:
    return joining.where(x.detach() > 0, x, (x.clamp_max(0) / alpha).expm1() * alpha)


@composed(activations.selu)
def _selu(x: Any) -> Any:
    return _elu(x, 1.6732632423543772) * 1.0507009873554805


@composed(activations.mish)
def _mish(x: Any) -> Any:
    return x * x.softplus().tanh()


@composed(activations.logsigmoid)
def _logsigmoid(x: Any) -> Any:
    return -(-x).softplus()


@composed(activations.softsign)
def _softsign(x: Any) -> Any:
    return x / (x.abs() + 1)


@composed(activations.tanhshrink)
def _tanhshrink(x: Any) -> Any:
    return x - x.tanh()


@composed(activations.hardswish)
def _hardswish(x: Any) -> Any:
    return x * (x + 3).clamp(0, 6) / 6


@composed(activations.glu)
def _glu(x: Any, dim: Any = -1) -> Any:
    half = x.value.shape[dim] // 2
    return x.narrow(dim, 0, half) * x.narrow(dim, half, half).sigmoid()


@composed(activations.prelu)
def _prelu(x: Any, weight: Any) -> Any:
    if weight.value.size != 1:
        weight = weight.reshape(-1, *(1,) * (x.value.ndim - 2))
    return joining.where(x.detach() > 0, x, x * weight)


@composed(unary_compositions.logit)
def _logit(x: Any, eps: Any = None) -> Any:
    x = x if eps is None else x.clamp(eps, 1 - eps)
    return (x / (1 - x)).log()


# Two operands


@rule(arithmetic.atan2)
def _atan2(given: Any, out: Any, x: Any, other: Any) -> Any:
    size = x * x + other * other
    return sides(x, other, lambda: given * other / size, lambda: -given * x / size)


@rule(arithmetic.remainder, pairwise.fmod)
def _remainder(given: Any, out: Any, x: Any, other: Any) -> Any:
    if isinstance(other, Tensor):
        raise Refused
    return [lambda: given]


@rule(arithmetic.reflected_pow)
def _reflected_pow(given: Any, out: Any, x: Any, other: Any) -> Any:
    if isinstance(other, Tensor) or other <= 0:
        raise Refused
    return [lambda: given * out * math.log(other)]


def _greater(x: Any, other: Any, is_first: Callable[[Any, Any], Any]) -> Any:
    """Of two tensors the element for which `is_first` holds, half of each where they are equal."""
    if not isinstance(other, Tensor):
        raise Refused
    one, two = x.detach(), other.detach()
    equal = (x + other) * 0.5
    return joining.where(is_first(one, two), x, joining.where(is_first(two, one), other, equal))


@composed(arithmetic.maximum, pairwise.fmax)
def _maximum(x: Any, other: Any) -> Any:
    return _greater(x, other, lambda one, two: one > two)


@composed(arithmetic.minimum, pairwise.fmin)
def _minimum(x: Any, other: Any) -> Any:
    return _greater(x, other, lambda one, two: one < two)


@composed(pairwise.logaddexp)
def _logaddexp(x: Any, other: Any) -> Any:
    return x + (other - x).softplus()


@composed(pairwise.hypot)
def _hypot(x: Any, other: Any) -> Any:
    return (x * x + other * other).sqrt()


@composed(pairwise.xlogy)
def _xlogy(x: Any, other: Any) -> Any:
    if not isinstance(other, Tensor) or not x.value.all():
        raise Refused
    return x * other.log()


@composed(pairwise.addcdiv)
def _addcdiv(x: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    return x + tensor1 / tensor2 * value


# Reductions


def _deviation(
    x: Any, dim: Any = None, correction: Any = 1, keepdim: Any = False, *, unbiased: Any = None
) -> Any:
    """The variance along axes."""
    if dim.__class__ is bool:
        dim, unbiased = None, dim
    if unbiased is not None or correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    away = x - (x.mean() if dim is None else x.mean(dim, keepdim=True))
    squares = away * away
    total = squares.sum() if dim is None else squares.sum(dim, keepdim=keepdim)
    freedom = x.value.size // max(total.value.size, 1) - correction
    if freedom <= 0:
        raise Refused
    return total * (1 / freedom)


composed(basic_reductions.var)(_deviation)


@composed(basic_reductions.std)
def _std(x: Any, *args: Any, **kwargs: Any) -> Any:
    variance = _deviation(x, *args, **kwargs)
    if not variance.value.all():
        raise Refused
    return variance.sqrt()


@composed(statistics.norm)
def _norm(x: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    power = 2 if p in ("fro", None) else p
    axes = dim if dim is None or isinstance(dim, int) else tuple(dim)
    if power in (0, math.inf, -math.inf) or not x.value.any(axes).all():
        raise Refused
    size = x * x if power == 2 else x.abs() if power == 1 else x.abs() ** power
    total = size.sum() if dim is None else size.sum(dim, keepdim=keepdim)
    return total.sqrt() if power == 2 else total if power == 1 else total ** (1 / power)


@rule(basic_reductions.prod)
def _prod(given: Any, out: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    if not x.value.all():
        raise Refused
    return [lambda: spread(given * out, x, dim, keepdim) / x]


@composed(log_sum_exp.normalize)
def _normalize(x: Any, p: Any = 2.0, dim: Any = 1, eps: Any = 1e-12) -> Any:
    return x / x.norm(p, dim, keepdim=True).clamp_min(eps)


def _chosen(function: Callable[..., Any], line: Callable[..., Any]) -> None:
    """Declare the rule of a function that chooses among elements, or takes the mean of equal ones.
    `line` gives the axis and `keepdim` from the arguments."""
    rule(function)(functools.partial(_by_weights, function, line))


def _by_weights(
    function: Callable[..., Any], line: Callable[..., Any], given: Any, out: Any, x: Any,
    *args: Any, **kwargs: Any,
) -> Any:  # fmt: skip
    arrays = tuple(each.value for each in out) if isinstance(out, tuple) else out.value
    ones = numpy.ones_like(arrays[0] if isinstance(arrays, tuple) else arrays)
    (weights,) = forms[function].gradient(ones, arrays, x.value, *args, **kwargs)
    return [lambda: spread(given, x, *line(*args, **kwargs)) * give(numpy.asarray(weights))]


for _function in (
    basic_reductions.amax, basic_reductions.amin, basic_reductions.max, basic_reductions.min,
    order_statistics.median,
):  # fmt: skip
    _chosen(_function, lambda dim=None, keepdim=False: (dim, keepdim))
_chosen(order_statistics.mode, lambda dim=-1, keepdim=False: (dim, keepdim))
_chosen(order_statistics.kthvalue, lambda k, dim=-1, keepdim=False: (dim, keepdim))


def _put_back(given: Any, out: Any, x: Any, dim: Any = -1) -> Any:
    """The gradient of elements whose positions along an axis are the second result."""
    return [lambda: give(numpy.zeros_like(x.value)).scatter_add(dim, out[1], given)]


@rule(order_statistics.sort)
def _sort(
    given: Any, out: Any, x: Any, dim: Any = -1, descending: Any = False, stable: Any = False
) -> Any:
    return _put_back(given, out, x, dim)


@rule(order_statistics.topk)
def _topk(given: Any, out: Any, x: Any, k: Any, dim: Any = -1, *args: Any, **kwargs: Any) -> Any:
    return _put_back(given, out, x, dim)


rule(scanning.cummax, scanning.cummin)(_put_back)
