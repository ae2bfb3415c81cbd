"""Object code into executable memory, and out of it again with its last user.

We call the library inside llvmlite directly: importing the package would take longer than all else
in a process that finds its kernels in the cache.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ogive.device.llvm import llvm_library
from ogive.device.llvm_lock import llvm_lock, users_lock
from ogive.errors import LoadError

_names = itertools.count()
_OBJECT, _PROCESS = 2, 3
"""What a library may be made of, as llvmlite counts it."""

SESSION_LINKS = 128
"""LLVM keeps some kilobytes of each object, unloaded or not, until its session ends."""


class _Element(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint8),
        ("data", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
    ]


class _Symbol(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("address", ctypes.c_uint64)]


class Library:
    """A linked object. Its code stays mapped for as long as this, or a kernel of it, lives."""

    __slots__ = ("_addresses", "_session", "_tracker")

    def __init__(self, session: _Session, tracker: int, addresses: dict[str, int]) -> None:
        self._session = session
        self._tracker = tracker
        self._addresses = addresses

    def __del__(
        self,
        _lock: threading.RLock = llvm_lock,
        _error: Any = ctypes.c_char_p,
        _reference: Any = ctypes.byref,
    ) -> None:
        with _lock:
            self._session.linker.dispose_tracker(self._tracker, _reference(_error()))

    def __getitem__(self, symbol: str) -> LoadedKernel:
        """The function exported as `symbol`."""
        return LoadedKernel(self._addresses[symbol], self)


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
    global _session
    names = tuple(symbols)
    with llvm_lock, users_lock():
        if _session is None or _session.links == SESSION_LINKS:
            _session = _Session(_linker())
        return _session.link(object_bytes, names)


class _Linker(NamedTuple):
    """The functions of LLVM's linker that we need."""

    create: Any
    link_elements: Any
    dispose_tracker: Any
    dispose_string: Any
    dispose: Any


class _Session:
    """A linker for some objects, which ends when the last of them is unloaded."""

    __slots__ = ("_pointer", "linker", "links")

    def __init__(self, linker: _Linker) -> None:
        self._pointer = None
        self.linker = linker
        self.links = 0
        error = ctypes.c_char_p()
        # JITLink: as fast as the older linker, a fifth of its memory, and code can be unloaded.
        suppress_errors, use_jit_link = True, True
        self._pointer = linker.create(None, suppress_errors, use_jit_link, ctypes.byref(error))
        if not self._pointer:
            raise LoadError(f"LLVM has no linker here: {(error.value or b'').decode()}")

    def __del__(
        self,
        _lock: threading.RLock = llvm_lock,
        _error: Any = ctypes.c_char_p,
        _reference: Any = ctypes.byref,
        _is_finalizing: Callable[[], bool] = sys.is_finalizing,
    ) -> None:
        # At the end of the process, a thread may still be inside.
        if self._pointer and not _is_finalizing():
            with _lock:
                self.linker.dispose(self._pointer, _reference(_error()))

    def link(self, object_bytes: bytes, names: tuple[str, ...]) -> Library:
        elements = (_Element * 2)(
            _Element(_OBJECT, object_bytes, len(object_bytes)),
            _Element(_PROCESS, b"", 0),
        )
        exports = (_Symbol * len(names))(*[_Symbol(name.encode(), 0) for name in names])
        error = ctypes.c_char_p()
        self.links += 1
        tracker = self.linker.link_elements(
            self._pointer,
            f"ogive.{next(_names)}".encode(),
            elements,
            len(elements),
            None,
            0,
            exports,
            len(exports),
            ctypes.byref(error),
        )
        if not tracker:
            text = (error.value or b"no reason given").decode(errors="replace")
            self.linker.dispose_string(error)
            raise LoadError(f"LLVM cannot load the object code: {text}")
        addresses = {name: export.address for name, export in zip(names, exports, strict=True)}
        return Library(self, tracker, addresses)


_session: _Session | None = None


@functools.lru_cache(maxsize=1)
def _linker() -> _Linker:
    library = llvm_library()
    library.LLVMPY_InitializeNativeTarget()
    library.LLVMPY_InitializeNativeAsmPrinter()
    size, pointer, yes = ctypes.c_size_t, ctypes.c_void_p, ctypes.c_bool
    return _Linker(
        _function(library, "LLVMPY_CreateLLJITCompiler", pointer, pointer, yes, yes, pointer),
        _function(
            library,
            "LLVMPY_LLJIT_Link",
            pointer,
            pointer,
            ctypes.c_char_p,
            pointer,
            size,
            pointer,
            size,
            pointer,
            size,
            pointer,
        ),
        _function(library, "LLVMPY_LLJIT_Dylib_Tracker_Dispose", yes, pointer, pointer),
        _function(library, "LLVMPY_DisposeString", None, ctypes.c_char_p),
        _function(library, "LLVMPY_LLJITDispose", yes, pointer, pointer),
    )


def _function(library: ctypes.CDLL, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function
