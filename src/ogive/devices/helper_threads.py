"""Threads that help for a while, and never keep a process waiting.

They are begun without `threading.Thread`, whose `start` waits to be told that the thread has begun:
for ever, if memory is short or an exception out of a signal handler comes at the wrong moment.
Those that work are waited for when the process ends, since code that they are inside would be taken
apart under them.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import weakref
from collections.abc import Callable
from typing import Any


class Helper:
    """A thread that works once. Nobody may count on it: where there is no room, it never begins.

    `begin` lets a thread run a function, or raises.
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
        """Let it work."""
        # A process that ends, or has no memory left, lets no thread begin.
        with contextlib.suppress(RuntimeError, MemoryError):
            self._begin(self._run, ())

    def _run(self) -> None:
        with self._busy:
            self._work(*self._arguments)
        self.ended = True

    def wait(self) -> None:
        """Wait until it has ended, if it has begun."""
        with self._busy:
            pass


_helpers: weakref.WeakSet[Helper] = weakref.WeakSet()


def _wait_for_all() -> None:
    for helper in list(_helpers):
        helper.wait()
