"""Discrete Fourier transforms, by the names of the array API standard and of `torch.fft`.

    X[k] = Σ x[j]·e^(-2πi·jk/n)

They are lazy, compiled, and differentiable like any other operation. `docs/array-api.md` describes
how a length is factored.
"""

from __future__ import annotations

from ogive.fft.fourier_transforms import (
    fft,
    fftn,
    hfft,
    hfftn,
    ifft,
    ifftn,
    ihfft,
    ihfftn,
    irfft,
    irfftn,
    rfft,
    rfftn,
)
from ogive.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from ogive.fft.planes import fft2, hfft2, ifft2, ihfft2, irfft2, rfft2

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
