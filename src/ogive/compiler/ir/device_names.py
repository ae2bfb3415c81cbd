"""The names of devices in graphs: a kind, then a colon and an index unless the index is 0.

    CPU   CPU:1   CUDA:3   DISK   CPU+CPU:1

The last one names two devices that hold a value together (`layouts.py`).

Graphs hold names only. What a device can do is in `devices/protocol.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

DEFAULT_DEVICE = "CPU"
"""The device of a tensor for which no other was asked."""

FILES = "DISK"
"""The device whose memory is files; a step copies the bytes that a plan reads."""

FUNCTIONS = "PYTHON"
"""The device of the buffers that stand for Python functions, which steps call."""

GPUS = "CUDA"
"""The graphics processors, if the machine has any."""

STORAGE = frozenset({FILES, FUNCTIONS})
"""Devices that only store values; another device computes with them."""

_AND = "+"
"""The separator in the name of several devices that hold a value together."""


def device_name(kind: str, index: int) -> str:
    """The name of a device, which has only this one.

    >>> device_name("CPU", 0), device_name("CPU", 1)
    ('CPU', 'CPU:1')
    """
    return f"{kind}:{index}" if index else kind


def split_name(name: str) -> tuple[str, int]:
    """The kind and the index in a device's name; for a group, those of its first device.

    >>> split_name("CPU"), split_name("CPU:1"), split_name("CPU:2+CPU:3")
    (('CPU', 0), ('CPU', 1), ('CPU', 2))
    """
    kind, _, index = group_members(name)[0].partition(":")
    return kind, int(index or 0)


def first_computing(devices: Iterable[str | None]) -> str | None:
    """The first device that can compute, or None."""
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
    """Whether a name stands for several devices."""
    return _AND in name


def group_members(name: str) -> tuple[str, ...]:
    """The names of the single devices that `name` stands for.

    >>> group_members("CPU+CPU:1"), group_members("CPU")
    (('CPU', 'CPU:1'), ('CPU',))
    """
    return tuple(name.split(_AND))
