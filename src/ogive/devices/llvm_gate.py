"""The locks around our use of LLVM, and what a fork has to wait for.

A child of `fork` has no thread but the one that forked. Were another one inside of LLVM at that
moment, the child would wait for it for ever.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import Any


class _Shared:
    """Any number of threads inside at once, or none: then it is closed."""

    def __init__(self) -> None:
        # Not how many but who: an interrupt may come between a thread's name and its block, and
        # that thread must not wait for itself later.
        self._inside: set[int] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self._inside.add(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        self._inside.discard(threading.get_ident())

    def close(self) -> bool:
        """Let nobody in, if no other thread is inside."""
        if not self._lock.acquire(blocking=False):
            return False
        if self._inside - {threading.get_ident()}:
            self._lock.release()
            return False
        return True

    def open(self) -> None:
        """Let threads in again."""
        self._lock.release()


class LlvmGate:
    """The gate of LLVM: threads inside are counted, and none is while the process forks.

    `lock` is held around what we do with LLVM's registries and linkers, which all threads share;
    `assembling` is entered to assemble, which any number of threads may do, each with what is its
    own.
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
        """The lock of llvmlite itself, which somebody else in this process may work under."""
        # Another thread may be half-way through importing it, and nobody works with it then.
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
            # Who is inside may need the locks that we hold: code that is collected is unloaded.
            lock.__exit__(None, None, None)
            self.lock.release()
            time.sleep(0.001)

    def _go_on(self) -> None:
        if self._held:  # or else this module was imported after the wait
            self.assembling.open()
            self._held.pop().__exit__(None, None, None)
            self.lock.release()


llvm_gate = LlvmGate()
