"""The kernels of regions: in memory by region, target and configuration; on disk; or compiled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ogive.after_fork import Locked
from ogive.compiler.devices.known_devices import host
from ogive.compiler.engine.caches.assembly import Assembly
from ogive.compiler.engine.caches.found_placements import placed_key, placement_cache
from ogive.compiler.engine.caches.kernels import Code, Kernel, known_codes, stored_kernel
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.store.code_records import pack_code
from ogive.compiler.store.content_keys import Key, make_key
from ogive.compiler.store.encoding import CannotEncode
from ogive.compiler.store.records import KernelRecord, pack_kernel
from ogive.compiler.store.rows import Entry, Kind
from ogive.config import Config
from ogive.counters import count
from ogive.errors import OptimizeError
from ogive.journal import log
from ogive.named import NamedTuple

if TYPE_CHECKING:
    from ogive.compiler.devices.protocol import CompiledKernel, Device
    from ogive.compiler.store.disk_cache import Disk
    from ogive.compiler.targets.target import Target


class KernelCache(Locked):
    """Kernels by content, bounded, first in first out. Plans keep what they use alive."""

    def __init__(self) -> None:
        self._kernels: dict[Any, Kernel] = {}
        super().__init__()

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
            known_codes.clear()
        placement_cache.clear()

    def _from_disk(
        self, region: UOp, device: Device, target: Target, config: Config, disk: Disk | None
    ) -> Kernel | None:
        if disk is None:
            return None
        stored = disk.find_kernel(_place(region, target, config, disk))
        if stored is None or not _fits(stored[0], region):
            return None
        count("kernel_disk_hits")
        return stored_kernel(*stored, disk, device)

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
            else disk.code_key(text, target.key)
        )
        code = known_codes.get(key)
        if code is not None or key in assembly.all:
            count("kernel_hits")
            return _Draft(compiled, key, code)
        stored = None if disk is None else disk.find_codes([key]).get(key)
        if stored is not None:
            count("kernel_disk_hits")
            code = known_codes[key] = Code(device, compiled.name, stored.object_code, text)
            return _Draft(compiled, key, code)
        assembly.add(key, text)
        count("kernels_compiled")
        return _Draft(compiled, key, None)

    def _finish(
        self, region: UOp, device: Device, draft: _Draft, assembly: Assembly, config: Config
    ) -> Kernel:
        """The kernel of a draft whose text has been assembled."""
        compiled, key, code = draft
        code = code or known_codes.get(key)
        compiled.timings["assemble"] = 0.0
        if code is None:
            assembled = assembly.all[key]
            compiled.timings["assemble"] = assembled.seconds
            code = known_codes[key] = Code(device, compiled.name, assembled.code, compiled.ir)
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
    return placed_key(disk.kernel_key(region, target.key, config), placement)


def _keep(kernel: Kernel, key: Key, target: Target, disk: Disk, entries: list[Entry]) -> None:
    """Add to `entries` what a disk does not have of a kernel."""
    # A kernel that was compiled for no disk, or for another, does not know this one's key.
    record = kernel.record._replace(code=disk.code_key(kernel.ir, target.key))
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
