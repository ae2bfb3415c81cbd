"""The slots of a run's memory, and its steps that are not kernels."""

from __future__ import annotations

from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.named import NamedTuple


def aligned(nbytes: int) -> int:
    """`nbytes` rounded up to a multiple of the alignment."""
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


class Slot(NamedTuple):
    """Memory of a run on a `device`.

    `parameter` is the number of the graph's parameter that it is; None for memory of the run's own.
    A `panel` holds an operand packed by `passes/graph/products/pack_operands.py` that is large
    enough to be kept for later runs.
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
    """Copies one slot to another slot, which is on another device.

    `slots` are the destination and the source.
    """

    slots: tuple[int, ...]

    @property
    def written(self) -> tuple[int, ...]:
        """The slot that is filled."""
        return self.slots[:1]

    @property
    def read(self) -> tuple[int, ...]:
        """The slot that is copied."""
        return self.slots[1:]

    def __repr__(self) -> str:
        return f"<copy slot {self.slots[1]} to slot {self.slots[0]}>"


class CallStep(NamedTuple):
    """Calls a Python function.

    `slots` are those that it writes, then the parameter that stands for the function, then those
    that it reads. `writes` and `reads` are shapes.
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
