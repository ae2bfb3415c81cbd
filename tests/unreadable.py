"""Arrays behind which nothing can be read: a load too far ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy
from numpy.typing import NDArray


def before_an_unreadable_page(array: NDArray[Any]) -> NDArray[Any]:
    """A copy of an array that ends where a page begins that nobody may read."""
    pages = -(-array.nbytes // mmap.PAGESIZE)
    memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
    end = pages * mmap.PAGESIZE
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(first + end), ctypes.c_size_t(mmap.PAGESIZE), 0) == 0
    part = numpy.frombuffer(memory, numpy.uint8)[end - array.nbytes : end]
    copy: NDArray[Any] = part.view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
