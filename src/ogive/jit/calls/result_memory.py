"""The memory of results, which is used again once nobody has it.

A cell is memory with its nodes. It is handed out with a result, and free when node, flat node and
buffer have no more references than just after they were made, when the cell alone had them: whoever
reads the result holds a tensor on the node or on one above it, or the buffer (`live/references.py`
says why the count tells). What was lent, to NumPy say, is never free again.
"""

from __future__ import annotations

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.writes.missing_values import flat_node
from ogive.compiler.ir.memory import shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.live import history, registry
from ogive.compiler.live.references import count_references
from ogive.jit.tracing.prepare import ResultSlot

RECYCLED_BYTES = 1 << 18
"""Results up to this size keep their nodes and memory, to be used again when nobody has them."""

RECYCLED_CELLS = 3


class Cell:
    """Memory of a result, with its nodes.

    It is free when they have no more references than they had before any tensor held them.
    """

    __slots__ = ("address", "buffer", "counts", "flat", "node")

    def __init__(self, nbytes: int, result: ResultSlot) -> None:
        # No name of ours may hold it, or it would never be free.
        self.buffer = Buffer(nbytes, result.device)
        if nbytes > result.nbytes:
            self.buffer = self.buffer.view(0, result.nbytes)
        self.address = self.buffer.address
        with registry.graph_lock:
            length = self.buffer.nbytes // result.dtype.itemsize
            self.flat = flat_node(self.buffer, result.dtype, length)
            symbolic = any(isinstance(size, UOp) for size in result.shape)
            self.node = self.flat if symbolic else shaped(self.flat, result.shape)
            registry.connect(self.node)
            if result.flows:
                history.cut(self.flat)
        self.counts = self._count_references() if count_references is not None else None

    def is_free(self) -> bool:
        """Whether nobody else has the memory or a node on it. What was lent stays so for ever."""
        if self.counts is None or self.buffer.borrowed:
            return False
        return self.counts == self._count_references()

    def _count_references(self) -> tuple[int, int, int]:
        count = count_references
        assert count is not None
        return count(self.node), count(self.flat), count(self.buffer)


class Cells:
    """Memory for one result of a captured function: cells that wait to be used again."""

    __slots__ = ("_nbytes", "_slot", "_waiting")

    def __init__(self, result: ResultSlot, nbytes: int) -> None:
        self._slot = result
        self._nbytes = nbytes
        self._waiting: list[Cell] = []

    def take(self, recycle: bool) -> Cell:
        """A cell that nobody has: a free one, or a new one, which will be used again if it may."""
        for cell in self._waiting:
            if cell.is_free():
                cell.buffer.writes += 2  # what was made from the old values is not for these
                return cell
        cell = Cell(self._nbytes, self._slot)
        if self._nbytes <= RECYCLED_BYTES and recycle:
            if len(self._waiting) == RECYCLED_CELLS:
                del self._waiting[0]
            self._waiting.append(cell)
        return cell
