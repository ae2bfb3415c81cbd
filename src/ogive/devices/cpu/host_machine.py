"""The machine under a process: its target and the native driver, from the disk where they can be.

Asking LLVM what this CPU is means loading all of llvmlite. Its answer is kept under a signature of
the machine, and compared with LLVM's own as soon as something has to be compiled anyway.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import threading

from ogive.config import Config
from ogive.devices.cpu.host import (
    HostCpu,
    detect_cpu,
    host_cores,
    host_target_of,
    machine_signature,
)
from ogive.devices.cpu.native.driver import driver_is_loaded, driver_object, load_driver
from ogive.devices.helper_threads import Helper
from ogive.errors import LoadError
from ogive.store.compiler_version import llvm_identity
from ogive.store.disk_cache import Disk, disk_for
from ogive.store.encoding import DamagedRecord, Reader, Writer
from ogive.store.keys import Key, make_key
from ogive.store.records import pack_code
from ogive.store.rows import Kind
from ogive.targets.costs import Costs
from ogive.targets.target import Target

_lock = threading.RLock()
_driver_lock = threading.Lock()
_target: Target | None = None
_confirmed = False


def target_for(config: Config) -> Target:
    """The target of this machine, with the costs that the settings have, if they have some."""
    target = _host_target(config)
    return target if config.costs is None else _with_costs(target, config.costs)


@functools.lru_cache(maxsize=16)
def _with_costs(target: Target, costs: Costs) -> Target:
    return dataclasses.replace(target, costs=costs)


def _host_target(config: Config) -> Target:
    global _target, _confirmed
    if _target is not None:
        return _target
    with _lock:
        if _target is None:
            cpu = _noted_cpu(config)
            _confirmed = cpu is None
            _target = host_target_of(cpu or _detect_and_note(config))
        return _target


def confirmed_target(config: Config) -> Target:
    """The target, in LLVM's own words: what is about to be compiled loads LLVM anyway."""
    global _target, _confirmed
    target = _host_target(config)
    if _confirmed:
        return target_for(config)
    with _lock:
        if not _confirmed:
            cpu = detect_cpu()
            if (cpu.triple, cpu.name) != (target.triple, target.cpu) or (
                host_target_of(cpu).features != target.features
            ):
                _note(config, cpu)
                _target = host_target_of(cpu)
            _confirmed = True
        return target_for(config)


def begin_driver(config: Config) -> None:
    """Let another thread load the native driver, or assemble it, while kernels are compiled."""
    if not driver_is_loaded() and not _driver_lock.locked() and host_cores() > 1:
        Helper(_ensure_quietly, config).start()


def _ensure_quietly(config: Config) -> None:
    with contextlib.suppress(Exception):  # who needs the driver will try again, and be told
        ensure_driver(config)


def ensure_driver(config: Config) -> None:
    """Load the native driver, from the disk if it is there."""
    if driver_is_loaded():
        return
    with _driver_lock:
        if not driver_is_loaded():
            _load_or_assemble(config)


def _load_or_assemble(config: Config) -> None:
    disk = disk_for(config)
    if disk is None:
        load_driver(driver_object(confirmed_target(config)))
        return
    if not _load_from(disk, disk.driver_key(target_for(config))):
        target = confirmed_target(config)
        code = driver_object(target)
        load_driver(code)
        disk.write([(Kind.CODE, disk.driver_key(target), pack_code("", code))], config)


def _load_from(disk: Disk, key: Key) -> bool:
    code = disk.find_codes([key]).get(key)
    if code is None:
        return False
    try:
        load_driver(code.object_code)
    except LoadError:
        return False
    return True


def _note_key() -> Key | None:
    machine, llvm = machine_signature(), llvm_identity()
    return None if machine is None or llvm is None else make_key(b"cpu", machine, llvm)


def _noted_cpu(config: Config) -> HostCpu | None:
    disk, key = disk_for(config), _note_key()
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


def _detect_and_note(config: Config) -> HostCpu:
    cpu = detect_cpu()
    _note(config, cpu)
    return cpu


def _note(config: Config, cpu: HostCpu) -> None:
    disk, key = disk_for(config), _note_key()
    if disk is not None and key is not None:
        writer = Writer()
        for text in cpu:
            writer.text(text)
        disk.write([(Kind.NOTE, key, writer.finish())], config)


def _renew_after_fork() -> None:
    global _lock, _driver_lock
    _lock = threading.RLock()
    _driver_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_after_fork)
