"""Signal processing: windows, and short-time Fourier transforms."""

from __future__ import annotations

from ogive.signal import windows
from ogive.signal.periodic import (
    bartlett_window,
    blackman_window,
    hamming_window,
    hann_window,
    kaiser_window,
)
from ogive.signal.spectra import istft, stft

__all__ = [
    "bartlett_window",
    "blackman_window",
    "hamming_window",
    "hann_window",
    "istft",
    "kaiser_window",
    "stft",
    "windows",
]
