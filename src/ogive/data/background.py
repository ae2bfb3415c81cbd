"""Prefetching in a background thread."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 0.1
"""How long the thread waits for room, in seconds, before it checks whether to stop."""


class _Failure:
    """An exception of the thread, to be raised in the loop that uses the values."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = object()


def prefetch(values: Iterable[T], count: int) -> Iterator[T]:
    """Yield the same values, of which a thread makes up to `count` ahead.

    An exception in `values` is raised in place of its value. The thread ends with the loop: at its
    end, at a `break`, at an exception or Ctrl-C. It never keeps a program running.

    >>> list(prefetch(range(3), 2))
    [0, 1, 2]
    """
    # Not `queue.Queue` nor events: an exception from a signal handler may leave them locked.
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    room: queue.SimpleQueue[None] = queue.SimpleQueue()
    stop: list[bool] = []
    for _ in range(count):
        room.put(None)
    # The thread has no reference to this generator, so that dropping it ends the thread.
    thread = threading.Thread(
        target=_work, args=(values, waiting, room, stop), name="ogive-prefetch", daemon=True
    )
    try:
        thread.start()
        while (value := waiting.get()) is not _END:
            room.put(None)
            if isinstance(value, _Failure):
                raise value.error
            yield value
    finally:
        stop.append(True)
        # The thread may not have begun, because of an exception, or be stopped at Python's exit.
        if thread.is_alive() and not sys.is_finalizing():
            thread.join()


def _work(
    values: Iterable[Any],
    waiting: queue.SimpleQueue[Any],
    room: queue.SimpleQueue[None],
    stop: list[bool],
) -> None:
    try:
        for value in values:
            if not _find_room(room, stop):
                return
            waiting.put(value)
        waiting.put(_END)
    except BaseException as error:
        waiting.put(_Failure(error))


def _find_room(room: queue.SimpleQueue[None], stop: list[bool]) -> bool:
    """Wait for room for another value. False if the thread is told to stop before."""
    while not stop:
        try:
            room.get(timeout=_PATIENCE)
        except queue.Empty:
            continue
        return True
    return False
