"""Numbers that a computation takes from outside, one per use: the keys of random draws.

    taken(supplier)     BUFFER of one uint64, which holds what supplier.take() gave

Inside a function that is being captured nothing is taken yet: the buffer is noted, together with
its supplier, and every call of the captured function takes a new number for it, in the order in
which the function asked.
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
    """The numbers that a captured function takes: for each use, its buffer node and supplier."""

    __slots__ = ("uses",)

    def __init__(self) -> None:
        self.uses: list[tuple[UOp, Supplier]] = []


_collected: dict[int, Supplies] = {}


@contextmanager
def collecting() -> Iterator[Supplies]:
    """Note what this thread takes, instead of taking it."""
    supplies = _collected[get_ident()] = Supplies()
    try:
        yield supplies
    finally:
        del _collected[get_ident()]


class Supplier:
    """Gives a number between 0 and 2^64 at each use."""

    def __init__(self) -> None:
        # One that a captured function makes for itself starts anew at each call, as it would
        # without being captured: what it gives is the same every time.
        self._made_within = _collected.get(get_ident())

    def take(self) -> int:
        """The next number."""
        raise NotImplementedError

    def refuse_capture(self, action: str) -> None:
        """Raise `TraceError` where a captured function does what its later calls would not do."""
        if self.deferring():
            raise TraceError(
                f"{action} inside a function that ogive.jit captures would happen only while it is "
                "captured; do it outside, or use keys (ogive.random.key) as arguments"
            )

    def deferring(self) -> Supplies | None:
        """Where uses are noted, if this thread is capturing a function."""
        supplies = _collected.get(get_ident())
        return None if supplies is self._made_within else supplies


class _Deferred(Buffer):
    """A number that is taken when it is first read."""

    __slots__ = ("_supplier",)

    def __init__(self, supplier: Supplier) -> None:
        super().__init__(NUMBER_BYTES)
        self._supplier = supplier

    def _allocate(self) -> int:
        # A tensor that a captured function leaves outside is computed after all.
        super()._allocate()
        self.as_numpy("uint64")[0] = self._supplier.take()
        return self._address


def taken(supplier: Supplier) -> UOp:
    """A buffer of one uint64 with a number of the supplier. `graph_lock` is held."""
    supplies = supplier.deferring()
    if supplies is None:
        buffer = Buffer(NUMBER_BYTES)
        buffer.as_numpy("uint64")[0] = supplier.take()
        return memory_node(buffer, (1,), dtypes.uint64)
    node = memory_node(_Deferred(supplier), (1,), dtypes.uint64)
    supplies.uses.append((node, supplier))
    return node
