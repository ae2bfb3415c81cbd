"""Kernels as plans run them: code that was compiled or read from a disk, linked when first needed.

What compiles them is in `kernel_cache.py`, which a process that finds all on disk does not load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from ogive.compiler.store.code_records import unpack_ir
from ogive.compiler.store.encoding import DamagedRecord
from ogive.errors import LoadError

if TYPE_CHECKING:
    from ogive.compiler.devices.protocol import Device, Executable
    from ogive.compiler.ir.node import UOp
    from ogive.compiler.store.code_records import CodeRecord
    from ogive.compiler.store.content_keys import Key
    from ogive.compiler.store.disk_cache import Disk
    from ogive.compiler.store.records import KernelRecord


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


known_codes: WeakValueDictionary[Key, Code] = WeakValueDictionary()
"""The code of this process, which kernels of equal text share. Kernels keep it alive."""


def stored_kernel(
    record: KernelRecord, stored: CodeRecord, disk: Disk, device: Device
) -> Kernel:
    """A kernel that was read from a disk."""
    loaded = Code(device, record.name, stored.object_code, stored.ir)
    code = known_codes.setdefault(record.code, loaded)
    kernel = Kernel(record, code, {})
    kernel.kept_in = code.kept_in = disk
    return kernel
