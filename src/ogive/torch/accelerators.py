"""What programs ask of CUDA and its like, of which there is none: counts are 0, nothing waits."""

from __future__ import annotations

from typing import Any, NoReturn

from ogive.errors import DeviceError
from ogive.torch.randomness import manual_seed as manual_seed

__all__ = [
    "current_accelerator", "current_device", "device_count", "empty_cache", "get_device_capability",
    "get_device_name", "get_device_properties", "ipc_collect", "is_available", "is_bf16_supported",
    "is_initialized", "manual_seed", "manual_seed_all", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "reset_peak_memory_stats",
    "seed_all", "set_device", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Whether there is such a device: no."""
    return False


def is_initialized() -> bool:
    """Whether there is such a device in use: no."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the device computes in bfloat16: there is none."""
    return False


def device_count() -> int:
    """How many there are: none."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """The accelerator in use: none."""
    return None


def manual_seed_all(seed: int) -> None:
    """The seed of draws; on the CPU it is that of `torch.manual_seed`, which this leaves alone."""


def seed_all() -> None:
    """Likewise: there is no device to seed."""


def synchronize(device: Any = None) -> None:
    """Wait for the device: there is none, and values that are asked for are computed."""


def empty_cache() -> None:
    """Free what the device holds unused: there is none."""


def ipc_collect() -> None:
    """Likewise."""


def memory_allocated(device: Any = None) -> int:
    """Bytes in use there: none."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Nothing is counted."""


def _refuse(name: str) -> NoReturn:
    raise DeviceError(f"{name}: there is no CUDA device; ask is_available() first")


def current_device() -> NoReturn:
    """Raises `DeviceError`, a `RuntimeError`: there is none."""
    _refuse("current_device")


def set_device(device: Any) -> NoReturn:
    """Raises `DeviceError`: there is none."""
    _refuse("set_device")


def get_device_name(device: Any = None) -> NoReturn:
    """Raises `DeviceError`: there is none."""
    _refuse("get_device_name")


def get_device_properties(device: Any = None) -> NoReturn:
    """Raises `DeviceError`: there is none."""
    _refuse("get_device_properties")


def get_device_capability(device: Any = None) -> NoReturn:
    """Raises `DeviceError`: there is none."""
    _refuse("get_device_capability")
