"""Forms of Fourier transforms, by NumPy."""

from __future__ import annotations

from typing import Any

from numpy import fft

from ogive.eager.casts import check_size, to_float
from ogive.eager.forms import Refused, form, forms
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


@form(fourier_transforms._along)
def along(x: Any, n: Any, axis: Any, norm: Any, sign: Any, name: Any) -> Any:
    """A transform along one axis."""
    transform = fft.fft if sign == FORWARD else fft.ifft
    return transform(_operand(x, n, axis), n, axis, norm)


@form(_rfft.__wrapped__)
def rfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The first half of the transform of real numbers; the other half is its mirror image."""
    if x.dtype.kind == "c":
        raise Refused
    return fft.rfft(_operand(x, n, axis), n, axis, norm)


@form(_irfft.__wrapped__)
def irfft(x: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """The inverse of `rfft`."""
    return fft.irfft(_operand(x, n, axis), n, axis, norm)


for _function in (fourier_transforms._along, _irfft.__wrapped__):
    forms[_function].takes_complex = True

