"""The names of devices, with the attributes that programs of PyTorch expect."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.devices.known_devices import ABSENT, KINDS, READ_ONLY, check_name, find_device
from ogive.compiler.ir.device_names import (
    DEFAULT_DEVICE,
    FILES,
    group_members,
    group_name,
    is_group,
    split_name,
)
from ogive.errors import DeviceError


class Device(str):
    """The name of a device. `type` and `index` are its parts, as in PyTorch.

    >>> ogive.ones(2).device.type
    'cpu'
    >>> ogive.ones(2, device="cpu:1").device, ogive.ones(2, device="cpu:1").device.index
    ('CPU:1', 1)

    Raises `DeviceError` for an unknown or absent device, and for `DISK`, which is read-only.
    """

    __slots__ = ()

    def __new__(cls, type: object = "cpu", index: int | None = None) -> Device:
        if is_group(str(type)):
            return super().__new__(cls, check_group(group_members(str(type))))
        name = check_name(type, index)
        if name == FILES:
            raise DeviceError(READ_ONLY)
        if name != DEFAULT_DEVICE:
            find_device(name)  # raises if there is none
        return super().__new__(cls, name)

    @classmethod
    def over(cls, names: Sequence[object]) -> Device:
        """Return the name of a group of devices that hold one value. Raises `DeviceError`."""
        return super().__new__(cls, check_group(names))

    @property
    def type(self) -> str:
        """The kind of device: "cpu"."""
        return split_name(self)[0].lower()

    @property
    def index(self) -> int | None:  # type: ignore[override]
        """The number of the device among those of its kind; None for the first."""
        return split_name(self)[1] or None

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: the context changes no default."""


def check_group(names: Sequence[object]) -> str:
    """Return the name of a group of devices.

    Raises `DeviceError` for a device that is unknown, named twice, or `DISK`.
    """
    devices = [check_name(name) for name in names]
    for name in devices:
        if devices.count(name) > 1:
            raise DeviceError(f"{name} comes twice in {tuple(devices)}; name each device once")
        if name == FILES:
            raise DeviceError(READ_ONLY)
        find_device(name)
    return group_name(devices)


def is_device_name(given: object) -> bool:
    """Whether `given` names a device, present or absent, and not a dtype."""
    first = group_members(str(given).upper())[0]
    return first.partition(":")[0] in (*KINDS, *ABSENT)
