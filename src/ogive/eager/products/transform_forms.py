"""Forms of Fourier transforms, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy
from numpy import fft

from ogive.eager.casts import check_size, to_float
from ogive.eager.forms import Refused, form, forms, gradient
from ogive.eager.shapes.movement_forms import place_of
from ogive.fft import fourier_transforms
from ogive.fft.fourier_transforms import FORWARD

_rfft: Any = fourier_transforms.rfft
_irfft: Any = fourier_transforms.irfft


def _operand(x: Any, n: Any, axis: Any) -> Any:
    """The operand of a transform, in floats. Raises `Refused` for an invalid axis or length."""
    place = place_of(axis, x.ndim)
    if not x.size or not x.ndim or not (n is None or (n.__class__ is int and n > 0)):
        raise Refused
    check_size([n if n is not None and at == place else size for at, size in enumerate(x.shape)])
    return to_float(x)


_OPPOSITE: dict[Any, Any] = {
    None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward",
}
"""The norm with which the other direction is the transpose of a transform."""


def _back(given: Any, x: Any, axis: Any, norm: Any, is_forward: bool) -> Any:
    """The gradient of the operand of a transform, which was cut or padded with zeros."""
    transform = fft.ifft if is_forward else fft.fft
    return _fitted(transform(given, None, axis, _OPPOSITE[norm]), x, axis)


def _fitted(made: Any, x: Any, axis: Any) -> Any:
    """The first elements along an axis, or zeros behind them, so that the length is that of x."""
    place = place_of(axis, x.ndim)
    length, wanted = made.shape[place], x.shape[place]
    if length < wanted:
        widths = [(0, wanted - length if at == place else 0) for at in range(made.ndim)]
        return numpy.pad(made, widths)
    return made[_first_along(place, wanted)]


def _first_along(place: int, count: int) -> Any:
    return (*[slice(None)] * place, slice(count))


@form(fourier_transforms._along)
def along(x: Any, n: Any, axis: Any, norm: Any, sign: Any, name: Any) -> Any:
    """A transform along one axis."""
    transform = fft.fft if sign == FORWARD else fft.ifft
    return transform(_operand(x, n, axis), n, axis, norm)


@gradient(along)
def _along(
    given: Any, out: Any, x: Any, n: Any, axis: Any, norm: Any, sign: Any, name: Any
) -> Any:
    return (_back(given, x, axis, norm, sign == FORWARD),)


@form(_rfft.__wrapped__)
def rfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The first half of the transform of real numbers; the other half is its mirror image."""
    if x.dtype.kind == "c":
        raise Refused
    return fft.rfft(_operand(x, n, axis), n, axis, norm)


@gradient(rfft)
def _rfft_gradient(
    given: Any, out: Any, x: Any, n: Any = None, axis: Any = -1, norm: Any = None
) -> Any:
    place = place_of(axis, x.ndim)
    length = x.shape[place] if n is None else n
    whole = numpy.zeros((*given.shape[:place], length, *given.shape[place + 1 :]), given.dtype)
    whole[_first_along(place, given.shape[place])] = given
    return (_back(whole, x, axis, norm, True).real,)


@form(_irfft.__wrapped__)
def irfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The inverse of `rfft`."""
    return fft.irfft(_operand(x, n, axis), n, axis, norm)


@gradient(irfft)
def _irfft_gradient(
    given: Any, out: Any, x: Any, n: Any = None, axis: Any = -1, norm: Any = None
) -> Any:
    place = place_of(axis, x.ndim)
    made = fft.rfft(given, None, axis, _OPPOSITE[norm])
    # Each number between the first and the middle one stands for its mirror image, too.
    twice = slice(1, (given.shape[place] + 1) // 2)
    made[(*[slice(None)] * place, twice)] *= 2
    return (_fitted(made, x, axis),)


for _function in (fourier_transforms._along, _rfft.__wrapped__, _irfft.__wrapped__):
    forms[_function].takes_complex = forms[_function].is_conjugating = True
