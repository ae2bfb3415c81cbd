"""LLVM's own linker, for objects that `objects.py` leaves to it."""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

from ogive.compiler.devices.llvm.library.c_functions import Message, llvm_function
from ogive.compiler.devices.llvm_gate import llvm_gate
from ogive.errors import LoadError

_names = itertools.count()
_OBJECT, _PROCESS = 2, 3
"""llvmlite's codes for the elements of a library."""

SESSION_LINKS = 128
"""The objects linked in one session, since LLVM keeps some kilobytes of each until it ends."""


class _Element(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_uint8),
        ("data", ctypes.c_char_p),
        ("size", ctypes.c_size_t),
    ]


class _Symbol(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("address", ctypes.c_uint64)]


class Tracker:
    """Keeps an object loaded that LLVM has linked."""

    __slots__ = ("_session", "_tracker")

    def __init__(self, session: _Session, tracker: int) -> None:
        self._session = session
        self._tracker = tracker

    def __del__(
        self,
        _lock: threading.RLock = llvm_gate.lock,
        _error: Any = ctypes.c_char_p,
        _reference: Any = ctypes.byref,
    ) -> None:
        with _lock:
            self._session.dispose_tracker(self._tracker, _reference(_error()))


class _Session:
    """A linker for some objects, which ends when the last of them is unloaded."""

    __slots__ = ("_dispose", "_pointer", "dispose_tracker", "links")

    def __init__(self) -> None:
        self._pointer = None
        self._dispose = llvm_function("LLJITDispose")
        self.dispose_tracker = llvm_function("LLJIT_Dylib_Tracker_Dispose")
        self.links = 0
        llvm_function("InitializeNativeTarget")()
        llvm_function("InitializeNativeAsmPrinter")()
        message = Message()
        # JITLink is as fast as the older linker, takes a fifth of its memory, and can unload code.
        suppress_errors, use_jit_link = True, True
        self._pointer = llvm_function("CreateLLJITCompiler")(
            None, suppress_errors, use_jit_link, message.place
        )
        reason = message.take()
        if not self._pointer:
            raise LoadError(f"LLVM has no linker here: {reason}")

    def __del__(
        self,
        _lock: threading.RLock = llvm_gate.lock,
        _error: Any = ctypes.c_char_p,
        _reference: Any = ctypes.byref,
        _is_finalizing: Callable[[], bool] = sys.is_finalizing,
    ) -> None:
        # At the end of the process, another thread may still be inside LLVM.
        if self._pointer and not _is_finalizing():
            with _lock:
                self._dispose(self._pointer, _reference(_error()))

    def link(
        self, object_bytes: bytes, names: tuple[str, ...]
    ) -> tuple[dict[str, int], Tracker]:
        elements = (_Element * 2)(
            _Element(_OBJECT, object_bytes, len(object_bytes)),
            _Element(_PROCESS, b"", 0),
        )
        exports = (_Symbol * len(names))(*[_Symbol(name.encode(), 0) for name in names])
        message = Message()
        self.links += 1
        tracker = llvm_function("LLJIT_Link")(
            self._pointer,
            f"ogive.{next(_names)}".encode(),
            elements,
            len(elements),
            None,
            0,
            exports,
            len(exports),
            message.place,
        )
        reason = message.take()
        if not tracker:
            raise LoadError(f"LLVM cannot load the object code: {reason or 'no reason given'}")
        addresses = {name: export.address for name, export in zip(names, exports, strict=True)}
        return addresses, Tracker(self, tracker)


class LlvmLinker:
    """Links in a session of LLVM, and begins another one after `SESSION_LINKS` objects."""

    def __init__(self) -> None:
        self._session: _Session | None = None

    def link(self, object_bytes: bytes, names: tuple[str, ...]) -> tuple[dict[str, int], Tracker]:
        """The addresses of functions of an object, and its tracker. Raises `LoadError`."""
        with llvm_gate.lock, llvm_gate.users_lock():
            if self._session is None or self._session.links == SESSION_LINKS:
                self._session = _Session()
            return self._session.link(object_bytes, names)


link_by_llvm = LlvmLinker().link
