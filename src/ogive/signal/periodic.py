"""Windows by PyTorch's older names. They are periodic by default, for Fourier transforms.

    hann_window(n)   →   windows.hann(n, sym=False)
"""

from __future__ import annotations

from typing import Any

from ogive.signal import windows
from ogive.tensor.tensor import Tensor


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """The Bartlett window, `signal.windows.bartlett`, a triangle. Shapes: (window_length,).

    >>> bartlett_window(4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return windows.bartlett(window_length, sym=not periodic, **options)


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """The Blackman window, `signal.windows.blackman`. Shapes: (window_length,).

    >>> blackman_window(4)[2].item()
    1.0
    """
    return windows.blackman(window_length, sym=not periodic, **options)


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    **options: Any,
) -> Tensor:
    """The Hamming window, alpha - beta·cos(2πi/N). Shapes: (window_length,).

    >>> hamming_window(2, alpha=0.5, beta=0.5).tolist()
    [0.0, 1.0]
    """
    return windows.general_cosine(window_length, a=[alpha, beta], sym=not periodic, **options)


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """The Hann window, `signal.windows.hann`. Shapes: (window_length,).

    >>> hann_window(4).round(decimals=6).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    return windows.hann(window_length, sym=not periodic, **options)


def kaiser_window(
    window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any
) -> Tensor:
    """The Kaiser window, `signal.windows.kaiser`. Shapes: (window_length,).

    >>> kaiser_window(2, beta=0.0).tolist()
    [1.0, 1.0]
    """
    return windows.kaiser(window_length, beta=beta, sym=not periodic, **options)
