"""Memory on a device: allocated when first needed, shared by views, released with its last user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ReferenceType

import numpy

from ogive.compiler.devices.host_memory import RawBytes
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.protocol import Block, Memory
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.errors import ArgumentError, ArgumentTypeError, DeviceError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

_EMPTY: RawBytes = numpy.empty(2 * ALIGNMENT, numpy.uint8)
_EMPTY_ADDRESS: int = -(-_EMPTY.__array_interface__["data"][0] // ALIGNMENT) * ALIGNMENT


class Buffer:
    """`nbytes` of memory on `device`.

    The memory is allocated, 64-byte-aligned and undefined, when `address` is first read. A view
    shares the memory of its base, a borrowed buffer that of an array; both keep it alive. A buffer
    that was lent counts as borrowed from then on.

    `writes` is incremented when a write begins and when it ends, so that it is odd during a write.
    `written_at` is the moment of the last write on the engine's clock. Memory that is `volatile` is
    overwritten without being counted, by each execution of a plan. `array` refers to a NumPy array
    on the same memory, through which others may write.

    >>> buffer = Buffer(16)
    >>> buffer.copy_from(bytes(range(16)))
    >>> buffer.view(4, 4).as_numpy("uint8", (2, 2)).tolist()
    [[4, 5], [6, 7]]
    """

    __slots__ = (
        "__weakref__",
        "_address",
        "_block",
        "_memory",
        "_offset",
        "_owner",
        "array",
        "borrowed",
        "device",
        "nbytes",
        "volatile",
        "writes",
        "written_at",
    )

    def __init__(self, nbytes: int, device: str = DEFAULT_DEVICE) -> None:
        self.nbytes = nbytes
        self.device = device
        self.borrowed = False
        self.volatile = False
        self.array: ReferenceType[NDArray[Any]] | None = None
        self.writes = 0
        self.written_at = 0
        self._address = 0
        self._offset = 0
        self._block: Block | None = None
        self._memory: Memory | None = None
        self._owner: Buffer | NDArray[Any] | None = None

    @classmethod
    def borrow(cls, array: NDArray[Any], device: str = DEFAULT_DEVICE) -> Buffer:
        """A read-only buffer on the memory of a C-contiguous array, which it keeps alive.

        The array's address is one of `device`.
        """
        if not array.flags.c_contiguous:
            raise ArgumentError(
                f"only a C-contiguous array can be borrowed, not one with strides {array.strides}; "
                "copy it first (numpy.ascontiguousarray)"
            )
        buffer = cls(array.nbytes, device)
        buffer.borrowed = True
        buffer._owner = array
        buffer._address = array.__array_interface__["data"][0] or _EMPTY_ADDRESS
        return buffer

    def view(self, offset: int, nbytes: int) -> Buffer:
        """The `nbytes` that start `offset` bytes into this buffer. Raises `ArgumentError`."""
        if offset < 0 or nbytes < 0 or offset + nbytes > self.nbytes:
            raise ArgumentError(
                f"bytes {offset} to {offset + nbytes} are not all inside a buffer of {self.nbytes}"
            )
        buffer = Buffer(nbytes, self.device)
        buffer.borrowed = self.borrowed
        buffer._owner = self
        buffer._offset = offset
        return buffer

    @property
    def address(self) -> int:
        """The address of the memory, which the first call allocates. Never 0, even if empty."""
        return self._address or self._allocate()

    @property
    def allocated(self) -> bool:
        """Whether the memory is allocated already."""
        return self.base._address != 0

    @property
    def is_absent(self) -> bool:
        """Whether it has no values and never will."""
        return False

    @property
    def writable(self) -> bool:
        """Whether it may be written. Borrowed memory may not, since others own it, too."""
        return not self.borrowed

    @property
    def base(self) -> Buffer:
        """The buffer that owns the memory: itself unless it is a view."""
        buffer = self
        while isinstance(buffer._owner, Buffer):
            buffer = buffer._owner
        return buffer

    @property
    def version(self) -> int | None:
        """A number that stays the same as long as the values in memory do.

        None if that is not known: others may write to the memory, or a write is in progress.
        """
        base = self if self._owner is None else self.base
        writes = base.writes
        if writes & 1 or base.borrowed or base.volatile:
            return None
        return None if base.is_shown else writes

    @property
    def is_shown(self) -> bool:
        """Whether a NumPy array shares the memory."""
        return self.array is not None and self.array() is not None

    def _allocate(self) -> int:
        if isinstance(self._owner, Buffer):
            self._address = self._owner.address + self._offset
        elif self.nbytes == 0 and find_device(self.device).addressable:
            self._address = _EMPTY_ADDRESS
        else:
            memory = self._memory = find_device(self.device).memory
            block = memory.allocate(self.nbytes)
            with memory.lock:
                if self._block is None:
                    self._block = block
                else:  # another thread was faster
                    memory.release(block)
                self._address = self._block[0]
        return self._address

    def __del__(self) -> None:
        block = getattr(self, "_block", None)  # absent if the constructor was interrupted
        if block is not None:
            self._memory.release(block)  # type: ignore[union-attr]  # it is where that is from

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if not find_device(self.device).addressable:
            raise DeviceError(f"this is memory of {self.device}; copy it to the host first")
        return self.interface

    @property
    def interface(self) -> dict[str, Any]:
        """NumPy's array interface; the address is one of the device."""
        return {
            "data": (self.address, isinstance(self.base._owner, numpy.ndarray)),
            "shape": (self.nbytes,),
            "typestr": "|u1",
            "version": 3,
        }

    def as_numpy(
        self, dtype: DTypeLike = numpy.uint8, shape: tuple[int, ...] | None = None
    ) -> NDArray[Any]:
        """The memory as an array of `dtype` and `shape`, without a copy. It keeps this buffer
        alive."""
        flat = numpy.asarray(self).view(dtype)
        return flat if shape is None else flat.reshape(shape)

    def lend(self, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
        """The memory as an array that others may keep. From now on nothing of ours writes to it.

        Borrowed memory is lent read-only. On a device other than the host, the array only carries
        the address and must not be read.
        """
        self.borrowed = self.base.borrowed = True
        return numpy.asarray(_Lent(self)).view(dtype).reshape(shape)

    def memoryview(self) -> memoryview:
        """The memory as bytes, without a copy. It keeps this buffer alive."""
        return self.as_numpy().data

    def copy_from(self, data: Any) -> None:
        """Overwrite all of the buffer with the bytes of `data` (bytes, memoryview, array)."""
        if self.borrowed:
            raise ArgumentTypeError("this buffer is borrowed or lent and must not be written to")
        source = numpy.frombuffer(data, numpy.uint8)
        if source.nbytes != self.nbytes:
            raise ArgumentError(f"{source.nbytes} bytes were given to a buffer of {self.nbytes}")
        find_device(self.device).copy_in(self.address, source.data)

    def fill(self, array: NDArray[Any]) -> None:
        """Overwrite all of the buffer with the elements of an array, in row-major order."""
        device = find_device(self.device)
        if device.addressable:
            self.as_numpy(array.dtype, array.shape)[...] = array
        else:
            flat = numpy.ascontiguousarray(array).reshape(-1)
            device.copy_in(self.address, flat.view(numpy.uint8).data)

    def contents(self, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
        """The elements for reading: the memory itself if the host can address it, else a copy."""
        device = find_device(self.device)
        if device.addressable:
            return self.as_numpy(dtype, shape)
        array: NDArray[Any] = numpy.empty(self.nbytes, numpy.uint8)
        device.copy_out(self.address, array.data)
        return array.view(dtype).reshape(shape)

    def __repr__(self) -> str:
        state = "borrowed" if self.borrowed else "allocated" if self.allocated else "lazy"
        return f"Buffer({self.device}, {self.nbytes} bytes, {state})"


class _Lent:
    """The array interface of memory that is lent, on any device."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.__array_interface__ = buffer.interface


def poisoned_buffer(nbytes: int, device: str = DEFAULT_DEVICE) -> Buffer:
    """New memory with all bits set: NaN in every float dtype, and an unlikely integer."""
    buffer = Buffer(nbytes, device)
    buffer.fill(numpy.full(nbytes, 0xFF, numpy.uint8))
    return buffer
