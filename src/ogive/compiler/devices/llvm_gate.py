"""The locks around our use of LLVM, for which a fork waits.

A forked child has only the thread that forked. If another thread were inside LLVM at that moment,
the child would wait for it for ever.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import Any


class _Shared:
    """A section that any number of threads may be in, unless it is closed."""

    def __init__(self) -> None:
        # A set of threads, not a count: an interrupt may come right after a thread was added, and
        # that thread must not wait for itself later.
        self._inside: set[int] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self._inside.add(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        self._inside.discard(threading.get_ident())

    def close(self) -> bool:
        """Close the section if no other thread is inside; gives whether that was done."""
        if not self._lock.acquire(blocking=False):
            return False
        if self._inside - {threading.get_ident()}:
            self._lock.release()
            return False
        return True

    def open(self) -> None:
        """Open the section again."""
        self._lock.release()


class LlvmGate:
    """The gate to LLVM, which no thread is inside while the process forks.

    `lock` is held around uses of LLVM's registries and linkers, which all threads share.
    `assembling` is entered to assemble, which any number of threads may do at once, each with its
    own objects.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.assembling = _Shared()
        self._held: list[contextlib.AbstractContextManager[Any]] = []
        os.register_at_fork(
            before=self._wait, after_in_parent=self._go_on, after_in_child=self._go_on
        )

    @staticmethod
    def users_lock() -> contextlib.AbstractContextManager[Any]:
        """The lock of llvmlite itself, which other code in this process may hold."""
        # If another thread is half-way through importing llvmlite, nothing uses it yet.
        library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
        lock: contextlib.AbstractContextManager[Any] = (
            contextlib.nullcontext() if library is None else library._lock
        )
        return lock

    def _wait(self) -> None:
        while True:
            self.lock.acquire()
            lock = self.users_lock()
            lock.__enter__()
            if self.assembling.close():
                self._held.append(lock)
                return
            # A thread inside may need the locks that we hold: garbage collection unloads code.
            lock.__exit__(None, None, None)
            self.lock.release()
            time.sleep(0.001)

    def _go_on(self) -> None:
        if self._held:  # empty if this module was imported during the fork
            self.assembling.open()
            self._held.pop().__exit__(None, None, None)
            self.lock.release()


llvm_gate = LlvmGate()
