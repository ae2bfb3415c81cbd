"""The names of devices, as graphs have them: a kind, and an index behind a colon unless it is 0.

    CPU   CPU:1   CUDA:3   DISK   CPU+CPU:1

The last one is two devices that hold a value together (`layouts.py`).

Graphs know names alone. What a device does is behind `devices/protocol.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

DEFAULT_DEVICE = "CPU"
"""Where tensors are made unless they are told otherwise."""

FILES = "DISK"
"""Memory that is files: a step copies what is read of it to where it is needed."""

FUNCTIONS = "PYTHON"
"""What stands for a function that a step calls."""

GPUS = "CUDA"
"""Graphics processors, which not every machine has."""

STORAGE = frozenset({FILES, FUNCTIONS})
"""Devices that compute nothing: what is computed from their memory is computed elsewhere."""

_AND = "+"
"""What stands between the names of devices that hold a value together."""


def device_name(kind: str, index: int) -> str:
    """The one name of a device.

    >>> device_name("CPU", 0), device_name("CPU", 1)
    ('CPU', 'CPU:1')
    """
    return f"{kind}:{index}" if index else kind


def split_name(name: str) -> tuple[str, int]:
    """The kind and the index in a device's name; in that of several, those of the first.

    >>> split_name("CPU"), split_name("CPU:1"), split_name("CPU:2+CPU:3")
    (('CPU', 0), ('CPU', 1), ('CPU', 2))
    """
    kind, _, index = group_members(name)[0].partition(":")
    return kind, int(index or 0)


def first_computing(devices: Iterable[str | None]) -> str | None:
    """The first device that can compute, if there is one."""
    for device in devices:
        if device is not None and device not in STORAGE:
            return device
    return None


def group_name(devices: Sequence[str]) -> str:
    """The name of several devices that hold a value together.

    >>> group_name(("CPU", "CPU:1"))
    'CPU+CPU:1'
    """
    return _AND.join(devices)


def is_group(name: str) -> bool:
    """Whether a name is that of several devices."""
    return _AND in name


def group_members(name: str) -> tuple[str, ...]:
    """The devices of a name, be it of one or of several.

    >>> group_members("CPU+CPU:1"), group_members("CPU")
    (('CPU', 'CPU:1'), ('CPU',))
    """
    return tuple(name.split(_AND))
