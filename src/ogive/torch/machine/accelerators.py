"""`torch.cuda` and its like: facts about NVIDIA GPUs, and streams, of which there is one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NoReturn

from ogive import cuda
from ogive.errors import AllocateError, DeviceError
from ogive.tensor.device_name import Device
from ogive.torch.machine.randomness import get_rng_state as get_rng_state
from ogive.torch.machine.randomness import initial_seed as initial_seed
from ogive.torch.machine.randomness import manual_seed as manual_seed
from ogive.torch.machine.randomness import seed as seed
from ogive.torch.machine.randomness import set_rng_state as set_rng_state

__all__ = [
    "Event", "OutOfMemoryError", "Stream", "_initialized", "current_accelerator", "current_device",
    "current_device_index", "current_stream", "default_stream", "device_count", "device_index",
    "empty_cache", "get_arch_list", "get_device_capability", "get_device_name",
    "get_device_properties",
    "get_rng_state", "get_rng_state_all", "init", "initial_seed", "ipc_collect", "is_available",
    "is_bf16_supported", "is_current_stream_capturing", "is_initialized", "manual_seed",
    "manual_seed_all", "max_memory_allocated", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_reserved", "memory_stats", "memory_summary",
    "reset_max_memory_allocated", "reset_peak_memory_stats", "seed", "seed_all", "set_device",
    "set_device_index", "set_per_process_memory_fraction", "set_rng_state", "set_rng_state_all",
    "set_stream", "stream", "synchronize",
]  # fmt: skip


OutOfMemoryError = AllocateError
_initialized = False


def device_count() -> int:
    """The number of NVIDIA GPUs with a usable driver."""
    return cuda.device_count()


def is_available() -> bool:
    """Whether there is such a device."""
    return cuda.is_available()


def is_initialized() -> bool:
    """Whether there is such a device: its driver is loaded when it is first asked for."""
    return cuda.is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether there is such a device: kernels compute bfloat16 in float32 on all of them."""
    return cuda.is_available()


def current_accelerator(check_available: bool = False) -> Any:
    """The kind of accelerator that there is, as a device; None if there is none."""
    return Device("cuda") if cuda.is_available() else None


def manual_seed_all(seed: int) -> None:
    """Do nothing: `torch.manual_seed` sets the seed of draws, for all devices."""


def seed_all() -> None:
    """Do nothing: draws have one seed, for all devices."""


def synchronize(device: Any = None) -> None:
    """Wait for the work of a device, if there is one."""
    if cuda.is_available():
        cuda.synchronize(device)


def empty_cache() -> None:
    """Return memory that is held for reuse to the driver, if there is a device."""
    if cuda.is_available():
        cuda.empty_cache()


def ipc_collect() -> None:
    """Do nothing: devices share no memory with other processes."""


def memory_allocated(device: Any = None) -> int:
    """The bytes of a device's memory that tensors use; 0 without a device."""
    return cuda.memory_allocated(device) if cuda.is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """The bytes of a device's memory in use or held for reuse; 0 without a device."""
    return cuda.memory_reserved(device) if cuda.is_available() else 0


def max_memory_allocated(device: Any = None) -> int:
    """The bytes in use now: the most that were in use is not recorded."""
    return memory_allocated(device)


def max_memory_reserved(device: Any = None) -> int:
    """The bytes that are held now: the most that were held is not recorded."""
    return memory_reserved(device)


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: peaks are not recorded."""


def _check(name: str) -> None:
    """Raise `DeviceError`, a `RuntimeError`, where there is no device."""
    if not cuda.is_available():
        raise DeviceError(f"{name}: there is no CUDA device; ask is_available() first")


def current_device() -> int:
    """The number of the device that "cuda" means: 0. Raises `DeviceError` without one."""
    _check("current_device")
    return 0


def set_device(device: Any) -> None:
    """Accept the first device, which "cuda" means. Raises `DeviceError` for others."""
    _check("set_device")
    number = device if isinstance(device, int) else Device(device).index
    if number not in (None, 0):
        raise DeviceError(f'set_device: "cuda" always means cuda:0; name cuda:{number} instead')


def get_device_name(device: Any = None) -> str:
    """The name of a device. Raises `DeviceError` if there is none."""
    _check("get_device_name")
    return cuda.get_device_name(device)


def get_device_properties(device: Any = None) -> SimpleNamespace:
    """The `name` of a device; other facts are not known. Raises `DeviceError` without one."""
    return SimpleNamespace(name=get_device_name(device))


def get_device_capability(device: Any = None) -> NoReturn:
    """Raise `DeviceError`: it is not known, since kernels are compiled for the device at hand."""
    _check("get_device_capability")
    raise DeviceError("get_device_capability: the version of the device is not known here")


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
    """Do nothing where there is a device. Raises `DeviceError` without one."""
    _check("init")


def set_device_index(device: Any) -> None:
    """`set_device`."""
    set_device(device)


def current_device_index() -> int:
    """`current_device`."""
    return current_device()


@contextmanager
def device_index(device: int | None) -> Iterator[None]:
    """A context with a device. None has no effect; for numbers see `set_device`."""
    if device is not None:
        set_device(device)
    yield


def get_arch_list() -> list[str]:
    """Return an empty list: there are no devices."""
    return []


def mem_get_info(device: Any = None) -> NoReturn:
    """Raise `DeviceError`: how much memory is free is not known."""
    _check("mem_get_info")
    raise DeviceError("mem_get_info: how much memory is free is not known here")


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
