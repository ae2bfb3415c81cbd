"""The constants of transforms: transform matrices, twiddle factors, chirps.

They are computed once, from angles that are exact fractions of a turn, and cached as tensors. So
all transforms of one length read the same memory.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.ir.dtype import DType
from ogive.errors import needing_memory
from ogive.tensor.tensor import Tensor

KEPT = 256
"""How many constants of each kind are cached."""

Array = NDArray[Any]

_PI = numpy.arctan2(numpy.longdouble(0), numpy.longdouble(-1))


def _roots(turns: Array, n: int) -> Array:
    """Return e^(2πi·turns/n) for integer turns, exact to about the last bit of float64."""
    angles = (turns % n) * (2 * _PI / n)
    sine, cosine = [_cleared(function(angles)) for function in (numpy.sin, numpy.cos)]
    roots: Array = (cosine + 1j * sine).astype(complex)
    return roots


def _cleared(values: Array) -> Array:
    """Set values to zero that are only rounding errors of π."""
    return numpy.where(abs(values) < 1e-15, 0, values)


def _parts(values: Array) -> Array:
    """Return the parts of complex numbers along a first axis."""
    return numpy.stack([values.real, values.imag])


@functools.lru_cache(KEPT)
@needing_memory("a Fourier transform")
def matrix(
    n: int, sign: int, sources: int, dtype: DType, on_the_right: bool, device: str
) -> Tensor:
    """Return the transform of length n as a real matrix on parts.

    Shapes: (2n, sources·n), where `sources` is 1 for real numbers and 2 for complex ones. With
    `on_the_right` it is transposed.
    """
    steps = numpy.arange(n)
    roots = _roots(sign * numpy.outer(steps, steps), n)
    columns = [numpy.concatenate([roots.real, roots.imag])]
    if sources == 2:
        columns.append(numpy.concatenate([-roots.imag, roots.real]))
    table = numpy.concatenate(columns, axis=1)
    return Tensor((table.T if on_the_right else table).astype(dtype.numpy), device=device)


@functools.lru_cache(KEPT)
@needing_memory("a Fourier transform")
def twiddles(
    first: int, second: int, sign: int, dtype: DType, device: str
) -> tuple[Tensor, Tensor]:
    """Return the twiddle factors between two stages of a transform of length first·second.

    Shapes: (2, first, second) each, for the part itself and for the other part (see `factors`).
    """
    turns = numpy.outer(numpy.arange(first), numpy.arange(second))
    return factors(_roots(sign * turns, first * second), dtype, device)


def factors(values: Array, dtype: DType, device: str) -> tuple[Tensor, Tensor]:
    """Return complex constants as factors of the parts (2, ...), and of the exchanged parts.

    (x, y)·(u + iv) = (x, y)·(u, u) + (y, x)·(-v, v)
    """
    own = numpy.stack([values.real, values.real])
    other = numpy.stack([-values.imag, values.imag])
    parts = [Tensor(each.astype(dtype.numpy), device=device) for each in (own, other)]
    return parts[0], parts[1]


class Chirp:
    """The constants of Bluestein's algorithm for length n, with a convolution of length `size`.

    `size` is a power of two. jk = (j² + k² - (k - j)²) / 2, so a transform is a convolution between
    two products.
    """

    def __init__(self, n: int, sign: int, dtype: DType, device: str) -> None:
        self.size = 1 << (2 * n - 2).bit_length()
        steps = numpy.arange(n)
        chirp = _roots(sign * (steps * steps), 2 * n)
        kernel = numpy.zeros(self.size, complex)
        kernel[:n] = chirp.conj()
        kernel[self.size - n + 1 :] = chirp[:0:-1].conj()
        self.ends = factors(chirp, dtype, device)
        self.spectrum = factors(numpy.fft.fft(kernel) / self.size, dtype, device)


@functools.lru_cache(KEPT)
@needing_memory("a Fourier transform")
def chirp(n: int, sign: int, dtype: DType, device: str) -> Chirp:
    """Return the cached constants for length n."""
    return Chirp(n, sign, dtype, device)
