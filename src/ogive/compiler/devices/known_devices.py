"""The kinds of devices, and the devices that this process has made."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from ogive.compiler.devices.protocol import Device, Host
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES, GPUS, device_name, split_name
from ogive.errors import DeviceError, nearest

READ_ONLY = (
    f"{FILES} is read-only: its tensors come from Tensor.from_file, and to({DEFAULT_DEVICE!r}) "
    "makes a copy that can be written to"
)
"""The error message for writing to a file: why it cannot be done, and what to do."""

KINDS: Mapping[str, str] = {
    DEFAULT_DEVICE: "ogive.compiler.devices.cpu.device",
    FILES: "ogive.compiler.devices.disk.device",
    "REFERENCE": "ogive.compiler.devices.reference.device",
    GPUS: "ogive.compiler.devices.cuda.device",
}
"""The module of each kind of device, which has a `make_device(index)`. For a kind that not every
machine has, it also has a `count_devices()`."""

ABSENT = ("HIP", "MPS", "XPU")
"""Kinds of devices that only other libraries have."""

_devices: dict[str, Device] = {}


def find_device(name: str) -> Device:
    """The device with a name that `check_name` accepts. It is made when it is first needed."""
    known = _devices.get(name)
    if known is not None:
        return known
    kind, index = split_name(check_name(name))
    device: Device = importlib.import_module(KINDS[kind]).make_device(index)
    return _devices.setdefault(device.name, device)  # another thread may have made it meanwhile


def count_devices(kind: str) -> int:
    """The number of devices of a kind; 0 if what they need is missing."""
    count: int = importlib.import_module(KINDS[kind]).count_devices()
    return count


def host() -> Host:
    """The device that replays plans."""
    device = find_device(DEFAULT_DEVICE)
    assert isinstance(device, Host)
    return device


def devices_in_use() -> Iterator[Device]:
    """The devices that have been made so far."""
    yield from list(_devices.values())


def check_name(given: object, index: int | None = None) -> str:
    """The canonical name of the device that `given` names in any case. Raises `DeviceError`.

    >>> check_name("cpu:0"), check_name("cpu", 1)
    ('CPU', 'CPU:1')
    """
    kind, colon, behind = str(given).upper().partition(":")
    if kind not in KINDS:
        known = [name for name in KINDS if name != FILES]
        is_absent = kind in ABSENT
        absent = f", and there is no {kind} here" if is_absent else ""
        meant = "" if is_absent else nearest(kind, known)
        raise DeviceError(
            f"unknown device {given!r}{meant}; the devices are {', '.join(known)}{absent}"
        )
    number = behind if colon else str(index or 0)
    if not (number.isascii() and number.isdigit()) or (colon and index is not None):
        raise DeviceError(
            f"unknown device {given!r}; behind the colon is which of several it is, as in "
            f"{device_name(kind, 1)!r}"
        )
    return device_name(kind, int(number))
