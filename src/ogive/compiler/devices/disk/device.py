"""`DISK`: the device whose memory is files. It is read-only and computes nothing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NoReturn

from ogive.compiler.devices.disk.disk_files import DiskBuffer
from ogive.compiler.devices.handle import find_handle
from ogive.compiler.devices.known_devices import READ_ONLY
from ogive.compiler.devices.protocol import Block, Device
from ogive.errors import DeviceError

if TYPE_CHECKING:
    from ogive.config import Config


def make_device(index: int) -> DiskDevice:
    """The `DISK` device. Raises `DeviceError` for an index other than 0."""
    if index:
        raise DeviceError(f"there is no DISK:{index}: a file is known by its path")
    return DiskDevice(index)


class _NoMemory:
    """The memory of a read-only device, which cannot be allocated."""

    bytes_allocated = bytes_reused = bytes_held = 0
    lock = threading.Lock()

    def allocate(self, nbytes: int) -> Block:
        raise DeviceError(READ_ONLY)

    def release(self, block: Block) -> None:
        """There is none."""

    def trim(self, keep_bytes: int = 0) -> None:
        """There is none."""


class DiskDevice(Device):
    """The device of files. The address of a file is the number of its handle."""

    kind = "DISK"

    def __init__(self, index: int) -> None:
        super().__init__(index)
        self.memory = _NoMemory()

    def open_file(self, path: str, offset: int, nbytes: int) -> DiskBuffer:
        buffer = DiskBuffer(path, offset, nbytes)
        buffer.check()
        return buffer

    def copy_out(self, address: int, into: memoryview) -> None:
        find_handle(address, DiskBuffer).read_into(into)

    def copy_in(self, address: int, data: memoryview) -> NoReturn:
        raise DeviceError(READ_ONLY)

    def target(self, config: Config) -> NoReturn:
        raise _computes_nothing()

    def compile_region(self, *_: object) -> NoReturn:
        raise _computes_nothing()

    def assemble(self, *_: object) -> NoReturn:
        raise _computes_nothing()

    def load(self, *_: object) -> NoReturn:
        raise _computes_nothing()

    def launch_step(self, *_: object) -> NoReturn:
        raise _computes_nothing()


def _computes_nothing() -> DeviceError:
    return DeviceError("DISK computes nothing; what is computed from files is computed elsewhere")
