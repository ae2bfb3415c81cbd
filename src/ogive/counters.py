"""Counters of the work of the caches and of the allocator."""

from __future__ import annotations

from ogive.after_fork import Locked
from ogive.compiler.devices.known_devices import devices_in_use

NAMES = (
    "schedules_created",
    "graphs_generalized",
    "schedule_hits",
    "schedule_disk_hits",
    "kernels_compiled",
    "kernel_hits",
    "kernel_disk_hits",
    "kernels_searched",
    "panels_kept",
    "panels_reused",
)


class Counts(Locked):
    """A counter for each of `NAMES`."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(NAMES, 0)
        super().__init__()

    def add(self, name: str, times: int = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self._counts[name] += times

    def read(self) -> dict[str, int]:
        """A consistent copy of all counters."""
        with self._lock:
            return dict(self._counts)


_counts = Counts()
count = _counts.add


def counters() -> dict[str, int]:
    """Counters of this process's work so far.

    `schedules_created` graphs were scheduled, `graphs_generalized` of them for all sizes;
    `schedule_hits` were found in memory, `schedule_disk_hits` on disk. The counters of kernels are
    alike, and `kernels_searched` counts those for which faster code was searched. `panels_kept`
    counts packed operands that were kept, `panels_reused` those used by another plan than the one
    that made them. `bytes_allocated` came from the system, and `bytes_reused` from freed buffers,
    on all devices together. If there are several devices, `bytes_allocated on CPU:1` and the like
    are the counters of one.

    >>> counters()["schedules_created"] >= 0
    True
    """
    devices = [device for device in devices_in_use() if device.memory.bytes_allocated]
    counts = {**_counts.read(), "bytes_allocated": 0, "bytes_reused": 0}
    for device in devices:
        memory = device.memory
        for name, value in (
            ("bytes_allocated", memory.bytes_allocated), ("bytes_reused", memory.bytes_reused),
        ):  # fmt: skip
            counts[name] += value
            if len(devices) > 1:
                counts[f"{name} on {device.name}"] = value
    return counts
