"""Numbers that a computation gets from outside, a new one per use: the keys of random draws.

    taken(supplier)     BUFFER of one uint64, which holds what supplier.take() gave

While a function is captured, nothing is taken. The buffer and its supplier are recorded, and every
call of the captured function takes a new number for it, in the order of the uses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.errors import TraceError
from ogive.tensor.memory.memory_nodes import memory_node

NUMBER_BYTES = 8


class Supplies:
    """The uses of numbers in a captured function: the buffer node and the supplier of each."""

    __slots__ = ("uses",)

    def __init__(self) -> None:
        self.uses: list[tuple[UOp, Supplier]] = []


_collected: dict[int, Supplies] = {}


@contextmanager
def collecting() -> Iterator[Supplies]:
    """Within this context, this thread's uses are recorded instead of taking numbers."""
    supplies = _collected[get_ident()] = Supplies()
    try:
        yield supplies
    finally:
        del _collected[get_ident()]


class Supplier:
    """A supplier of numbers between 0 and 2^64."""

    def __init__(self) -> None:
        # A supplier made inside a captured function starts again in each call, as it would without
        # capture, so that it gives the same numbers every time.
        self._made_within = _collected.get(get_ident())

    def take(self) -> int:
        """The next number."""
        raise NotImplementedError

    def refuse_capture(self, action: str) -> None:
        """Raise `TraceError` for an action that later calls of a captured function would skip."""
        if self.deferring():
            raise TraceError(
                f"{action} inside a function that ogive.jit captures would happen only while it is "
                "captured; do it outside, or use keys (ogive.random.key) as arguments"
            )

    def deferring(self) -> Supplies | None:
        """The record of uses if this thread is capturing a function, else None."""
        supplies = _collected.get(get_ident())
        return None if supplies is self._made_within else supplies


class _Deferred(Buffer):
    """A buffer whose number is taken when it is first read."""

    __slots__ = ("_supplier",)

    def __init__(self, supplier: Supplier) -> None:
        super().__init__(NUMBER_BYTES)
        self._supplier = supplier

    def _allocate(self) -> int:
        # This happens for a tensor that a captured function stores outside.
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
