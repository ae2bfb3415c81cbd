"""What the caches and the allocator did so far, in numbers."""

from __future__ import annotations

import os
import threading

from ogive.devices.cpu.allocator import allocator

_counts = dict.fromkeys(
    (
        "schedules_created",
        "schedule_hits",
        "schedule_disk_hits",
        "kernels_compiled",
        "kernel_hits",
        "kernel_disk_hits",
        "kernels_searched",
        "panels_kept",
        "panels_reused",
    ),
    0,
)
_lock = threading.Lock()


def counters() -> dict[str, int]:
    """What this process did so far.

    `schedules_created` graphs were scheduled, `schedule_hits` found in memory, `schedule_disk_hits`
    on disk; so it is with kernels, of which `kernels_searched` had faster code searched for.
    `panels_kept` of operands were kept, and `panels_reused` by another plan than made them.
    `bytes_allocated` were had from the system for buffers, and `bytes_reused` from buffers that had
    been freed.

    >>> counters()["schedules_created"] >= 0
    True
    """
    with _lock:
        return {
            **_counts,
            "bytes_allocated": allocator.bytes_allocated,
            "bytes_reused": allocator.bytes_reused,
        }


def count(name: str, times: int = 1) -> None:
    """Note that something happened."""
    with _lock:
        _counts[name] += times


def _renew_lock() -> None:
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)
