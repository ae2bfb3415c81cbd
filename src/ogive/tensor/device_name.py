"""The name of a device, with what PyTorch's programs ask of one."""

from __future__ import annotations

from collections.abc import Sequence

from ogive.devices.known_devices import ABSENT, KINDS, READ_ONLY, check_name, find_device
from ogive.errors import DeviceError
from ogive.ir.device_names import (
    DEFAULT_DEVICE,
    FILES,
    group_members,
    group_name,
    is_group,
    split_name,
)


class Device(str):
    """Where a tensor is: its name, of which `type` and `index` are what PyTorch calls so.

    >>> ogive.ones(2).device.type
    'cpu'
    >>> ogive.ones(2, device="cpu:1").device, ogive.ones(2, device="cpu:1").device.index
    ('CPU:1', 1)

    Raises `DeviceError` for one that there is not, and for `DISK`, which is read-only.
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
        """Several devices that hold a value together. Raises `DeviceError`."""
        return super().__new__(cls, check_group(names))

    @property
    def type(self) -> str:
        """The kind of device: "cpu"."""
        return split_name(self)[0].lower()

    @property
    def index(self) -> int | None:  # type: ignore[override]
        """Which of several it is; None for the first."""
        return split_name(self)[1] or None

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        """Tensors are made there before, inside and after."""


def check_group(names: Sequence[object]) -> str:
    """The one name of several devices. Raises `DeviceError` if one comes twice or is none."""
    devices = [check_name(name) for name in names]
    for name in devices:
        if devices.count(name) > 1:
            raise DeviceError(f"{name} comes twice in {tuple(devices)}; name each device once")
        if name == FILES:
            raise DeviceError(READ_ONLY)
        find_device(name)
    return group_name(devices)


def is_device_name(given: object) -> bool:
    """Whether `given` names a device, be it here or not, and no dtype."""
    first = group_members(str(given).upper())[0]
    return first.partition(":")[0] in (*KINDS, *ABSENT)
