"""Signals: windows, and spectra of short times."""

from __future__ import annotations

from ogive.signal import windows
from ogive.signal.spectra import istft, stft

__all__ = ["istft", "stft", "windows"]
