"""The steps of a compiled graph that call functions of Python's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.devices.handle import find_handle
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.protocol import Device, StepFailure
from ogive.compiler.devices.python_function import PythonFunction
from ogive.compiler.engine.writes.announced_writes import without_effect_lock
from ogive.compiler.passes.regions.slots import CallStep, Slot


def calling(step: CallStep, slots: Sequence[Slot]) -> Callable[..., None]:
    """The function that does a step; it takes the addresses of the step's slots."""
    writes = [
        _Memory(slots[number], shape)
        for number, shape in zip(step.written, step.writes, strict=True)
    ]
    reads = [
        _Memory(slots[number], shape) for number, shape in zip(step.read, step.reads, strict=True)
    ]
    count = len(writes)

    def call(*addresses: int) -> None:
        try:
            function = find_handle(addresses[count], PythonFunction)
            # The arrays are copies, so that a function which keeps one can never see freed memory.
            given = [
                memory.read(address)
                for address, memory in zip(addresses[count + 1 :], reads, strict=True)
            ]
            results = [numpy.zeros(memory.shape, memory.dtype) for memory in writes]
            without_effect_lock(function.call, given, results)
            for address, memory, array in zip(addresses, writes, results, strict=False):
                memory.write(address, array)
        except Exception as error:
            raise StepFailure(error) from None

    return call


class _Memory:
    """Memory of a slot, as arrays of a shape."""

    def __init__(self, slot: Slot, shape: tuple[int, ...]) -> None:
        self.device: Device = find_device(slot.device)
        self.dtype: numpy.dtype[Any] = numpy.dtype(slot.dtype.numpy)
        self.shape = shape

    def read(self, address: int) -> NDArray[Any]:
        """A copy of it that nobody can write to."""
        array: NDArray[Any] = numpy.empty(self.shape, self.dtype)
        if array.nbytes:
            self.device.copy_out(address, _bytes(array))
        array.flags.writeable = False
        return array

    def write(self, address: int, array: NDArray[Any]) -> None:
        """Overwrite all of it."""
        if array.nbytes:
            self.device.copy_in(address, _bytes(numpy.ascontiguousarray(array)))


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(numpy.uint8).data
