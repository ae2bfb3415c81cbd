"""Forms of activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.casts import to_float, unbroadcast
from ogive.eager.elementwise.error_function import erf
from ogive.eager.forms import Refused, form, gradient
from ogive.tensor.neural import activations

_SELU_ALPHA = 1.6732632423543772
_SELU_SCALE = 1.0507009873554805


@form(activations.relu)
def relu(x: Any) -> Any:
    """max(x, 0)."""
    if x.dtype.kind == "b":
        raise Refused
    return numpy.maximum(x, 0)


@gradient(relu)
def _relu(given: Any, out: Any, x: Any) -> Any:
    return (numpy.where(x <= 0, 0, given),)


def _declare(
    function: Callable[..., Any],
    compute: Callable[[Any], Any],
    slope: Callable[[Any, Any], Any],
    takes_integers: bool = False,
) -> None:
    """Declare a function without parameters. `slope` is its derivative from argument and result."""

    @form(function)
    def perform(x: Any) -> Any:
        if x.dtype.kind != "f":
            if not takes_integers:
                raise Refused
            x = to_float(x)
        return compute(x)

    @gradient(perform)
    def _(given: Any, out: Any, x: Any) -> Any:
        return (given * slope(x, out),)


def _logistic(x: Any) -> Any:
    return 1 / (numpy.exp(-x) + 1)


def _silu_slope(x: Any, out: Any) -> Any:
    value = _logistic(x)
    return value * (x * (1 - value) + 1)


def _softplus(x: Any) -> Any:
    return numpy.where(x > 20, x, numpy.log1p(numpy.exp(numpy.minimum(x, 20))))


def _mish_slope(x: Any, out: Any) -> Any:
    inner = numpy.tanh(_softplus(x))
    return inner + x * _logistic(x) * (1 - inner * inner)


def _selu(x: Any) -> Any:
    curve = numpy.expm1(numpy.minimum(x, 0)) * (_SELU_ALPHA * _SELU_SCALE)
    return numpy.where(x > 0, x * _SELU_SCALE, curve)


def _selu_slope(x: Any, out: Any) -> Any:
    return numpy.where(x > 0, _SELU_SCALE, out + _SELU_ALPHA * _SELU_SCALE)


def _bounded(x: Any) -> Any:
    """relu6(x + 3)."""
    return numpy.minimum(numpy.maximum(x + 3, 0), 6)


def _hardswish_slope(x: Any, out: Any) -> Any:
    return numpy.where(x <= -3, 0, numpy.where(x < 3, x / 3 + 0.5, 1))


_declare(activations.sigmoid, _logistic, lambda x, out: out * (1 - out), takes_integers=True)
_declare(activations.silu, lambda x: x / (numpy.exp(-x) + 1), _silu_slope, takes_integers=True)
_declare(
    activations.logsigmoid,
    lambda x: numpy.minimum(x, 0) - numpy.log1p(numpy.exp(-abs(x))),
    lambda x, out: _logistic(-x),
)
_declare(activations.mish, lambda x: x * numpy.tanh(_softplus(x)), _mish_slope)
_declare(activations.selu, _selu, _selu_slope)
_declare(
    activations.hardsigmoid,
    lambda x: _bounded(x) / 6,
    lambda x, out: ((x > -3) & (x < 3)).astype(x.dtype) / 6,
)
_declare(activations.hardswish, lambda x: x * _bounded(x) / 6, _hardswish_slope)
_declare(
    activations.softsign, lambda x: x / (abs(x) + 1), lambda x, out: 1 / numpy.square(abs(x) + 1)
)
_declare(
    activations.tanhshrink, lambda x: x - numpy.tanh(x), lambda x, out: numpy.square(numpy.tanh(x))
)


@form(activations.gelu)
def gelu(x: Any, approximate: Any = "none") -> Any:
    """x · Φ(x)."""
    x = _floats(x)
    return x * 0.5 * (_gelu_inner(x, approximate) + 1)


@gradient(gelu)
def _gelu(given: Any, out: Any, x: Any, approximate: Any = "none") -> Any:
    inner = _gelu_inner(x, approximate)
    if approximate == "none":
        slope = numpy.exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
    else:
        slope = (1 - inner * inner) * (x * x * (3 * 0.044715) + 1) * math.sqrt(0.5 / math.pi)
    return (given * ((inner + 1) * 0.5 + x * slope),)


def _gelu_inner(x: Any, approximate: Any) -> Any:
    if approximate == "none":
        return erf(x * math.sqrt(0.5))
    if approximate != "tanh":
        raise Refused
    return numpy.tanh((x * x * x * 0.044715 + x) * math.sqrt(2 / math.pi))


@form(activations.hardtanh)
def hardtanh(x: Any, min_val: Any = -1, max_val: Any = 1) -> Any:
    """x, clamped to bounds."""
    return numpy.minimum(numpy.maximum(_floats(x), _number(min_val)), _number(max_val))


@gradient(hardtanh)
def _hardtanh(given: Any, out: Any, x: Any, min_val: Any = -1, max_val: Any = 1) -> Any:
    return (numpy.where((x <= min_val) | (x >= max_val), 0, given),)


@form(activations.relu6)
def relu6(x: Any) -> Any:
    """min(max(x, 0), 6)."""
    return hardtanh(x, 0, 6)


@gradient(relu6)
def _relu6(given: Any, out: Any, x: Any) -> Any:
    return _hardtanh(given, out, x, 0, 6)


@form(activations.leaky_relu)
def leaky_relu(x: Any, negative_slope: Any = 0.01) -> Any:
    """x; below 0, x · `negative_slope`."""
    return numpy.where(x > 0, _floats(x), x * _number(negative_slope))


@gradient(leaky_relu)
def _leaky_relu(given: Any, out: Any, x: Any, negative_slope: Any = 0.01) -> Any:
    return (numpy.where(x > 0, given, given * negative_slope),)


@form(activations.prelu)
def prelu(x: Any, weight: Any) -> Any:
    """x; below 0, x times the slope of its channel."""
    if weight.dtype != _floats(x).dtype or weight.ndim > 1:
        raise Refused
    return numpy.where(x > 0, x, x * _beside(weight, x))


@gradient(prelu)
def _prelu(given: Any, out: Any, x: Any, weight: Any) -> Any:
    slopes = _beside(weight, x)
    to_weight = unbroadcast(numpy.where(x > 0, 0, given * x), slopes)
    return (numpy.where(x > 0, given, given * slopes), to_weight.reshape(weight.shape))


def _beside(weight: Any, x: Any) -> Any:
    """The slopes, one for all or one per channel, in a shape that broadcasts with `x`."""
    if weight.size == 1:
        return weight.reshape((1,) * x.ndim)
    if x.ndim < 2 or weight.size != x.shape[1]:
        raise Refused
    return weight.reshape((-1,) + (1,) * (x.ndim - 2))


@form(activations.elu)
def elu(x: Any, alpha: Any = 1.0) -> Any:
    """x; below 0, `alpha` · (eˣ - 1)."""
    return numpy.where(x > 0, _floats(x), numpy.expm1(numpy.minimum(x, 0)) * _number(alpha))


@gradient(elu)
def _elu(given: Any, out: Any, x: Any, alpha: Any = 1.0) -> Any:
    return (numpy.where(x > 0, given, given * (out + alpha)),)


@form(activations.celu)
def celu(x: Any, alpha: Any = 1.0) -> Any:
    """x; below 0, `alpha` · (e^(x / alpha) - 1)."""
    if _number(alpha) == 0:
        raise Refused
    return numpy.where(x > 0, _floats(x), numpy.expm1(numpy.minimum(x, 0) / alpha) * alpha)


@gradient(celu)
def _celu(given: Any, out: Any, x: Any, alpha: Any = 1.0) -> Any:
    return (numpy.where(x > 0, given, given * numpy.exp(numpy.minimum(x, 0) / alpha)),)


@form(activations.softplus)
def softplus(x: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Any:
    """log(1 + e^(beta · x)) / beta."""
    scaled = _floats(x) * _number(beta)
    curve = numpy.log1p(numpy.exp(numpy.minimum(scaled, _number(threshold)))) / beta
    return numpy.where(scaled > threshold, x, curve)


@gradient(softplus)
def _softplus_gradient(given: Any, out: Any, x: Any, beta: Any = 1.0, threshold: Any = 20.0) -> Any:
    scaled = x * beta
    return (numpy.where(scaled > threshold, given, given * _logistic(scaled)),)


@form(activations.softshrink)
def softshrink(x: Any, lambd: Any = 0.5) -> Any:
    """x moved towards 0 by `lambd`."""
    if _number(lambd) < 0:
        raise Refused
    return _floats(x) - numpy.minimum(numpy.maximum(x, -lambd), lambd)


@gradient(softshrink)
def _softshrink(given: Any, out: Any, x: Any, lambd: Any = 0.5) -> Any:
    return (numpy.where(abs(x) <= lambd, 0, given),)


@form(activations.hardshrink)
def hardshrink(x: Any, lambd: Any = 0.5) -> Any:
    """x; 0 where |x| ≤ `lambd`."""
    return numpy.where(abs(_floats(x)) <= _number(lambd), 0, x)


@gradient(hardshrink)
def _hardshrink(given: Any, out: Any, x: Any, lambd: Any = 0.5) -> Any:
    return (numpy.where(abs(x) <= lambd, 0, given),)


@form(activations.threshold)
def threshold(x: Any, threshold: Any, value: Any) -> Any:
    """x where it is above `threshold`; `value` elsewhere."""
    return numpy.where(_floats(x) <= _number(threshold), _number(value), x)


@gradient(threshold)
def _threshold(given: Any, out: Any, x: Any, threshold: Any, value: Any) -> Any:
    return (numpy.where(x <= threshold, 0, given),)


@form(activations.glu)
def glu(x: Any, dim: Any = -1) -> Any:
    """The first half along `dim` times the sigmoid of the second."""
    first, second = _halves(_floats(x), dim)
    return first * _logistic(second)


@gradient(glu)
def _glu(given: Any, out: Any, x: Any, dim: Any = -1) -> Any:
    first, second = _halves(x, dim)
    value = _logistic(second)
    return (numpy.concatenate([given * value, given * first * (value * (1 - value))], dim),)


def _halves(x: Any, dim: Any) -> Any:
    """The two halves along an axis. NumPy raises for an odd length."""
    if dim.__class__ is not int:
        raise Refused
    return numpy.split(x, 2, dim)


def _floats(x: Any) -> Any:
    if x.dtype.kind != "f":
        raise Refused
    return x


def _number(value: Any) -> Any:
    if value.__class__ is not float and value.__class__ is not int:
        raise Refused
    return value
