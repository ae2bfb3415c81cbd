"""An execution of a captured function, with memory of its own, and the memory of its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.execution import Execution
from ogive.config import Config
from ogive.jit.calls.result_memory import Cell, Cells
from ogive.jit.calls.whereabouts import Whereabouts
from ogive.jit.calls.wiring import Wiring, Words
from ogive.jit.tracing.prepare import Prepared


class Instance:
    """An execution with scratch memory, for one thread at a time.

    What a call brings along is filled in by its address alone, and not kept. `supplied` takes the
    numbers that the function is given anew at each call.
    """

    __slots__ = (
        "_addresses", "_captured", "_results", "_wiring", "_words", "execution", "supplied",
    )  # fmt: skip

    def __init__(
        self, prepared: Prepared, wiring: Wiring, supplies: int, config: Config, name: str
    ) -> None:
        graph = prepared.graph
        self.execution = Execution(graph, config, f"{name}, ")
        if prepared.normalized.is_general:
            self.execution.set_variables(prepared.normalized.variables)
        self._wiring = wiring
        self._words: Any = memoryview(self.execution.native.words.data)
        parameters = [slot.parameter for slot in graph.slots if slot.parameter is not None]
        given = [Buffer(0)] * (max(parameters, default=-1) + 1)
        for slot, buffer in enumerate(graph.allocate(given, config)):
            if slot not in wiring.given:
                own = self.execution.memories[slot] = prepared.constants.get(slot, buffer)
                self._write(wiring.words[slot], own.address)
        numbers = numpy.zeros(supplies, numpy.uint64)
        for at, words in wiring.supplies:
            self._write(words, numbers[at:].ctypes.data)
        self.supplied = numbers.data
        self._addresses: list[int] = [0] * len(wiring.inputs)
        self._captured: Whereabouts | None = None
        # For each fresh result: the words that take its address, and cells to use again.
        self._results: list[tuple[Words, Cells]] = [
            (wiring.words[place], Cells(result, graph.result_bytes(place, result.nbytes)))
            for result in wiring.fresh
            if (place := result.slot) is not None
        ]

    def _write(self, words: Sequence[int], address: int) -> None:
        for word in words:
            self._words[word] = address

    def fill_in(self, memories: Sequence[Any], captured: Whereabouts | None) -> None:
        """Let the plan read the memories of a call's inputs, and the captured tensors."""
        words, last, inputs = self._words, self._addresses, self._wiring.inputs
        for at, memory in enumerate(memories):
            address = memory.address if memory.__class__ is Buffer else _address(memory)
            if last[at] != address:
                last[at] = address
                for word in inputs[at]:
                    words[word] = address
        if captured is not None and self._captured is not captured:
            for at, positions in self._wiring.captured:
                self._write(positions, captured.addresses[at])
            self._captured = captured

    def cells(self, recycle: bool) -> list[Cell]:
        """Memory for each fresh result that nobody else has, and that the plan writes to."""
        words = self._words
        taken = []
        for positions, cells in self._results:
            cell = cells.take(recycle)
            for word in positions:
                words[word] = cell.address
            taken.append(cell)
        return taken


def _address(memory: Any) -> int:
    if isinstance(memory, Buffer):
        return memory.address
    assert isinstance(memory, numpy.ndarray)
    address: int = memory.ctypes.data
    return address
