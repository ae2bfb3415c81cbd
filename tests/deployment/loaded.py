"""Exported functions called from Python, as C would call them."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.devices.cpu.native.link import link
from ogive.deployment import Exported

Array = NDArray[Any]


def aligned(shape: tuple[int, ...], dtype: Any, poison: int = 0x7F) -> Array:
    """An array at a multiple of 64 bytes, with nothing of use in it."""
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    room = numpy.full(size + 64, poison, numpy.uint8)
    start = -room.ctypes.data % 64
    made: Array = room[start : start + size].view(dtype).reshape(shape)
    return made


def call(
    exported: Exported, arguments: list[Array], results: list[Array], lengths: tuple[int, ...] = ()
) -> int:
    """Call the function of an object file; its status."""
    (name,) = re.findall(r"int32_t (\w+)\(", exported.prototype)
    kernel = link(Path(exported.object_path).read_bytes(), name)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arguments, *results)]
    memory = aligned((exported.memory_bytes,), numpy.uint8)
    counts = [ctypes.c_int64(length) for length in lengths]
    kinds = [ctypes.c_void_p] * len(pointers) + [ctypes.c_int64] * len(counts)
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds, ctypes.c_void_p)(kernel.address)
    status: int = function(*pointers, *counts, ctypes.c_void_p(memory.ctypes.data))
    return status
