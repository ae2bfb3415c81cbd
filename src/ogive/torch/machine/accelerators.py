"""What programs ask of CUDA and its like, of which there is none: counts are 0, nothing waits."""

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


class Stream:
    """An order of work on a device: here there is one, and nothing runs beside it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Any device and priority."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    wait_event = wait_stream

    def record_event(self, event: Event | None = None) -> Event:
        """The moment, which is now."""
        made = event or Event()
        made.record()
        return made

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing to leave."""


class Event:
    """A moment of a device's work, which is now."""

    def __init__(self, enable_timing: bool = False, *args: Any, **kwargs: Any) -> None:
        self._moment = 0.0

    def record(self, stream: Any = None) -> None:
        """Take the time."""
        self._moment = time.perf_counter()

    def synchronize(self) -> None:
        """Nothing to wait for."""

    wait = synchronize

    def query(self) -> bool:
        """Whether it has happened."""
        return True

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this moment to another."""
        return (end_event._moment - self._moment) * 1e3


def current_stream(device: Any = None) -> Stream:
    """The order of work."""
    return Stream()


default_stream = current_stream


@contextmanager
def stream(stream: Any) -> Iterator[None]:
    """Work inside in that order."""
    yield


def set_stream(stream: Any) -> None:
    """Nothing to set."""


def is_current_stream_capturing() -> bool:
    """Whether a graph of the device's is being made: no."""
    return False


def init() -> None:
    """Raises `DeviceError`: there is none."""
    _refuse("init")


def set_device_index(device: Any) -> None:
    """Raises `DeviceError`: there is none."""
    _refuse("set_device_index")


def current_device_index() -> NoReturn:
    """Raises `DeviceError`: there is none."""
    _refuse("current_device_index")


@contextmanager
def device_index(device: int | None) -> Iterator[None]:
    """With another device inside: None changes nothing. Raises `DeviceError` for a number."""
    if device is not None:
        _refuse("device_index")
    yield


def get_arch_list() -> list[str]:
    """The kinds of devices: none."""
    return []


def mem_get_info(device: Any = None) -> NoReturn:
    """Raises `DeviceError`: there is none."""
    _refuse("mem_get_info")


def memory_stats(device: Any = None) -> dict[str, int]:
    """What is in use there: nothing."""
    return {}


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Likewise."""
    return ""


reset_max_memory_allocated = reset_peak_memory_stats


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Nothing to set."""


def get_rng_state_all() -> list[Any]:
    """The states of all devices: none."""
    return []


def set_rng_state_all(new_states: Any) -> None:
    """Likewise."""
