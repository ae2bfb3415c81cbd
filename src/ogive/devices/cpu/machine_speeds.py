"""How fast this machine is, as far as the process knows.

At first that is what the disk has of an earlier measurement, or else what is usual. A process that
has shared out many steps measures once: threads matter to it, and it is past its first results.
Plans that are bound from then on go by it. Where nothing can be kept on disk, nothing is measured.
"""

from __future__ import annotations

import os
import threading

from ogive.config import Config
from ogive.devices.cpu.host import host_cores, machine_signature
from ogive.devices.cpu.host_machine import target_for
from ogive.devices.cpu.native.pool import Pool
from ogive.devices.cpu.speeds import LEVELS, Speeds, usual_speeds
from ogive.store.disk_cache import Disk, disk_for
from ogive.store.encoding import DamagedRecord, Reader, Writer
from ogive.store.keys import Key, make_key
from ogive.store.rows import Kind

FORMAT = 1
JOBS_BEFORE = 4096
"""Steps that a pool has shared out before it is worth measuring what that costs."""

MOST_SPEED = 10**15
MOST_NANOSECONDS = 10**9
MOST_THREADS = 1 << 12

_lock = threading.Lock()
_speeds: Speeds | None = None
_settled = False


def current_speeds() -> Speeds:
    """What is known now."""
    assert _speeds is not None, "a pool comes before its plans"
    return _speeds


def know_speeds(config: Config, pool: Pool) -> None:
    """Know how fast the machine is before plans are bound to `pool`, by measuring if need be."""
    global _speeds, _settled
    if _settled or (_speeds is not None and pool.jobs < JOBS_BEFORE):
        return
    if not _lock.acquire(blocking=_speeds is None):
        return  # Another thread is measuring.
    try:
        if _speeds is None:
            found = stored_speeds(config)
            _speeds = found or usual_speeds(target_for(config))
            _settled = found is not None or _place(config) is None or host_cores() == 1
        elif not _settled:
            _settled = True
            measure_speeds(config)
    finally:
        _lock.release()


def measure_speeds(config: Config) -> Speeds | None:
    """Measure the machine (half a second) and keep that; None if it is too busy to tell."""
    global _speeds
    from ogive.devices.cpu.calibrate import measure

    found = measure(target_for(config))
    place = _place(config)
    if found is None:
        return None
    _speeds = found
    if place is not None:
        disk, key = place
        disk.write([(Kind.NOTE, key, pack_speeds(found))], config)
    return found


def stored_speeds(config: Config) -> Speeds | None:
    """What an earlier measurement found, on this machine and with as many cores."""
    place = _place(config)
    if place is None:
        return None
    disk, key = place
    payload = disk.store.read(Kind.NOTE, [key]).get(key)
    try:
        return None if payload is None else unpack_speeds(payload)
    except DamagedRecord:
        return None


def _place(config: Config) -> tuple[Disk, Key] | None:
    disk, machine = disk_for(config), machine_signature()
    if disk is None or machine is None:
        return None
    return disk, make_key(b"speeds", b"%d" % FORMAT, machine, b"%d" % host_cores())


def pack_speeds(speeds: Speeds) -> bytes:
    """The figures as bytes."""
    writer = Writer()
    writer.numbers(speeds.caches)
    writer.numbers(speeds.threads)
    for row in (*speeds.read, *speeds.write):
        writer.numbers(row)
    writer.number(speeds.instructions)
    writer.number(speeds.launch)
    writer.numbers(speeds.sharing)
    return writer.finish()


def unpack_speeds(data: bytes) -> Speeds:
    """The figures from bytes. Raises `DamagedRecord`."""
    reader = Reader(data)
    speeds = Speeds(
        caches=reader.numbers(1, MOST_SPEED),
        threads=(threads := reader.numbers(1, MOST_THREADS)),
        read=tuple([reader.numbers(1, MOST_SPEED) for _ in LEVELS]),
        write=tuple([reader.numbers(1, MOST_SPEED) for _ in LEVELS]),
        instructions=reader.number(1, MOST_SPEED),
        launch=reader.number(0, MOST_NANOSECONDS),
        sharing=reader.numbers(0, MOST_NANOSECONDS),
    )
    reader.finish()
    if len(speeds.caches) != 3 or threads != tuple(sorted({1, *threads})):
        raise DamagedRecord("the figures are not those of a machine")
    if any(len(row) != len(threads) for row in (*speeds.read, *speeds.write, speeds.sharing)):
        raise DamagedRecord("the figures are not for the same numbers of threads")
    return speeds


def _renew_after_fork() -> None:
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
