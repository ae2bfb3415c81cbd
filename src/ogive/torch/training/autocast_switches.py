"""The switches of autocast, which libraries save, set and restore themselves.

The CPU's switches are those that `autocast` sets. The other devices' switches have no effect.
"""

from __future__ import annotations

import threading
from typing import Any

from ogive.amp.autocast import LOW
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.errors import ArgumentError, DtypeError
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
"""The initial dtype of each device."""


class _Switches(threading.local):
    """The switches as a thread has set them."""

    def __init__(self) -> None:
        self.dtypes = dict(START)
        self.enabled = dict.fromkeys(START, False)  # not used for the CPU: its contexts have it
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
    """Whether autocast is on for a device in this thread.

    >>> with ogive.torch.autocast("cpu"):
    ...     ogive.torch.is_autocast_enabled("cpu"), ogive.torch.is_autocast_enabled()
    (True, False)
    """
    kind = _kind(device_type)
    if kind == "cpu":
        return autocast_dtypes.current() is not None
    return _switches.enabled[kind]


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn autocast on or off until the enclosing context ends. One argument is for "cuda".

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
    """The dtype of autocast on a device, whether it is on or off.

    >>> ogive.torch.get_autocast_dtype("cpu"), ogive.torch.get_autocast_dtype("cuda")
    (torch.bfloat16, torch.float16)
    """
    kind = _kind(device_type)
    current = autocast_dtypes.current() if kind == "cpu" else None
    return current or _switches.dtypes[kind]


def set_autocast_dtype(device_type: Any, dtype: Any) -> None:
    """Set the dtype of autocast; inside a context, until the context ends.

    Raises `DtypeError` for a dtype that autocast on the CPU does not have.
    """
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
    """Count one more context. Returns the number of contexts."""
    _switches.nesting += 1
    return _switches.nesting


def autocast_decrement_nesting() -> int:
    """Count one context less. Returns the number of contexts."""
    _switches.nesting -= 1
    return _switches.nesting


def is_autocast_cache_enabled() -> bool:
    """The value that `set_autocast_cache_enabled` has set."""
    return _switches.is_caching


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Store the value. It has no effect: equal casts are one node in any case."""
    _switches.is_caching = bool(enabled)


def clear_autocast_cache() -> None:
    """Do nothing: there is no cache of casts."""
