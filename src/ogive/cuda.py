"""What a program asks before it decides to use CUDA, which there is none of.

>>> ogive.cuda.is_available()
False
"""

from __future__ import annotations

from typing import NoReturn


def is_available() -> bool:
    """Whether there is a CUDA device: no."""
    return False


def device_count() -> int:
    """How many CUDA devices there are: none."""
    return 0


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(
        f"module 'ogive.cuda' has no attribute {name!r}: there is no CUDA device, all tensors are "
        "on the CPU"
    )
