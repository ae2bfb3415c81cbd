"""Discrete Fourier transforms, by the names of the array API standard and of `torch.fft`.

    X[k] = Σ x[j]·e^(-2πi·jk/n)

They are lazy like any other operation, compiled, and gradients flow through them. See
`docs/array-api.md` for how a length is taken apart.
"""

from __future__ import annotations

from ogive.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from ogive.fft.transforms import (
    fft,
    fftn,
    hfft,
    ifft,
    ifftn,
    ihfft,
    irfft,
    irfftn,
    rfft,
    rfftn,
)

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]
