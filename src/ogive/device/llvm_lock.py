"""The lock around all our use of LLVM, and what a fork has to wait for.

A child of `fork` has no thread but the one that forked. Were another one inside of LLVM at that
moment, or half-way through importing llvmlite, the child would wait for it for ever.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from typing import Any

llvm_lock = threading.RLock()
"""Held around all our use of LLVM, the import of llvmlite included."""

_held: list[contextlib.AbstractContextManager[Any]] = []


def users_lock() -> contextlib.AbstractContextManager[Any]:
    """The lock of llvmlite itself, which somebody else in this process may work under."""
    # Another thread may be half-way through importing it, and nobody works with it then.
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    lock: contextlib.AbstractContextManager[Any] = (
        contextlib.nullcontext() if library is None else library._lock
    )
    return lock


def _wait() -> None:
    llvm_lock.acquire()
    lock = users_lock()
    lock.__enter__()
    _held.append(lock)


def _go_on() -> None:
    if _held:  # or else this module was imported after the wait
        _held.pop().__exit__(None, None, None)
        llvm_lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_go_on)
