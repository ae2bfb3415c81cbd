"""The memory of a run, by number, and the steps over it that are no kernels."""

from __future__ import annotations

from ogive.ir.device_names import DEFAULT_DEVICE
from ogive.ir.dtype import DType
from ogive.ir.memory import ALIGNMENT
from ogive.named import NamedTuple


def aligned(nbytes: int) -> int:
    """The bytes of a block that so many bytes take."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class Slot(NamedTuple):
    """Memory that a run needs on a `device`: `parameter` says which of the graph's, None one of its
    own.

    One for a `panel` holds an operand of a product, in the layout that
    `passes/graph/products/pack_operands.py` gave it, if that is large enough to be worth keeping.
    """

    dtype: DType
    count: int  # type: ignore[assignment]  # hides a method of tuples
    parameter: int | None
    panel: bool = False
    device: str = DEFAULT_DEVICE

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize


class CopyStep(NamedTuple):
    """Brings what one slot holds into another, from one device to another.

    `slots` are the destination and the source.
    """

    slots: tuple[int, ...]

    @property
    def written(self) -> tuple[int, ...]:
        """The slot that is filled."""
        return self.slots[:1]

    @property
    def read(self) -> tuple[int, ...]:
        """The slot that is brought."""
        return self.slots[1:]

    def __repr__(self) -> str:
        return f"<copy slot {self.slots[1]} to slot {self.slots[0]}>"


class CallStep(NamedTuple):
    """Calls a Python function. `slots` are those it writes, its own, and those it reads.

    Its own is a parameter that stands for the function; `writes` and `reads` are shapes.
    """

    name: str
    slots: tuple[int, ...]
    writes: tuple[tuple[int, ...], ...]
    reads: tuple[tuple[int, ...], ...]

    @property
    def function(self) -> int:
        """The slot of the function."""
        return self.slots[len(self.writes)]

    @property
    def written(self) -> tuple[int, ...]:
        """The slots that the function fills."""
        return self.slots[: len(self.writes)]

    @property
    def read(self) -> tuple[int, ...]:
        """The slots that the function reads."""
        return self.slots[len(self.writes) + 1 :]

    def __repr__(self) -> str:
        return f"<call {self.name}: slots {self.read} to {self.written}>"
