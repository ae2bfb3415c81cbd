"""`torch.nn.attention`. The compiler chooses the kernel of attention here."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from typing import Any

__all__ = [
    "SDPBackend", "sdpa_kernel",
]  # fmt: skip


class SDPBackend(enum.IntEnum):
    """The kernels from which PyTorch chooses."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[None]:
    """A context without effect: attention is always one fused kernel."""
    yield
