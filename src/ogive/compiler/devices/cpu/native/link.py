"""Loads object code into executable memory, and unloads it with its last user."""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
from collections.abc import Callable, Iterable

from ogive.compiler.devices.cpu.native.objects import Image, lay_out
from ogive.errors import LoadError


class Library:
    """A linked object. Its code stays mapped as long as this, or a kernel of it, lives."""

    __slots__ = ("_addresses", "_memory")

    def __init__(self, addresses: dict[str, int], memory: object) -> None:
        self._addresses = addresses
        self._memory = memory

    def __getitem__(self, symbol: str) -> LoadedKernel:
        """The function exported as `symbol`."""
        return LoadedKernel(self._addresses[symbol], self)


class LoadedKernel:
    """The entry point of a kernel in memory. It keeps its code alive."""

    __slots__ = ("__weakref__", "_library", "address")

    def __init__(self, address: int, library: Library) -> None:
        self.address = address
        self._library = library


def link(object_bytes: bytes, symbol: str) -> LoadedKernel:
    """Load an object of one kernel. Raises `LoadError` for damaged code or a missing symbol."""
    return link_library(object_bytes, (symbol,))[symbol]


def link_library(object_bytes: bytes, symbols: Iterable[str]) -> Library:
    """Load an object of several functions. The process must have the functions that it lacks."""
    names = tuple(symbols)
    image = lay_out(object_bytes, _process_symbol)
    if image is not None and image.offsets.keys() >= set(names):
        return _load(image, names)
    from ogive.compiler.devices.cpu.native.session import link_by_llvm

    return Library(*link_by_llvm(object_bytes, names))


def _load(image: Image, names: tuple[str, ...]) -> Library:
    """An image as executable code. Memory is never writable and executable at once."""
    memory = mmap.mmap(-1, len(image.code), mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_WRITE)
    memory[:] = bytes(image.code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if _protect()(address, len(memory), mmap.PROT_READ | mmap.PROT_EXEC):
        reason = os.strerror(ctypes.get_errno())
        raise LoadError(f"the system does not let code be loaded: {reason}")
    return Library({name: address + image.offsets[name] for name in names}, memory)


@functools.lru_cache(maxsize=1)
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@functools.lru_cache(maxsize=1)
def _protect() -> Callable[[int, int, int], int]:
    protect = _process()["mprotect"]
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return protect


def _process_symbol(name: str) -> int | None:
    """The address of a function of this process."""
    try:
        return ctypes.cast(_process()[name], ctypes.c_void_p).value
    except AttributeError:
        return None
