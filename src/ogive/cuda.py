"""Facts about NVIDIA GPUs, under PyTorch's names.

>>> ogive.cuda.is_available() == (ogive.cuda.device_count() > 0)
True

The driver is loaded when one of these functions is first called or a tensor is made on a GPU.
"""

from __future__ import annotations

from ogive.compiler.devices.known_devices import check_name, count_devices, find_device
from ogive.compiler.devices.protocol import Device
from ogive.compiler.ir.device_names import GPUS


def is_available() -> bool:
    """Whether there is a GPU with a usable driver."""
    return device_count() > 0


def device_count() -> int:
    """The number of GPUs."""
    return count_devices(GPUS)


def get_device_name(device: object = None) -> str:
    """The name of a GPU. Raises `DeviceError` if there is none."""
    return _find(device).describe().partition(",")[0]


def synchronize(device: object = None) -> None:
    """Wait for all work that was submitted to a GPU so far."""
    _find(device).record().wait()


def memory_allocated(device: object = None) -> int:
    """The bytes of a GPU's memory that tensors and plans use."""
    gpu = _find(device)
    return gpu.reserved_bytes() - gpu.memory.bytes_held


def memory_reserved(device: object = None) -> int:
    """The bytes of a GPU's memory that this process has, in use or held for reuse."""
    return _find(device).reserved_bytes()


def empty_cache(device: object = None) -> None:
    """Return memory that is held for reuse to the driver."""
    _find(device).memory.trim()


def _find(device: object) -> Device:
    if device is None or isinstance(device, int):
        return find_device(check_name(GPUS, device))
    return find_device(check_name(device))
