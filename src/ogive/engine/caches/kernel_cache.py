"""The kernels of this process: in memory by region, target and configuration, then on disk."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

from ogive.config import Config
from ogive.counters import count
from ogive.devices.known_devices import host
from ogive.devices.protocol import Device, Executable
from ogive.engine.caches.assembly import Assembly
from ogive.engine.caches.found_placements import placed_key, placement_cache
from ogive.errors import LoadError, OptimizeError
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.journal import log
from ogive.named import NamedTuple
from ogive.store.code_records import CodeRecord, pack_code, unpack_ir
from ogive.store.content_keys import Key, make_key
from ogive.store.encoding import CannotEncode, DamagedRecord
from ogive.store.records import KernelRecord, pack_kernel
from ogive.store.rows import Entry, Kind

if TYPE_CHECKING:
    from ogive.devices.protocol import CompiledKernel
    from ogive.store.disk_cache import Disk
    from ogive.targets.target import Target


class Code:
    """Object code that any number of kernels share, linked when first needed.

    `ir` is the LLVM IR it was made from, compressed if it comes from the disk.
    """

    def __init__(self, device: Device, name: str, object_code: bytes, ir: str | bytes) -> None:
        self.name = name
        self._device = device
        self.object_code = object_code
        self._ir = ir
        self.kept_in: Disk | None = None
        self._loaded: Executable | None = None

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
    def loaded(self) -> Executable:
        """Its entry point in memory."""
        # Not a `cached_property`, whose lock a child process would inherit locked.
        if self._loaded is None:
            self._loaded = self._device.load(self.name, self.object_code)
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
    def loaded(self) -> Executable:
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

    def kernels_for(
        self,
        regions: Iterable[UOp],
        device: Device,
        target: Target,
        config: Config,
        disk: Disk | None,
        entries: list[Entry],
    ) -> list[Kernel]:
        """The kernels that compute some regions on a device, each compiled at most once.

        What the disk does not have is added to `entries`.
        """
        asked = list(regions)
        with self._lock:
            kernels: dict[UOp, Kernel] = {}
            drafts: dict[UOp, _Draft] = {}
            with Assembly(device, target, (config.threads or host().cores()) - 1) as assembly:
                for region in asked:
                    kernel = self._kernels.get((region, target.key, config.code_key))
                    if kernel is not None:
                        kernels[region] = kernel
                    if kernel is not None or region in kernels or region in drafts:
                        count("kernel_hits")
                        continue
                    kernel = self._from_disk(region, device, target, config, disk)
                    if kernel is None:
                        drafts[region] = self._draft(
                            region, device, target, config, disk, assembly
                        )
                    else:
                        kernels[region] = kernel
            for region, draft in drafts.items():
                kernels[region] = self._finish(region, device, draft, assembly, config)
            for region, kernel in kernels.items():
                self._remember(region, kernel, target, config)
                if disk is not None and kernel.kept_in is not disk:
                    stored_at = _place(region, target, config, disk)
                    _keep(kernel, stored_at, target, disk, entries)
            return [kernels[region] for region in asked]

    def _remember(self, region: UOp, kernel: Kernel, target: Target, config: Config) -> None:
        self._kernels[region, target.key, config.code_key] = kernel
        while len(self._kernels) > config.kernel_cache_size:
            del self._kernels[next(iter(self._kernels))]

    def clear(self) -> None:
        """Forget all kernels in memory. Plans keep theirs."""
        with self._lock:
            self._kernels.clear()
            self._codes.clear()
        placement_cache.clear()

    def kernel_of(
        self, record: KernelRecord, stored: CodeRecord, disk: Disk, device: Device
    ) -> Kernel:
        """A kernel that was read from the disk."""
        loaded = Code(device, record.name, stored.object_code, stored.ir)
        code = self._codes.setdefault(record.code, loaded)
        kernel = Kernel(record, code, {})
        kernel.kept_in = code.kept_in = disk
        return kernel

    def _from_disk(
        self, region: UOp, device: Device, target: Target, config: Config, disk: Disk | None
    ) -> Kernel | None:
        if disk is None:
            return None
        stored = disk.find_kernel(_place(region, target, config, disk))
        if stored is None or not _fits(stored[0], region):
            return None
        count("kernel_disk_hits")
        return self.kernel_of(*stored, disk, device)

    def _draft(
        self,
        region: UOp,
        device: Device,
        target: Target,
        config: Config,
        disk: Disk | None,
        assembly: Assembly,
    ) -> _Draft:
        """Write the text of a kernel, and have it assembled unless equal text has been.

        Regions that differ can become equal kernels once their axes are placed.
        """
        compiled = _compile(region, device, target, config)
        text = compiled.ir
        key = (
            make_key(b"code", target.key.encode(), text.encode())
            if disk is None
            else disk.code_key(text, target)
        )
        code = self._codes.get(key)
        if code is not None or key in assembly.all:
            count("kernel_hits")
            return _Draft(compiled, key, code)
        stored = None if disk is None else disk.find_codes([key]).get(key)
        if stored is not None:
            count("kernel_disk_hits")
            code = self._codes[key] = Code(device, compiled.name, stored.object_code, text)
            return _Draft(compiled, key, code)
        assembly.add(key, text)
        count("kernels_compiled")
        return _Draft(compiled, key, None)

    def _finish(
        self, region: UOp, device: Device, draft: _Draft, assembly: Assembly, config: Config
    ) -> Kernel:
        """The kernel of a draft whose text has been assembled."""
        compiled, key, code = draft
        code = code or self._codes.get(key)
        compiled.timings["assemble"] = 0.0
        if code is None:
            assembled = assembly.all[key]
            compiled.timings["assemble"] = assembled.seconds
            code = self._codes[key] = Code(device, compiled.name, assembled.code, compiled.ir)
        if config.logs("compile"):
            stages = ", ".join(f"{name} {1e3 * s:.2f}" for name, s in compiled.timings.items())
            log("compile", f"{compiled.name}, in ms: {stages}")
        return Kernel(_record(compiled, region, key), code, compiled.timings)


class _Draft(NamedTuple):
    """A kernel that has been written, the key of its code, and the code if there is any yet."""

    compiled: CompiledKernel
    key: Key
    code: Code | None


def _compile(region: UOp, device: Device, target: Target, config: Config) -> CompiledKernel:
    placement = placement_cache.get(region, target, config)
    try:
        return device.compile_region(region, target, config, placement)
    except OptimizeError:
        if placement is None:
            raise
        # It was read from a disk, and does not belong to this kernel.
        return device.compile_region(region, target, config, None)


def _place(region: UOp, target: Target, config: Config, disk: Disk) -> Key:
    """Where a disk keeps the kernel of a region."""
    placement = placement_cache.get(region, target, config)
    return placed_key(disk.kernel_key(region, target, config), placement)


def _keep(kernel: Kernel, key: Key, target: Target, disk: Disk, entries: list[Entry]) -> None:
    """Add to `entries` what a disk does not have of a kernel."""
    # A kernel that was compiled for no disk, or for another, does not know this one's key.
    record = kernel.record._replace(code=disk.code_key(kernel.ir, target))
    try:
        packed = pack_kernel(record)
    except CannotEncode:
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
        work=min(compiled.work, (1 << 63) - 1),  # of lengths that no memory holds
        costs=compiled.costs,
        code=code,
    )


def _fits(record: KernelRecord, region: UOp) -> bool:
    """Whether a record speaks of slots and variables that a region has."""
    slots = {node.slot for node in region.walk() if node.op is Op.PARAM}
    if record.slots[: record.writes] != tuple(range(len(region.src))):
        return False
    return slots.issuperset(record.slots) and record.variables.items() <= _variables(region).items()


def _variables(region: UOp) -> dict[str, tuple[int, int]]:
    return {node.name: (node.low, node.high) for node in region.walk() if node.op is Op.VARIABLE}


kernel_cache = KernelCache()

os.register_at_fork(after_in_child=kernel_cache.renew_lock)
