"""The switches inside of autocast, which libraries save, set and put back themselves.

Those of the CPU are those that `autocast` sets. The others are kept, and nothing is cast for them.
"""

from __future__ import annotations

import threading
from typing import Any

from ogive.amp.autocast import LOW
from ogive.errors import ArgumentError, DtypeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType, to_dtype
from ogive.tensor import autocast_dtypes

__all__ = [
    "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache",
    "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_autocast_enabled",
    "set_autocast_cache_enabled", "set_autocast_cpu_dtype", "set_autocast_cpu_enabled",
    "set_autocast_dtype", "set_autocast_enabled", "set_autocast_gpu_dtype",
]  # fmt: skip

START = {
    "cpu": dtypes.bfloat16, "cuda": dtypes.float16, "hpu": dtypes.bfloat16, "ipu": dtypes.float16,
    "mps": dtypes.float16, "mtia": dtypes.bfloat16, "xla": dtypes.bfloat16, "xpu": dtypes.float16,
}  # fmt: skip
"""The dtype that each device starts with."""


class _Switches(threading.local):
    """What a thread has set."""

    def __init__(self) -> None:
        self.dtypes = dict(START)
        self.enabled = dict.fromkeys(START, False)  # the CPU's is that of the contexts
        self.nesting = 0
        self.is_caching = True


_switches = _Switches()


def _kind(device_type: Any) -> str:
    kind = str(device_type).lower().partition(":")[0]
    if kind not in START:
        raise ArgumentError(
            f"autocast: unknown device {device_type!r}; known are {', '.join(START)}"
        )
    return kind


def is_autocast_enabled(device_type: Any = "cuda") -> bool:
    """Whether this thread computes with a device in a smaller dtype.

    >>> with ogive.torch.autocast("cpu"):
    ...     ogive.torch.is_autocast_enabled("cpu"), ogive.torch.is_autocast_enabled()
    (True, False)
    """
    kind = _kind(device_type)
    if kind == "cpu":
        return autocast_dtypes.current() is not None
    return _switches.enabled[kind]


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn it on or off, until the context around ends. One argument is for "cuda".

    >>> ogive.torch.set_autocast_enabled("cpu", True)
    >>> (ogive.torch.ones(2, 2) @ ogive.torch.ones(2, 2)).dtype
    torch.bfloat16
    >>> ogive.torch.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    kind = _kind(device_type)
    if kind == "cpu":
        autocast_dtypes.replace(get_autocast_dtype("cpu") if enabled else None)
    else:
        _switches.enabled[kind] = bool(enabled)


def get_autocast_dtype(device_type: Any) -> DType:
    """The dtype that autocast computes in on a device, or would.

    >>> ogive.torch.get_autocast_dtype("cpu"), ogive.torch.get_autocast_dtype("cuda")
    (torch.bfloat16, torch.float16)
    """
    kind = _kind(device_type)
    current = autocast_dtypes.current() if kind == "cpu" else None
    return current or _switches.dtypes[kind]


def set_autocast_dtype(device_type: Any, dtype: Any) -> None:
    """Choose the dtype; inside of a context, until that ends. Raises `DtypeError` for one that the
    CPU has no autocast in."""
    kind, wanted = _kind(device_type), to_dtype(dtype)
    if kind == "cpu" and wanted not in LOW:
        raise DtypeError(f"autocast computes in bfloat16 or float16, not in {wanted.name}")
    if kind == "cpu" and autocast_dtypes.current() is not None:
        autocast_dtypes.replace(wanted)
    else:
        _switches.dtypes[kind] = wanted


def is_autocast_cpu_enabled() -> bool:
    """`is_autocast_enabled("cpu")`."""
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """`set_autocast_enabled("cpu", enabled)`."""
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype() -> DType:
    """`get_autocast_dtype("cpu")`."""
    return get_autocast_dtype("cpu")


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype("cpu", dtype)`."""
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype() -> DType:
    """`get_autocast_dtype("cuda")`."""
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """`set_autocast_dtype("cuda", dtype)`."""
    set_autocast_dtype("cuda", dtype)


def autocast_increment_nesting() -> int:
    """Count one context more; how many there are."""
    _switches.nesting += 1
    return _switches.nesting


def autocast_decrement_nesting() -> int:
    """Count one context less; how many there are."""
    _switches.nesting -= 1
    return _switches.nesting


def is_autocast_cache_enabled() -> bool:
    """What `set_autocast_cache_enabled` was told."""
    return _switches.is_caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Keep what is told: a cast that is used twice is one node in any case."""
    _switches.is_caching = bool(enabled)


def clear_autocast_cache() -> None:
    """Nothing to forget."""
