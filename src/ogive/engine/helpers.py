"""Threads that help for a while, and never keep a process from ending.

An exception out of a signal handler may end `Thread.start` half-way, and the thread may then wait
for ever to be told that it has started. So helpers are daemons. Those that work are waited for when
the process ends, since code that they are inside would be taken apart under them.
"""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from collections.abc import Callable
from typing import Any

_helpers: weakref.WeakSet[threading.Thread] = weakref.WeakSet()


def new_helper(name: str, work: Callable[..., None], *arguments: Any) -> threading.Thread:
    """A thread that will work, once it is started."""
    helper = threading.Thread(target=work, args=arguments, name=name, daemon=True)
    if not _helpers:
        atexit.register(_wait_for_all)
    _helpers.add(helper)
    return helper


def start(helper: threading.Thread) -> None:
    """Let it work, unless there can be no more threads: a process that ends lets none begin."""
    with contextlib.suppress(RuntimeError):
        helper.start()


def wait_for(helper: threading.Thread) -> None:
    """Wait until it has ended, if it ever began."""
    if helper.is_alive():
        helper.join()


def _wait_for_all() -> None:
    for helper in list(_helpers):
        wait_for(helper)
