"""The machine of a process: its target and the native driver, read from disk if possible.

LLVM's description of the CPU needs all of llvmlite. So it is stored under a signature of the
machine, and compared with LLVM's own once something has to be compiled anyway.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ogive.after_fork import RenewedAfterFork
from ogive.compiler.devices.cpu.host import (
    HostCpu,
    detect_cpu,
    host_cores,
    host_target_of,
    machine_signature,
)
from ogive.compiler.devices.cpu.native.driver import driver_object, process_driver
from ogive.compiler.devices.cpu.target_notes import TargetNote, read_note, write_note
from ogive.compiler.store.code_records import pack_code
from ogive.compiler.store.compiler_version import llvm_identity
from ogive.compiler.store.content_keys import Key, make_key
from ogive.compiler.store.disk_cache import Disk, disk_for
from ogive.compiler.store.encoding import DamagedRecord, Reader, Writer
from ogive.compiler.store.rows import Kind
from ogive.config import Config
from ogive.errors import LoadError

if TYPE_CHECKING:
    from ogive.compiler.devices.cpu.speeds import Speeds
    from ogive.compiler.targets.costs import Costs
    from ogive.compiler.targets.target import Target


class HostMachine:
    """The machine of this process. Its target is found when it is first needed."""

    def __init__(self, detect: Callable[[], HostCpu] = detect_cpu) -> None:
        self._detect = detect
        self._target: Target | None = None
        self._note: TargetNote | None = None
        self._confirmed = False
        self.renew_locks()
        _machines.add(self)

    def renew_locks(self) -> None:
        """Replace the locks, which another thread may have held when the process forked."""
        self._lock = threading.RLock()
        self._driver_lock = threading.Lock()

    @contextlib.contextmanager
    def taken_for(self, target: Target) -> Iterator[None]:
        """Inside, code is made for `target`."""
        before = self._target, self._note, self._confirmed
        self._target, self._note, self._confirmed = target, TargetNote.of(target), True
        try:
            yield
        finally:
            self._target, self._note, self._confirmed = before

    def target_for(self, config: Config) -> Target:
        """The target of this machine, or of the level and with the costs that the settings name.

        Raises `ConfigError` for a level that this machine does not have.
        """
        target = self._find_target(config)
        if config.cpu:
            from ogive.compiler.devices.cpu.levels import target_of_level  # which starts do without

            target = target_of_level(config.cpu, target)
        return target if config.costs is None else _with_costs(target, config.costs)

    def target_key(self, config: Config) -> str:
        """The key of that target, which may be known without it."""
        return self._note_for(config).key

    def usual_speeds(self, config: Config) -> Speeds:
        """How fast such a machine is taken to be until it is measured."""
        return self._note_for(config).usual_speeds

    def _note_for(self, config: Config) -> TargetNote:
        """The note of the target: an earlier process's, as long as nobody asks for the target."""
        if config.costs is not None or config.cpu:
            return TargetNote.of(self.target_for(config))
        if self._note is None:
            disk = disk_for(config)
            note = read_note(disk) if disk is not None and self._target is None else None
            if note is None:
                note = TargetNote.of(self._find_target(config))
                if disk is not None:
                    write_note(disk, note, config)
            self._note = note
        return self._note

    def _find_target(self, config: Config) -> Target:
        if self._target is not None:
            return self._target
        with self._lock:
            if self._target is None:
                cpu = noted_cpu(config)
                self._confirmed = cpu is None
                self._target = host_target_of(cpu or self._detect_and_note(config))
            return self._target

    def confirmed_target(self, config: Config) -> Target:
        """The target by LLVM's own description: compiling, which comes next, loads LLVM anyway."""
        target = self._find_target(config)
        if self._confirmed:
            return self.target_for(config)
        with self._lock:
            if not self._confirmed:
                cpu = self._detect()
                if (cpu.triple, cpu.name) != (target.triple, target.cpu) or (
                    host_target_of(cpu).features != target.features
                ):
                    note_cpu(config, cpu)
                    self._target, self._note = host_target_of(cpu), None
                self._confirmed = True
            return self.target_for(config)

    def _detect_and_note(self, config: Config) -> HostCpu:
        cpu = self._detect()
        note_cpu(config, cpu)
        return cpu

    def begin_driver(self, config: Config) -> None:
        """Load or assemble the native driver in another thread, while kernels are compiled."""
        if not process_driver.is_loaded and not self._driver_lock.locked() and host_cores() > 1:
            from ogive.compiler.devices.helper_threads import Helper

            Helper(self._ensure_quietly, config).start()

    def _ensure_quietly(self, config: Config) -> None:
        with contextlib.suppress(Exception):  # the code that needs the driver tries again, visibly
            self.ensure_driver(config)

    def ensure_driver(self, config: Config) -> None:
        """Load the native driver, from disk if it is stored there."""
        if process_driver.is_loaded:
            return
        with self._driver_lock:
            if not process_driver.is_loaded:
                self._load_or_assemble(config)

    def _load_or_assemble(self, config: Config) -> None:
        disk = disk_for(config)
        if disk is None:
            process_driver.load(driver_object(self.confirmed_target(config)))
            return
        if not _load_from(disk, disk.driver_key(self.target_key(config))):
            target = self.confirmed_target(config)
            code = driver_object(target)
            process_driver.load(code)
            disk.write([(Kind.CODE, disk.driver_key(target.key), pack_code("", code))], config)


@functools.lru_cache(maxsize=16)
def _with_costs(target: Target, costs: Costs) -> Target:
    return dataclasses.replace(target, costs=costs)


def _load_from(disk: Disk, key: Key) -> bool:
    code = disk.find_codes([key]).get(key)
    if code is None:
        return False
    try:
        process_driver.load(code.object_code)
    except LoadError:
        return False
    return True


def note_key() -> Key | None:
    """The key of the CPU's stored description; None if machines cannot be told apart."""
    machine, llvm = machine_signature(), llvm_identity()
    return None if machine is None or llvm is None else make_key(b"cpu", machine, llvm)


def noted_cpu(config: Config) -> HostCpu | None:
    """The description of this CPU that an earlier process stored, or None."""
    disk, key = disk_for(config), note_key()
    if disk is None or key is None:
        return None
    payload = disk.store.read(Kind.NOTE, [key]).get(key)
    if payload is None:
        return None
    try:
        reader = Reader(payload)
        cpu = HostCpu(reader.text(), reader.text(), reader.text())
        reader.finish()
    except DamagedRecord:
        return None
    return cpu


def note_cpu(config: Config, cpu: HostCpu) -> None:
    """Store the description of this CPU for later processes."""
    disk, key = disk_for(config), note_key()
    if disk is not None and key is not None:
        writer = Writer()
        for text in cpu:
            writer.text(text)
        disk.write([(Kind.NOTE, key, writer.finish())], config)


_machines = RenewedAfterFork(HostMachine.renew_locks)

host_machine = HostMachine()
