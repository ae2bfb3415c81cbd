"""Forms of convolutions and transposed convolutions, by `sample_columns.py`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ogive.eager.forms import Refused, form, gradient
from ogive.eager.layers.sample_columns import correlate, scatter, weigh
from ogive.eager.layers.window_taps import Windows, per_axis, windows
from ogive.eager.products.product_forms import check_work
from ogive.tensor.neural import convolutions as plain


def _check(x: Any, weight: Any, bias: Any, groups: Any, axes: int) -> None:
    if x.dtype != weight.dtype or x.dtype.kind != "f" or not x.size or not weight.size:
        raise Refused
    if bias is not None and bias.dtype != x.dtype:
        raise Refused
    if x.ndim not in (axes + 1, axes + 2) or weight.ndim != axes + 2:
        raise Refused
    if groups.__class__ is not int or groups < 1 or len(weight) % groups:
        raise Refused


def _check_work(places: Windows, count: int, channels: int, features: int) -> None:
    """Raise `Refused` if a convolution is too much work. `channels` are those of one feature."""
    number = count * len(places.cuts)
    for length in places.places:
        number *= length
    check_work(number * channels * features, number // len(places.cuts) * features)


def _with_bias(total: Any, bias: Any, features: int) -> Any:
    """The sum of (batch, features, ...) and a bias for each feature."""
    if bias is not None:
        if bias.shape != (features,):
            raise Refused
        total += bias.reshape(-1, *(1,) * (total.ndim - 2))
    return total


def _find(x: Any, weight: Any, options: tuple[Any, Any, Any]) -> Windows:
    stride, padding, dilation = [
        tuple(each) if each.__class__ is list else each for each in options
    ]
    lengths = x.shape[2:]
    return windows(lengths, weight.shape[2:], stride, dilation, padding)


def _convolve(
    x: Any, weight: Any, bias: Any, options: tuple[Any, Any, Any], groups: Any, axes: int
) -> Any:
    _check(x, weight, bias, groups, axes)
    batched = x if x.ndim == axes + 2 else x[None]
    count, channels = batched.shape[:2]
    features = len(weight)
    if channels != weight.shape[1] * groups:
        raise Refused
    places = _find(batched, weight, options)
    _check_work(places, count, channels, features // groups)
    convolved = _with_bias(correlate(places, batched, weight, groups), bias, features)
    return convolved if batched is x else convolved[0]


def _gradients(
    given: Any, x: Any, weight: Any, bias: Any, options: tuple[Any, Any, Any], groups: Any
) -> Any:
    batched, below = (x, given) if x.ndim == weight.ndim else (x[None], given[None])
    places = _find(batched, weight, options)

    def to_x() -> Any:
        to_image = scatter(places, below, weight, groups)
        return to_image if batched is x else to_image[0]

    def to_weight() -> Any:
        return weigh(places, batched, below, weight, groups)

    if bias is None:
        return to_x, to_weight
    return to_x, to_weight, below.sum((0, *range(2, below.ndim)))


def _convolution(
    given: Any,
    out: Any,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: Any = 1,
) -> Any:
    return _gradients(given, x, weight, bias, (stride, padding, dilation), groups)


def _declare(function: Callable[..., Any], axes: int) -> None:
    """Declare the form of convolutions over `axes` axes."""

    @form(function)
    def convolve(
        x: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: Any = 1,
    ) -> Any:
        return _convolve(x, weight, bias, (stride, padding, dilation), groups, axes)

    gradient(convolve)(_convolution)


for _function, _axes in ((plain.conv1d, 1), (plain.conv2d, 2), (plain.conv3d, 3)):
    _declare(_function, _axes)


# Transposed convolutions: the gradient of a convolution by its input


def _transposed(x: Any, weight: Any, options: tuple[Any, ...], groups: int) -> Windows:
    """The windows of the convolution whose input has the shape of the result."""
    stride, padding, extra, dilation = options
    axes = weight.ndim - 2
    strides, pads = per_axis(stride, axes), per_axis(padding, axes, 0)
    extras, dilations = per_axis(extra, axes, 0), per_axis(dilation, axes)
    rows = zip(x.shape[2:], strides, pads, extras, dilations, weight.shape[2:], strict=True)
    lengths, around = [], []
    for length, step, pad, more, gap, taps in rows:
        if more >= max(step, gap):
            raise Refused
        reach = (length - 1) * step + gap * (taps - 1) + 1
        lengths.append(reach - 2 * pad + more)
        around.append((pad, pad - more))
    if min(lengths) < 1 or min(after for _, after in around) < 0:
        raise Refused
    return Windows(tuple(lengths), weight.shape[2:], strides, dilations, tuple(around))


def _convolve_transposed(
    x: Any, weight: Any, bias: Any, options: tuple[Any, ...], groups: Any, axes: int
) -> Any:
    _check(x, weight, bias, groups, axes)
    batched = x if x.ndim == axes + 2 else x[None]
    count, channels = batched.shape[:2]
    if channels != len(weight):
        raise Refused
    places = _transposed(batched, weight, options, groups)
    _check_work(places, count, weight.shape[1] * groups, channels // groups)
    check_work(0, count * weight.shape[1] * groups * math.prod(places.lengths))
    image = scatter(places, batched, weight, groups)
    image = _with_bias(image, bias, weight.shape[1] * groups)
    return image if batched is x else image[0]


def _transposed_convolution(
    given: Any,
    out: Any,
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: Any = 1,
    dilation: Any = 1,
) -> Any:
    batched, below = (x, given) if x.ndim == weight.ndim else (x[None], given[None])
    options = (stride, padding, output_padding, dilation)
    places = _transposed(batched, weight, options, groups)

    def to_x() -> Any:
        to_image = correlate(places, below, weight, groups)
        return to_image if batched is x else to_image[0]

    def to_weight() -> Any:
        return weigh(places, below, batched, weight, groups)

    if bias is None:
        return to_x, to_weight
    return to_x, to_weight, below.sum((0, *range(2, below.ndim)))


def _declare_transposed(function: Callable[..., Any], axes: int) -> None:
    @form(function)
    def convolve(
        x: Any,
        weight: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: Any = 1,
        dilation: Any = 1,
    ) -> Any:
        options = (stride, padding, output_padding, dilation)
        return _convolve_transposed(x, weight, bias, options, groups, axes)

    gradient(convolve)(_transposed_convolution)


for _axes, _transpose in enumerate(
    (plain.conv_transpose1d, plain.conv_transpose2d, plain.conv_transpose3d), 1
):
    _declare_transposed(_transpose, _axes)
