"""The steps of a compiled graph that Python does: copies from files, and calls of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.devices.cpu.native.native_plan import StepFailure
from ogive.devices.disk.disk_files import DiskBuffer
from ogive.devices.handle import find_handle
from ogive.devices.python_function import PythonFunction
from ogive.engine.announced_writes import without_effect_lock
from ogive.ir.dtype import DType
from ogive.passes.regions.slots import CallStep, CopyStep, Slot


def host_function(step: CopyStep | CallStep, slots: Sequence[Slot]) -> Callable[..., None]:
    """What does a step, given the addresses of its slots."""
    run = _copy(step, slots) if isinstance(step, CopyStep) else _call(step, slots)

    def do(*addresses: int) -> None:
        try:
            run(addresses)
        except Exception as error:
            raise StepFailure(error) from None

    return do


def _copy(step: CopyStep, slots: Sequence[Slot]) -> Callable[[Sequence[int]], None]:
    nbytes = slots[step.slots[0]].nbytes

    def copy(addresses: Sequence[int]) -> None:
        destination, source = addresses
        file = find_handle(source, DiskBuffer)
        if nbytes:
            file.read_into(_memory(destination, numpy.dtype("u1"), (nbytes,)).data)

    return copy


def _call(step: CallStep, slots: Sequence[Slot]) -> Callable[[Sequence[int]], None]:
    writes = [(slots[n].dtype, shape) for n, shape in zip(step.written, step.writes, strict=True)]
    reads = [(slots[n].dtype, shape) for n, shape in zip(step.read, step.reads, strict=True)]
    count = len(writes)

    def call(addresses: Sequence[int]) -> None:
        function = find_handle(addresses[count], PythonFunction)
        # The arrays are copies, so that a function which keeps one can never see freed memory.
        given = [
            _read_only(_array(address, *kind).copy())
            for address, kind in zip(addresses[count + 1 :], reads, strict=True)
        ]
        made = [numpy.zeros(shape, dtype.numpy) for dtype, shape in writes]
        without_effect_lock(function.call, given, made)
        for address, kind, array in zip(addresses, writes, made, strict=False):
            if array.size:
                _array(address, *kind)[...] = array

    return call


def _array(address: int, dtype: DType, shape: tuple[int, ...]) -> NDArray[Any]:
    return _memory(address, numpy.dtype(dtype.numpy), shape)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


class _Bytes:
    """Memory that the caller keeps alive, for NumPy."""

    __slots__ = ("__array_interface__",)

    def __init__(self, address: int, nbytes: int) -> None:
        self.__array_interface__ = {
            "data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3,
        }  # fmt: skip


def _memory(address: int, dtype: numpy.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    count = 1
    for size in shape:
        count *= size
    return numpy.asarray(_Bytes(address, count * dtype.itemsize)).view(dtype).reshape(shape)
