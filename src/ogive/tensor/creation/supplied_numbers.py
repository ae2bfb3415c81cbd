"""Numbers that suppliers outside of the graph give, a new one at each use: keys of random draws.

    taken(supplier)     BUFFER of one uint64, which holds the result of supplier.take()

While a function is captured, no number is taken. Its buffer is recorded together with the supplier.
Every call of the captured function takes new numbers, in the order of the uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

from ogive.devices.buffer import Buffer
from ogive.errors import TraceError
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.tensor.memory.memory_nodes import memory_node

NUMBER_BYTES = 8


class Supplies:
    """The uses of suppliers in a captured function: for each, its buffer node and supplier."""

    __slots__ = ("uses",)

    def __init__(self) -> None:
        self.uses: list[tuple[UOp, Supplier]] = []


_collected: dict[int, Supplies] = {}


@contextmanager
def collecting() -> Iterator[Supplies]:
    """Record the uses of suppliers in this thread, instead of taking numbers."""
    supplies = _collected[get_ident()] = Supplies()
    try:
        yield supplies
    finally:
        del _collected[get_ident()]


class Supplier:
    """A source that gives a number of [0, 2^64) at each use."""

    def __init__(self) -> None:
        # A supplier made inside a captured function would start anew at each call without capture,
        # and give the same numbers each time. So its numbers are taken during the capture.
        self._made_within = _collected.get(get_ident())

    def take(self) -> int:
        """Return the next number."""
        raise NotImplementedError

    def refuse_capture(self, action: str) -> None:
        """Raise `TraceError` for an action that later calls of a captured function would not do."""
        if self.deferring():
            raise TraceError(
                f"{action} inside a function that ogive.jit captures would happen only once, when "
                "it is captured; do it outside, or use keys (ogive.random.key) as arguments"
            )

    def deferring(self) -> Supplies | None:
        """The record of uses, if this thread is capturing a function."""
        supplies = _collected.get(get_ident())
        return None if supplies is self._made_within else supplies


class _Deferred(Buffer):
    """A buffer whose number is taken when it is first read."""

    __slots__ = ("_supplier",)

    def __init__(self, supplier: Supplier) -> None:
        super().__init__(NUMBER_BYTES)
        self._supplier = supplier

    def _allocate(self) -> int:
        # Happens for a tensor that a captured function has stored outside: it is computed later.
        super()._allocate()
        self.as_numpy("uint64")[0] = self._supplier.take()
        return self._address


def taken(supplier: Supplier) -> UOp:
    """Return a buffer node of one uint64 with the next number of the supplier.

    The caller holds `graph_lock`.
    """
    supplies = supplier.deferring()
    if supplies is None:
        buffer = Buffer(NUMBER_BYTES)
        buffer.as_numpy("uint64")[0] = supplier.take()
        return memory_node(buffer, (1,), dtypes.uint64)
    node = memory_node(_Deferred(supplier), (1,), dtypes.uint64)
    supplies.uses.append((node, supplier))
    return node
