"""`torch.backends`: switches of libraries that Ogive does not use. They only keep their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

__all__ = [
    "allow_tf32", "benchmark", "deterministic", "enable_cudnn_sdp", "enable_flash_sdp",
    "enable_math_sdp", "enable_mem_efficient_sdp", "enabled", "flags", "flash_sdp_enabled",
    "is_available", "is_built", "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled",
    "sdp_kernel", "set_flags", "strategy", "version",
]  # fmt: skip

benchmark = False
deterministic = True
enabled = False
allow_tf32 = False
strategy = "auto"
matmul = SimpleNamespace(allow_tf32=False, allow_fp16_reduced_precision_reduction=False)


def is_available() -> bool:
    """Return False: the library is not used."""
    return False


def is_built() -> bool:
    """Return False: the library is not used."""
    return False


def version() -> None:
    """Return None: the library is not used."""
    return None


def enable_flash_sdp(enabled: bool) -> None:
    """Do nothing: attention is always one fused kernel."""


enable_math_sdp = enable_mem_efficient_sdp = enable_cudnn_sdp = enable_flash_sdp


def flash_sdp_enabled() -> bool:
    """Return True: attention does not keep its scores in memory."""
    return True


math_sdp_enabled = mem_efficient_sdp_enabled = flash_sdp_enabled


@contextmanager
def sdp_kernel(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A context without effect: attention is always one fused kernel."""
    yield


@contextmanager
def flags(*args: Any, **kwargs: Any) -> Iterator[None]:
    """A context without effect: the library is not used."""
    yield


def set_flags(**flags: Any) -> None:
    """Do nothing."""
