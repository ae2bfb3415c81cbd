"""Facts about NVIDIA GPUs, under PyTorch's names.

>>> ogive.cuda.is_available() == (ogive.cuda.device_count() > 0)
True

Nothing of the driver is loaded before one of these is called or a tensor is made there.
"""

from __future__ import annotations

from ogive.devices.known_devices import check_name, count_devices, find_device
from ogive.devices.protocol import Device
from ogive.ir.device_names import GPUS


def is_available() -> bool:
    """Whether there is a GPU with a driver that can be used."""
    return device_count() > 0


def device_count() -> int:
    """How many GPUs there are."""
    return count_devices(GPUS)


def get_device_name(device: object = None) -> str:
    """The name of a GPU. Raises `DeviceError` where there is none."""
    return _find(device).describe().partition(",")[0]


def synchronize(device: object = None) -> None:
    """Wait for all work that a GPU was given so far."""
    _find(device).record().wait()


def memory_allocated(device: object = None) -> int:
    """Bytes of a GPU's memory that tensors and plans use."""
    found = _find(device)
    return found.reserved_bytes() - found.memory.bytes_held


def memory_reserved(device: object = None) -> int:
    """Bytes of a GPU's memory that this process has: those in use, and those held for later."""
    return _find(device).reserved_bytes()


def empty_cache(device: object = None) -> None:
    """Give memory that is held for later back to the driver."""
    _find(device).memory.trim()


def _find(device: object) -> Device:
    if device is None or isinstance(device, int):
        return find_device(check_name(GPUS, device))
    return find_device(check_name(device))
