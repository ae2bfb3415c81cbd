"""`torch.cuda` and its like on a machine without such devices: counts are 0, nothing waits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ogive.errors import DeviceError
from ogive.torch.machine.randomness import get_rng_state as get_rng_state
from ogive.torch.machine.randomness import initial_seed as initial_seed
from ogive.torch.machine.randomness import manual_seed as manual_seed
from ogive.torch.machine.randomness import seed as seed
from ogive.torch.machine.randomness import set_rng_state as set_rng_state

__all__ = [
    "Event", "Stream", "current_accelerator", "current_device", "current_device_index",
    "current_stream", "default_stream", "device_count", "device_index", "empty_cache",
    "get_arch_list", "get_device_capability", "get_device_name", "get_device_properties",
    "get_rng_state", "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_reserved", "memory_stats", "memory_summary",
    "reset_max_memory_allocated", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_device_index", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all",
    "set_stream", "stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Return False: there is no such device."""
    return False


def is_initialized() -> bool:
    """Return False: there is no such device."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return False: there is no such device."""
    return False


def device_count() -> int:
    """Return 0: there is no such device."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """Return None: there is no accelerator."""
    return None


def manual_seed_all(seed: int) -> None:
    """Do nothing: there is no device to seed. `torch.manual_seed` sets the seed of the CPU."""


def seed_all() -> None:
    """Do nothing: there is no device to seed."""


def synchronize(device: Any = None) -> None:
    """Do nothing: there is no device to wait for."""


def empty_cache() -> None:
    """Do nothing: there is no device whose memory could be freed."""


def ipc_collect() -> None:
    """Do nothing: there is no device whose memory could be freed."""


def memory_allocated(device: Any = None) -> int:
    """Return 0: there is no device with memory in use."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: there is no device with memory in use."""


def _refuse(name: str) -> NoReturn:
    raise DeviceError(f"{name}: there is no CUDA device; ask is_available() first")


def current_device() -> NoReturn:
    """Raise `DeviceError`, a `RuntimeError`: there is no such device."""
    _refuse("current_device")


def set_device(device: Any) -> NoReturn:
    """Raise `DeviceError`: there is no such device."""
    _refuse("set_device")


def get_device_name(device: Any = None) -> NoReturn:
    """Raise `DeviceError`: there is no such device."""
    _refuse("get_device_name")


def get_device_properties(device: Any = None) -> NoReturn:
    """Raise `DeviceError`: there is no such device."""
    _refuse("get_device_properties")


def get_device_capability(device: Any = None) -> NoReturn:
    """Raise `DeviceError`: there is no such device."""
    _refuse("get_device_capability")


class Stream:
    """A stream of work. There is only one here, so nothing runs at the same time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Accept any device and priority."""

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Do nothing: there is nothing to wait for."""

    wait_event = wait_stream

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event at the present time."""
        recorded = event or Event()
        recorded.record()
        return recorded

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing."""


class Event:
    """A point in the work of a stream. Its time is that of the call of `record`."""

    def __init__(self, enable_timing: bool = False, *args: Any, **kwargs: Any) -> None:
        self._moment = 0.0

    def record(self, stream: Any = None) -> None:
        """Record the present time."""
        self._moment = time.perf_counter()

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""

    wait = synchronize

    def query(self) -> bool:
        """Whether the event has happened."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to `end_event`."""
        return (end_event._moment - self._moment) * 1e3


def current_stream(device: Any = None) -> Stream:
    """Return the only stream."""
    return Stream()


default_stream = current_stream


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """A context for work in a stream. It has no effect."""
    yield


def set_stream(stream: Any) -> None:
    """Do nothing: there is only one stream."""


def is_current_stream_capturing() -> bool:
    """Return False: there are no CUDA graphs."""
    return False


def init() -> None:
    """Raise `DeviceError`: there is no such device."""
    _refuse("init")


def set_device_index(device: Any) -> None:
    """Raise `DeviceError`: there is no such device."""
    _refuse("set_device_index")


def current_device_index() -> NoReturn:
    """Raise `DeviceError`: there is no such device."""
    _refuse("current_device_index")


@contextmanager
def device_index(device: int | None) -> Iterator[None]:
    """A context with another device. None has no effect; a number raises `DeviceError`."""
    if device is not None:
        _refuse("device_index")
    yield


def get_arch_list() -> list[str]:
    """Return an empty list: there are no devices."""
    return []


def mem_get_info(device: Any = None) -> NoReturn:
    """Raise `DeviceError`: there is no such device."""
    _refuse("mem_get_info")


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return an empty dictionary: there is no device with memory in use."""
    return {}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return an empty text: there is no device with memory in use."""
    return ""


reset_max_memory_allocated = reset_peak_memory_stats


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Do nothing: there is no device whose memory could be limited."""


def get_rng_state_all() -> list[Any]:
    """Return an empty list: there are no devices with states."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Do nothing: there are no devices with states."""
