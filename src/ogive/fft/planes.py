"""Transforms along two axes, by default the last two."""

from __future__ import annotations

from ogive.compat.methods.keywords import also
from ogive.fft.fourier_transforms import (
    Lengths,
    fftn,
    hfftn,
    ifftn,
    ihfftn,
    irfftn,
    rfftn,
)
from ogive.tensor.tensor import Tensor

LAST = (-2, -1)


@also(dim="axes")
def fft2(x: Tensor, /, s: Lengths = None, axes: Lengths = LAST, norm: str | None = None) -> Tensor:
    """`fftn` along two axes.

    >>> ogive.fft.fft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    return fftn(x, s, axes, norm)


@also(dim="axes")
def ifft2(x: Tensor, /, s: Lengths = None, axes: Lengths = LAST, norm: str | None = None) -> Tensor:
    """`ifftn` along two axes.

    >>> ogive.fft.ifft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    return ifftn(x, s, axes, norm)


@also(dim="axes")
def rfft2(x: Tensor, /, s: Lengths = None, axes: Lengths = LAST, norm: str | None = None) -> Tensor:
    """`rfftn` along two axes.

    >>> ogive.fft.rfft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    return rfftn(x, s, axes, norm)


@also(dim="axes")
def irfft2(
    x: Tensor, /, s: Lengths = None, axes: Lengths = LAST, norm: str | None = None
) -> Tensor:
    """`irfftn` along two axes.

    >>> ogive.fft.irfft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    return irfftn(x, s, axes, norm)


@also(dim="axes")
def hfft2(x: Tensor, /, s: Lengths = None, axes: Lengths = LAST, norm: str | None = None) -> Tensor:
    """`hfftn` along two axes.

    >>> ogive.fft.hfft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    return hfftn(x, s, axes, norm)


@also(dim="axes")
def ihfft2(
    x: Tensor, /, s: Lengths = None, axes: Lengths = LAST, norm: str | None = None
) -> Tensor:
    """`ihfftn` along two axes.

    >>> ogive.fft.ihfft2(Tensor([[1.0, 0.0], [0.0, 0.0]])).shape
    (2, 2)
    """
    return ihfftn(x, s, axes, norm)
