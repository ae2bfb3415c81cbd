"""The kernels of this process: in memory by region, target and configuration, then on disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ogive.config import Config
from ogive.counters import count
from ogive.engine.keys import Key, make_key
from ogive.engine.records import (
    CodeRecord,
    DamagedRecord,
    KernelRecord,
    UnknownExpression,
    pack_code,
    pack_kernel,
    unpack_ir,
)
from ogive.engine.search import placed_key, placement_cache
from ogive.engine.store import Entry, Kind
from ogive.errors import LoadError, OptimizeError
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.journal import log
from ogive.runtime.link import LoadedKernel, link

if TYPE_CHECKING:
    from ogive.codegen.compile import CompiledKernel
    from ogive.codegen.optimize.placement import Placement
    from ogive.device.target import Target
    from ogive.engine.disk import Disk


class Code:
    """Object code that any number of kernels share, linked when first needed.

    `ir` is the LLVM IR it was made from, compressed if it comes from the disk.
    """

    def __init__(self, name: str, object_code: bytes, ir: str | bytes) -> None:
        self.name = name
        self.object_code = object_code
        self._ir = ir
        self.kept_in: Disk | None = None
        self._loaded: LoadedKernel | None = None

    @property
    def ir(self) -> str:
        """The LLVM IR it was made from, or nothing if that was damaged."""
        packed = self._ir  # which another thread may unpack at the same time
        if isinstance(packed, str):
            return packed
        try:
            unpacked = unpack_ir(packed)
        except DamagedRecord:
            unpacked = ""
        self._ir = unpacked
        return unpacked

    @property
    def loaded(self) -> LoadedKernel:
        """Its entry point in memory."""
        # Not a `cached_property`, whose lock a child process would inherit locked.
        if self._loaded is None:
            self._loaded = link(self.object_code, self.name)
        return self._loaded


class Kernel:
    """A kernel of a plan: what it is called, its LLVM IR, how its axes are placed.

    `slots` are the buffer slots it touches, in the order of its arguments; `timings` say how long
    each stage took if it was compiled in this process; `kept_in` is a disk that has it.
    """

    def __init__(self, record: KernelRecord, code: Code, timings: dict[str, float]) -> None:
        self.record = record
        self.code = code
        self.timings = timings
        self.kept_in: Disk | None = None
        self.variables = tuple(record.variables)

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def ir(self) -> str:
        return self.code.ir

    @property
    def axes(self) -> tuple[tuple[str, int], ...]:
        return self.record.axes

    @property
    def slots(self) -> tuple[int, ...]:
        return self.record.slots

    @property
    def tiles(self) -> int | UOp:
        """In how many tiles it can be shared out: a number, or an expression of its variables."""
        return self.record.tiles

    @property
    def loaded(self) -> LoadedKernel:
        return self.code.loaded

    def arguments(self, call: Sequence[int]) -> tuple[int, ...]:
        """Of the slots of a call, those that the kernel takes, in the order it was compiled for.

        Raises `LoadError` if it takes none, or one that the call does not have.
        """
        if not self.slots or not 0 <= min(self.slots) <= max(self.slots) < len(call):
            raise LoadError(
                f"kernel {self.name} was compiled for the slots {self.slots}, and its call has "
                f"{len(call)}"
            )
        return tuple([call[slot] for slot in self.slots])

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


class KernelCache:
    """Kernels by content, bounded, first in first out. Plans keep what they use alive."""

    def __init__(self) -> None:
        self._kernels: dict[Any, Kernel] = {}
        self._codes: WeakValueDictionary[Key, Code] = WeakValueDictionary()
        self.renew_lock()

    def renew_lock(self) -> None:
        """Forget a lock that a thread of the parent process held when it forked."""
        self._lock = threading.RLock()

    def kernel_for(
        self, region: UOp, target: Target, config: Config, disk: Disk | None, entries: list[Entry]
    ) -> Kernel:
        """The kernel that computes a region, compiled at most once.

        What the disk does not have is added to `entries`.
        """
        key = (region, target.key, config.code_key)
        placement = placement_cache.get(region, target, config)
        with self._lock:
            kernel = self._kernels.get(key)
            if kernel is not None:
                count("kernel_hits")
            else:
                kernel = None
                if disk is not None:
                    stored_at = placed_key(disk.kernel_key(region, target, config), placement)
                    kernel = self._from_disk(disk, stored_at, region)
                kernel = kernel or self._compile(region, target, config, disk, placement)
                self._kernels[key] = kernel
                while len(self._kernels) > config.kernel_cache_size:
                    del self._kernels[next(iter(self._kernels))]
            if disk is not None and kernel.kept_in is not disk:
                stored_at = placed_key(disk.kernel_key(region, target, config), placement)
                _keep(kernel, stored_at, target, disk, entries)
            return kernel

    def clear(self) -> None:
        """Forget all kernels in memory. Plans keep theirs."""
        with self._lock:
            self._kernels.clear()
            self._codes.clear()
        placement_cache.clear()

    def kernel_of(self, record: KernelRecord, stored: CodeRecord, disk: Disk) -> Kernel:
        """A kernel that was read from the disk."""
        made = Code(record.name, stored.object_code, stored.ir)
        code = self._codes.setdefault(record.code, made)
        kernel = Kernel(record, code, {})
        kernel.kept_in = code.kept_in = disk
        return kernel

    def _from_disk(self, disk: Disk, key: Key, region: UOp) -> Kernel | None:
        found = disk.find_kernel(key)
        if found is None or not _fits(found[0], region):
            return None
        count("kernel_disk_hits")
        return self.kernel_of(*found, disk)

    def _compile(
        self,
        region: UOp,
        target: Target,
        config: Config,
        disk: Disk | None,
        placement: Placement | None,
    ) -> Kernel:
        from ogive.codegen.compile import compile_region

        once = _Assembler(self._codes, disk)
        try:
            compiled = compile_region(region, target, config, once, placement)
        except OptimizeError:
            if placement is None:
                raise
            # It was read from a disk, and does not belong to this kernel.
            compiled = compile_region(region, target, config, once)
        if config.logs("compile"):
            stages = ", ".join(f"{name} {1e3 * s:.2f}" for name, s in compiled.timings.items())
            log("compile", f"{compiled.name}, in ms: {stages}")
        made = Code(compiled.name, compiled.object_code, compiled.ir)
        code = self._codes.setdefault(once.key, made)
        return Kernel(_record(compiled, region, once.key), code, compiled.timings)


class _Assembler:
    """Assembles IR unless equal IR has been; `key` tells where its code belongs.

    Regions that differ can become equal kernels once their axes are placed.
    """

    def __init__(self, codes: Mapping[Key, Code], disk: Disk | None) -> None:
        self.key = Key(b"", b"")
        self._codes = codes
        self._disk = disk

    def __call__(self, ir: str, target: Target) -> bytes:
        disk = self._disk
        self.key = (
            make_key(b"code", target.key.encode(), ir.encode())
            if disk is None
            else disk.code_key(ir, target)
        )
        known = self._codes.get(self.key)
        if known is not None:
            count("kernel_hits")
            return known.object_code
        stored = None if disk is None else disk.find_codes([self.key]).get(self.key)
        if stored is not None:
            count("kernel_disk_hits")
            return stored.object_code
        from ogive.device.llvm import assemble

        object_code = assemble(ir, target)
        count("kernels_compiled")
        return object_code


def _keep(kernel: Kernel, key: Key, target: Target, disk: Disk, entries: list[Entry]) -> None:
    """Add to `entries` what a disk does not have of a kernel."""
    # A kernel that was compiled for no disk, or for another, does not know this one's key.
    record = kernel.record._replace(code=disk.code_key(kernel.ir, target))
    try:
        packed = pack_kernel(record)
    except UnknownExpression:
        return  # it is compiled again by the next process
    entries.append((Kind.KERNEL, key, packed))
    if kernel.code.kept_in is not disk:
        packed = pack_code(kernel.ir, kernel.code.object_code)
        entries.append((Kind.CODE, record.code, packed))
    kernel.record = record
    kernel.kept_in = kernel.code.kept_in = disk


def _record(compiled: CompiledKernel, region: UOp, code: Key) -> KernelRecord:
    bounds = _variables(region)
    tiles = compiled.tiles
    return KernelRecord(
        name=compiled.name,
        axes=compiled.axes,
        slots=compiled.signature.slots,
        writes=len(region.src),
        variables={name: bounds[name] for name in compiled.signature.variables},
        tiles=tiles.arg if tiles.op is Op.CONST else tiles,
        work=compiled.work,
        costs=compiled.costs,
        code=code,
    )


def _fits(record: KernelRecord, region: UOp) -> bool:
    """Whether a record speaks of slots and variables that a region has."""
    slots = {node.arg[0] for node in region.walk() if node.op is Op.PARAM}
    if record.slots[: record.writes] != tuple(range(len(region.src))):
        return False
    return slots.issuperset(record.slots) and record.variables.items() <= _variables(region).items()


def _variables(region: UOp) -> dict[str, tuple[int, int]]:
    return {node.arg[0]: node.arg[1:] for node in region.walk() if node.op is Op.VARIABLE}


kernel_cache = KernelCache()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=kernel_cache.renew_lock)
