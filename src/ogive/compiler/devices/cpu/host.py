"""The CPU that this process runs on, as LLVM and the system describe it."""

from __future__ import annotations

import functools
import math
import os
from typing import TYPE_CHECKING

from ogive.compiler.devices.llvm_gate import llvm_gate
from ogive.compiler.digest import blake2b
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from ogive.compiler.targets.target import Target


class HostCpu(NamedTuple):
    """LLVM's description of this CPU."""

    triple: str
    name: str
    features: str


def detect_cpu() -> HostCpu:
    """LLVM's description of this CPU. The first call loads LLVM (10 ms)."""
    from ogive.compiler.devices.llvm.library.c_functions import Message, llvm_function

    with llvm_gate.lock:
        parts = []
        for name in ("GetProcessTriple", "GetHostCPUName", "GetHostCPUFeatures"):
            message = Message()
            llvm_function(name)(message.place)
            parts.append(message.take())
    return HostCpu(*parts)


def machine_signature(root: str | Path = "/") -> bytes | None:
    """A digest that differs between machines for which LLVM's description does; None if unknown.

    It is made from what Linux says about the first core, without values that change all the time.
    """
    try:
        # Only the beginning: on large machines the whole file is long and slow to read.
        with open(os.path.join(root, "proc/cpuinfo"), "rb", buffering=0) as file:
            text = file.read(1 << 14)
    except OSError:
        return None
    core, ended, _ = text.partition(b"\n\n")
    lines = [
        line
        for line in core.splitlines()
        if not line.lower().startswith((b"cpu mhz", b"bogomips", b"apicid", b"initial apicid"))
    ]
    if not ended or not any(line.lower().startswith((b"flags", b"features")) for line in lines):
        return None
    system = os.uname()
    lines += [part.encode() for part in (system.sysname, system.release, system.machine)]
    return blake2b(b"\n".join(lines), digest_size=32).digest()


@functools.lru_cache(maxsize=1)
def host_target() -> Target:
    """The target of this machine. The first call loads LLVM (10 ms)."""
    return host_target_of(detect_cpu())


def host_target_of(cpu: HostCpu) -> Target:
    """The machine this process runs on, if `cpu` is what LLVM says about it."""
    from ogive.compiler.targets.target import describe_cpu  # whose costs a replay does without

    return describe_cpu(
        triple=cpu.triple,
        cpu=cpu.name,
        features=cpu.features,
        caches=host_caches(),
        cores=host_cores(),
    )


def host_cores() -> int:
    """The number of threads that can run at once: the lesser of affinity mask and cgroup quota."""
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    quota = _own_quota()
    if quota is not None:
        count = min(count, math.ceil(quota))
    return max(count, 1)


@functools.lru_cache(maxsize=1)
def _own_quota() -> float | None:
    """The cgroup quota of this process, read once, because a start asks five times."""
    return cgroup_quota()


def cgroup_quota(root: str | Path = "/") -> float | None:
    """The CPU time that cgroups (v1 or v2) allow this process, in CPUs; `None` without a limit.

    Any ancestor may have a limit, and in a container the path in `/proc` may exist only outside. So
    all folders from this process's up to the mount are read.
    """
    mount = os.path.join(root, "sys/fs/cgroup")
    limits: list[float] = []
    for line in _read(os.path.join(root, "proc/self/cgroup")).splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            bases = [mount]
        elif "cpu" in controllers.split(","):
            bases = [os.path.join(mount, controllers), os.path.join(mount, "cpu")]
        else:
            continue
        for base in bases:
            parts = [part for part in path.split("/") if part]
            for depth in range(len(parts), -1, -1):
                limits += _folder_quota(os.path.join(base, *parts[:depth]))
    return min(limits, default=None)


def _folder_quota(folder: str) -> list[float]:
    quota, period = [*_read(os.path.join(folder, "cpu.max")).split(), "", ""][:2]
    if not quota:
        quota = _read(os.path.join(folder, "cpu.cfs_quota_us")).strip()
        period = _read(os.path.join(folder, "cpu.cfs_period_us")).strip()
    if quota.isdigit() and period.isdigit() and int(period) > 0:
        return [int(quota) / int(period)]
    return []


def host_caches(root: str | Path = "/") -> dict[int, int]:
    """Bytes of the first core's data caches by level, as far as the system tells."""
    sizes: dict[int, int] = {}
    folder = os.path.join(root, "sys/devices/system/cpu/cpu0/cache")
    try:
        names = sorted(name for name in os.listdir(folder) if name.startswith("index"))
    except OSError:
        names = []
    for name in names:
        level, size, kind = [
            _read(os.path.join(folder, name, fact)).strip() for fact in ("level", "size", "type")
        ]
        if kind != "Instruction" and level.isdigit() and (bytes_there := _parse_size(size)):
            sizes[int(level)] = bytes_there
    return sizes


def _parse_size(text: str) -> int:
    unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
    digits = text.rstrip("KMG")
    return int(digits) * unit if digits.isdigit() else 0


def _read(path: str) -> str:
    """The text of a small system file. A start reads some fifty of them."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""
