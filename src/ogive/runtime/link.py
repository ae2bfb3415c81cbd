"""Object code into executable memory, and out of it again with its last user."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Iterable
from typing import Any

from ogive.device.llvm import llvm_lock
from ogive.errors import LoadError

_names = itertools.count()


class Library:
    """A linked object. Its code stays mapped for as long as this, or a kernel of it, lives."""

    __slots__ = ("_tracker",)

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker

    def __del__(self, _lock: threading.RLock = llvm_lock) -> None:
        with _lock:
            del self._tracker

    def __getitem__(self, symbol: str) -> LoadedKernel:
        """The function exported as `symbol`."""
        return LoadedKernel(self._tracker[symbol], self)


class LoadedKernel:
    """The entry point of a kernel in memory. It keeps the code it points into alive."""

    __slots__ = ("__weakref__", "_library", "address")

    def __init__(self, address: int, library: Library) -> None:
        self.address = address
        self._library = library


def link(object_bytes: bytes, symbol: str) -> LoadedKernel:
    """Load an object of one kernel. Raises `LoadError` for damaged code or a missing symbol."""
    return link_library(object_bytes, (symbol,))[symbol]


def link_library(object_bytes: bytes, symbols: Iterable[str]) -> Library:
    """Load an object of several functions; what it does not define, the process must."""
    from llvmlite import binding

    builder = binding.JITLibraryBuilder()
    builder.add_object_img(object_bytes).add_current_process()
    for symbol in symbols:
        builder.export_symbol(symbol)
    try:
        with llvm_lock:
            return Library(builder.link(_linker(), f"ogive.{next(_names)}"))
    except RuntimeError as error:
        raise LoadError(f"LLVM cannot load the object code: {error}") from None


@functools.lru_cache(maxsize=1)
def _linker() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    # JITLink: as fast as the older linker, a fifth of its memory, and unloading gives all back.
    return binding.create_lljit_compiler(use_jit_link=True, suppress_errors=True)
