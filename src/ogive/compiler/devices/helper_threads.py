"""Threads for optional background work, whose start can never block.

They are started without `threading.Thread`, whose `start` waits for the thread to begin: for ever,
if memory is short or a signal handler raises at the wrong moment. At exit the process waits for
those that are running, since the code that they execute is about to be unloaded.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import weakref
from collections.abc import Callable
from typing import Any


class Helper:
    """A thread that runs a function once. It may never begin, if there are no resources for it.

    `begin` starts a thread that runs a function, or raises.
    """

    __slots__ = ("__weakref__", "_arguments", "_begin", "_busy", "_work", "ended")

    def __init__(
        self,
        work: Callable[..., None],
        *arguments: Any,
        begin: Callable[[Callable[[], None], tuple[()]], object] = _thread.start_new_thread,
    ) -> None:
        self._begin = begin
        self._work = work
        self._arguments = arguments
        self._busy = _thread.allocate_lock()
        self.ended = False
        if not _helpers:
            atexit.register(_wait_for_all)
        _helpers.add(self)

    def start(self) -> None:
        """Start the thread, if possible."""
        # No thread can begin in a process that is ending or out of memory.
        with contextlib.suppress(RuntimeError, MemoryError):
            self._begin(self._run, ())

    def _run(self) -> None:
        with self._busy:
            self._work(*self._arguments)
        self.ended = True

    def wait(self) -> None:
        """Wait until the function has returned, if it has begun."""
        with self._busy:
            pass


_helpers: weakref.WeakSet[Helper] = weakref.WeakSet()


def _wait_for_all() -> None:
    for helper in list(_helpers):
        helper.wait()
