"""Memory in 64-byte-aligned blocks, kept by size when freed so that they can be had again: that of
this process, unless a device says where else blocks come from.

A freed block goes to the list of its size class. A plan that frees and allocates the same sizes at
every run therefore neither calls the system nor faults its pages in again.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

import numpy

from ogive.devices.after_fork import RenewedAfterFork
from ogive.devices.protocol import Block
from ogive.errors import AllocateError
from ogive.ir.memory import ALIGNMENT

HELD_LIMIT = 2 << 30
"""The most bytes kept free, where an eighth of the machine's memory is not less."""

RawBytes = numpy.ndarray[tuple[int], numpy.dtype[numpy.uint8]]


def size_class(nbytes: int) -> int:
    """The capacity of the block that serves `nbytes`: at most a quarter more, a multiple of 64.

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
    """Allocates and takes back blocks, from any thread.

    `bytes_allocated` counts what the system was asked for, `bytes_reused` what the free lists
    served, `bytes_held` what they hold now. Each counts capacities, which `size_class` rounds up.
    `take` gives a new block of a capacity, the host's if it is not given, and raises `MemoryError`
    where there is none; `give_back` is called with a block that is not kept. Without it the block's
    owner gives the memory back when it goes. That owner must not do it when it is finalized: the
    collector finalizes all that a dead cycle holds, also what is handed out again from there.
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
        # The oldest size class is trimmed first; one still in use comes back as the youngest.
        self._free: dict[int, list[Block]] = {}
        # Reentrant: the collector may release a dead buffer while this thread holds it.
        self.lock = threading.RLock()
        _allocators.add(self)

    def allocate(self, nbytes: int) -> Block:
        """A block of at least `nbytes`, its content undefined.

        Raises `AllocateError` when the system has no more, after giving back all that is held.
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
        """Take a block back. Its memory may be handed out again at once."""
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
        """Give free blocks back to the system until at most `keep_bytes` are held."""
        with self.lock:
            for capacity, blocks in list(self._free.items()):
                while blocks and self.bytes_held > keep_bytes:
                    self.bytes_held -= capacity
                    self._give_back(blocks.pop())
                if blocks:
                    return
                self._free.pop(capacity, None)

    def renew_lock(self) -> None:
        """Forget a lock that a thread of the parent process held when it forked."""
        self.lock = threading.RLock()


def _system_block(capacity: int) -> Block:
    if capacity > sys.maxsize - ALIGNMENT:
        raise MemoryError  # which NumPy says otherwise
    # NumPy asks for huge pages where the system has them, and works the same everywhere.
    owner: RawBytes = numpy.empty(capacity + ALIGNMENT, numpy.uint8)
    address: int = owner.__array_interface__["data"][0]
    return -(-address // ALIGNMENT) * ALIGNMENT, capacity, owner


def _forget(block: Block) -> None:
    """Its owner goes with it."""


def _default_limit() -> int:
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return HELD_LIMIT
    return min(HELD_LIMIT, memory // 8)


_allocators = RenewedAfterFork(Allocator.renew_lock)
"""All there are: they share one memory, of which each holds what it may need again."""
