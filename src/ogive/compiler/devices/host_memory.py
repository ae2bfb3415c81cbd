"""An allocator of 64-byte-aligned blocks, which keeps freed blocks by size for reuse.

Blocks are memory of this process, unless a device provides others. A freed block goes to the free
list of its size class. So a plan that frees and allocates the same sizes in every run neither calls
the system nor faults pages in again.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import numpy

from ogive.after_fork import RenewedAfterFork
from ogive.compiler.devices.protocol import Block
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.errors import AllocateError

HELD_LIMIT = 2 << 30
"""The most bytes in free lists, unless an eighth of the machine's memory is less."""

RawBytes = numpy.ndarray[tuple[int], numpy.dtype[numpy.uint8]]


def size_class(nbytes: int) -> int:
    """The capacity of the block for `nbytes`: at most a quarter more, and a multiple of 64.

    >>> [size_class(n) for n in (0, 1, 64, 65, 1000, 5000)]
    [64, 64, 64, 128, 1024, 5120]
    """
    if nbytes <= ALIGNMENT:
        return ALIGNMENT
    shift = (nbytes - 1).bit_length() - 3
    if shift < 6:
        shift = 6
    return ((nbytes - 1 >> shift) + 1) << shift


class Allocator:
    """Allocates and releases blocks, from any thread.

    `bytes_allocated` counts the bytes asked of the system, `bytes_reused` those served by the free
    lists, `bytes_held` those that they hold now. All count capacities, which `size_class` rounds
    up.

    `take` gives a new block of a capacity and raises `MemoryError` if there is none; by default it
    is memory of the host. `give_back` is called with a block that is not kept. Without it, the
    memory goes when the block's owner is freed. It must not go in a finalizer of the owner: the
    garbage collector finalizes everything in a dead cycle, even blocks that are in use again by
    then.
    """

    __slots__ = (
        "__weakref__", "_free", "_give_back", "_take", "bytes_allocated", "bytes_held",
        "bytes_reused", "device", "held_limit", "lock",
    )  # fmt: skip

    def __init__(
        self,
        device: str,
        held_limit: int | None = None,
        take: Callable[[int], Block] | None = None,
        give_back: Callable[[Block], None] | None = None,
    ) -> None:
        self.device = device
        self._take = take or _system_block
        self._give_back = give_back or _forget
        self.held_limit = _default_limit() if held_limit is None else held_limit
        self.bytes_allocated = 0
        self.bytes_reused = 0
        self.bytes_held = 0
        # The oldest size class is trimmed first. One that is still in use becomes the youngest.
        self._free: dict[int, list[Block]] = {}
        # Reentrant: garbage collection may release a buffer while this thread holds the lock.
        self.lock = threading.RLock()
        _allocators.add(self)

    def allocate(self, nbytes: int) -> Block:
        """A block of at least `nbytes`, with undefined content.

        Raises `AllocateError` if the system has no more, even after all free blocks went back.
        """
        capacity = size_class(nbytes)
        with self.lock:
            blocks = self._free.get(capacity)
            if blocks:
                self.bytes_held -= capacity
                self.bytes_reused += capacity
                return blocks.pop()
            self.bytes_allocated += capacity
        try:
            return self._take(capacity)
        except MemoryError:
            for other in _allocators:
                other.trim()
        try:
            return self._take(capacity)
        except MemoryError:
            raise AllocateError(
                f"cannot allocate {nbytes:,} bytes of {self.device} memory; free other tensors or "
                "work on smaller pieces"
            ) from None

    def release(self, block: Block) -> None:
        """Release a block. Its memory may be used again at once."""
        capacity = block[1]
        if capacity > self.held_limit:
            self._give_back(block)
            return
        with self.lock:
            blocks = self._free.get(capacity)
            if blocks is None:
                blocks = self._free.setdefault(capacity, [])
            blocks.append(block)
            self.bytes_held += capacity
            if self.bytes_held > self.held_limit:
                self.trim(self.held_limit)

    def trim(self, keep_bytes: int = 0) -> None:
        """Return free blocks to the system until at most `keep_bytes` are held."""
        with self.lock:
            for capacity, blocks in list(self._free.items()):
                while blocks and self.bytes_held > keep_bytes:
                    self.bytes_held -= capacity
                    self._give_back(blocks.pop())
                if blocks:
                    return
                self._free.pop(capacity, None)

    def renew_lock(self) -> None:
        """Replace the lock, which another thread may have held when the process forked."""
        self.lock = threading.RLock()


def _system_block(capacity: int) -> Block:
    if capacity > sys.maxsize - ALIGNMENT:
        raise MemoryError  # NumPy would raise another exception
    # NumPy asks for huge pages if the system has them, and works the same everywhere.
    owner: RawBytes = numpy.empty(capacity + ALIGNMENT, numpy.uint8)
    address: int = owner.__array_interface__["data"][0]
    return -(-address // ALIGNMENT) * ALIGNMENT, capacity, owner


def _forget(block: Block) -> None:
    """Do nothing: the memory goes with the block's owner."""


def _default_limit() -> int:
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return HELD_LIMIT
    return min(HELD_LIMIT, memory // 8)


_allocators = RenewedAfterFork(Allocator.renew_lock)
"""All allocators. They share one memory, of which each holds blocks for reuse."""
