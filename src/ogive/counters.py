"""Counts of what the caches and the allocator did so far."""

from __future__ import annotations

import os
import threading

from ogive.devices.known_devices import devices_in_use

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


class Counts:
    """How often each of `NAMES` has happened."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(NAMES, 0)
        self.renew_lock()

    def renew_lock(self) -> None:
        """Forget a lock that a thread of the parent process held when it forked."""
        self._lock = threading.Lock()

    def add(self, name: str, times: int = 1) -> None:
        """Note that something happened."""
        with self._lock:
            self._counts[name] += times

    def read(self) -> dict[str, int]:
        """All of them, at one moment."""
        with self._lock:
            return dict(self._counts)


_counts = Counts()
os.register_at_fork(after_in_child=_counts.renew_lock)
count = _counts.add


def counters() -> dict[str, int]:
    """Counts of this process's work so far.

    `schedules_created` graphs were scheduled, `graphs_generalized` of them for all sizes,
    `schedule_hits` found in memory, `schedule_disk_hits` on disk; so it is with kernels, of which
    `kernels_searched` had faster code searched for.
    `panels_kept` of operands were kept, and `panels_reused` by another plan than made them.
    `bytes_allocated` were had from the system for buffers, and `bytes_reused` from buffers that had
    been freed, on all devices together; where there are others, `bytes_allocated on CPU:1` and the
    like say it of one.

    >>> counters()["schedules_created"] >= 0
    True
    """
    devices = [device for device in devices_in_use() if device.memory.bytes_allocated]
    found = {**_counts.read(), "bytes_allocated": 0, "bytes_reused": 0}
    for device in devices:
        memory = device.memory
        for name, value in (
            ("bytes_allocated", memory.bytes_allocated), ("bytes_reused", memory.bytes_reused),
        ):  # fmt: skip
            found[name] += value
            if len(devices) > 1:
                found[f"{name} on {device.name}"] = value
    return found
