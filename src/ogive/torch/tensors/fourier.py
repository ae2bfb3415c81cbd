"""Functions of `torch.fft` whose parameters have other names in the array API."""

from __future__ import annotations

from ogive import fft
from ogive.torch.tensors.parameter_names import by_names

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]

fftfreq = by_names(fft.fftfreq, ("n",))
rfftfreq = by_names(fft.rfftfreq, ("n",))
fftshift = by_names(fft.fftshift, ("input", "dim"))
ifftshift = by_names(fft.ifftshift, ("input", "dim"))
