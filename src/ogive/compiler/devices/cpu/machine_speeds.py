"""The speed of this machine, as far as the process knows it.

At first these are the figures of an earlier measurement on disk, or else usual ones. A process that
has shared many steps among threads measures once: by then, threads matter to it, and it has its
first results. Plans that are bound later use the measured figures. If nothing can be stored on
disk, nothing is measured.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ogive.after_fork import Locked
from ogive.compiler.devices.cpu.host import host_cores, machine_signature
from ogive.compiler.devices.cpu.host_machine import host_machine
from ogive.compiler.devices.cpu.native.pool import Pool
from ogive.compiler.devices.cpu.speeds import Speeds, pack_speeds, unpack_speeds
from ogive.compiler.store.content_keys import Key, make_key
from ogive.compiler.store.disk_cache import Disk, disk_for
from ogive.compiler.store.encoding import DamagedRecord
from ogive.compiler.store.rows import Kind
from ogive.config import Config

if TYPE_CHECKING:
    from ogive.compiler.targets.target import Target

FORMAT = 1
JOBS_BEFORE = 4096
"""The number of parallel steps of a pool after which the machine is measured."""


class MachineSpeeds(Locked):
    """The speed of the machine, as far as this process knows it.

    `cores` gives the number of threads that can run at once, `measure` the speeds of a target
    (`speed_measurement.measure` by default), `jobs_before` is `JOBS_BEFORE`.
    """

    def __init__(
        self,
        cores: Callable[[], int] = host_cores,
        measure: Callable[[Target], Speeds | None] | None = None,
        jobs_before: int = JOBS_BEFORE,
    ) -> None:
        self.jobs_before = jobs_before
        self._cores = cores
        self._measure = measure
        self._speeds: Speeds | None = None
        self._settled = False
        super().__init__()

    @contextlib.contextmanager
    def taken_for(self, speeds: Speeds) -> Iterator[None]:
        """Within this context, `speeds` are the speeds of the machine."""
        before = self._speeds, self._settled
        self._speeds, self._settled = speeds, True
        try:
            yield
        finally:
            self._speeds, self._settled = before

    def current(self) -> Speeds:
        """The speeds as they are known now."""
        assert self._speeds is not None, "a pool comes before its plans"
        return self._speeds

    def know(self, config: Config, pool: Pool) -> None:
        """Find the speeds before plans are bound to `pool`: stored, usual or measured now."""
        if self._settled or (self._speeds is not None and pool.jobs < self.jobs_before):
            return
        if not self._lock.acquire(blocking=self._speeds is None):
            return  # another thread is measuring
        try:
            if self._speeds is None:
                stored = self.stored(config)
                self._speeds = stored or host_machine.usual_speeds(config)
                is_kept = self.place(config) is not None
                self._settled = stored is not None or not is_kept or self._cores() == 1
            elif not self._settled:
                self._settled = True
                self.measure(config)
        finally:
            self._lock.release()

    def measure(self, config: Config) -> Speeds | None:
        """Measure the machine (half a second) and store the figures; None if it is too busy."""
        from ogive.compiler.devices.cpu.speed_measurement import measure

        measured = (self._measure or measure)(host_machine.target_for(config))
        if measured is None:
            return None
        self._speeds = measured
        place = self.place(config)
        if place is not None:
            disk, key = place
            disk.write([(Kind.NOTE, key, pack_speeds(measured))], config)
        return measured

    def stored(self, config: Config) -> Speeds | None:
        """The figures of an earlier measurement on this machine with as many cores, or None."""
        place = self.place(config)
        if place is None:
            return None
        disk, key = place
        payload = disk.store.read(Kind.NOTE, [key]).get(key)
        try:
            return None if payload is None else unpack_speeds(payload)
        except DamagedRecord:
            return None

    def place(self, config: Config) -> tuple[Disk, Key] | None:
        """The disk and key for the figures; None if they cannot be stored."""
        disk, machine = disk_for(config), machine_signature()
        if disk is None or machine is None:
            return None
        return disk, make_key(b"speeds", b"%d" % FORMAT, machine, b"%d" % self._cores())


machine_speeds = MachineSpeeds()
