"""An execution of a captured function, with memory of its own, and the memory of its results."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ogive.config import Config
from ogive.devices.buffer import Buffer
from ogive.engine.execution import Execution
from ogive.engine.missing_values import flat_node
from ogive.ir.memory import shaped
from ogive.ir.node import UOp
from ogive.jit.prepare import Made, Prepared
from ogive.jit.whereabouts import Whereabouts
from ogive.jit.wiring import Wiring, Words
from ogive.live import history, registry

RECYCLED_BYTES = 1 << 18
"""Results up to this size keep their nodes and memory, to be used again when nobody has them."""

RECYCLED_CELLS = 3
_reference_count: Callable[[Any], int] | None = getattr(sys, "getrefcount", None)


class Cell:
    """Memory of a result, with its nodes.

    It is free when they have no more references than they had before any tensor held them.
    """

    __slots__ = ("address", "buffer", "counts", "flat", "node")

    def __init__(self, nbytes: int, made: Made) -> None:
        self.buffer = Buffer(nbytes, made.device)
        self.address = self.buffer.address
        with registry.graph_lock:
            self.flat = flat_node(self.buffer, made.dtype, nbytes // made.dtype.itemsize)
            symbolic = any(isinstance(size, UOp) for size in made.shape)
            self.node = self.flat if symbolic else shaped(self.flat, made.shape)
            registry.connect(self.node)
            if made.flows:
                history.cut(self.flat)
        self.counts = self._count_references() if _reference_count is not None else None

    def is_free(self) -> bool:
        """Whether nobody else has the memory or a node on it. What was lent stays so for ever."""
        if self.counts is None or self.buffer.borrowed:
            return False
        return self.counts == self._count_references()

    def _count_references(self) -> tuple[int, int, int]:
        count = _reference_count
        assert count is not None
        return count(self.node), count(self.flat), count(self.buffer)


class Instance:
    """An execution with scratch memory, for one thread at a time.

    What a call brings along is filled in by its address alone, and not kept. `supplied` takes the
    numbers that the function is given anew at each call.
    """

    __slots__ = (
        "_addresses", "_found", "_results", "_sizes", "_wiring", "_words", "execution", "supplied",
    )  # fmt: skip

    def __init__(
        self, prepared: Prepared, wiring: Wiring, supplies: int, config: Config, name: str
    ) -> None:
        graph = prepared.graph
        self.execution = Execution(graph, config, f"{name}, ")
        self._wiring = wiring
        self._words: Any = memoryview(self.execution.native.words.data)
        self._sizes = [slot.nbytes for slot in graph.slots]
        given = [Buffer(0)] * len(prepared.normalized.buffers)
        for slot, buffer in enumerate(graph.allocate(given, config)):
            if slot not in wiring.given:
                own = self.execution.memories[slot] = prepared.constants.get(slot, buffer)
                self._write(wiring.words[slot], own.address)
        numbers = numpy.zeros(supplies, numpy.uint64)
        for at, words in wiring.supplies:
            self._write(words, numbers[at:].ctypes.data)
        self.supplied = numbers.data
        self._addresses: list[int] = [0] * len(wiring.inputs)
        self._found: Whereabouts | None = None
        # For each fresh result: the words that take its address, and cells to use again.
        self._results: list[tuple[Made, Words, list[Cell]]] = [
            (made, wiring.words[made.slot], []) for made in wiring.fresh if made.slot is not None
        ]

    def _write(self, words: Sequence[int], address: int) -> None:
        for word in words:
            self._words[word] = address

    def fill_in(self, memories: Sequence[Any], found: Whereabouts | None) -> None:
        """Let the plan read the memories of a call's inputs, and the tensors that were found."""
        words, last, inputs = self._words, self._addresses, self._wiring.inputs
        for at, memory in enumerate(memories):
            address = memory.address if memory.__class__ is Buffer else _address(memory)
            if last[at] != address:
                last[at] = address
                for word in inputs[at]:
                    words[word] = address
        if found is not None and self._found is not found:
            for at, positions in self._wiring.found:
                self._write(positions, found.addresses[at])
            self._found = found

    def cells(self, recycle: bool) -> list[Cell]:
        """Memory for each fresh result that nobody else has, and that the plan writes to."""
        words = self._words
        found = []
        for made, positions, waiting in self._results:
            for cell in waiting:
                if cell.is_free():
                    cell.buffer.writes += 2
                    break
            else:
                cell = self._new_cell(made, waiting, recycle)
            for word in positions:
                words[word] = cell.address
            found.append(cell)
        return found

    def _new_cell(self, made: Made, waiting: list[Cell], recycle: bool) -> Cell:
        assert made.slot is not None
        nbytes = self._sizes[made.slot]
        cell = Cell(nbytes, made)
        if nbytes <= RECYCLED_BYTES and recycle:
            if len(waiting) == RECYCLED_CELLS:
                del waiting[0]
            waiting.append(cell)
        return cell


def _address(memory: Any) -> int:
    if isinstance(memory, Buffer):
        return memory.address
    assert isinstance(memory, numpy.ndarray)
    address: int = memory.ctypes.data
    return address
