"""Work ahead in the background."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 0.1
"""Seconds that room is waited for before looking whether anybody still wants more."""


class _Failure:
    """An error of the background, to be raised where the values are used."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


_END = object()


def prefetch(values: Iterable[T], count: int) -> Iterator[T]:
    """The same values, up to `count` of them made ahead by a thread of its own.

    An exception in `values` is raised where its value would have come. The thread ends with the
    loop: at its end, at a `break`, an exception or Ctrl-C, and it never keeps a program running.

    >>> list(prefetch(range(3), 2))
    [0, 1, 2]
    """
    # Python's other queues and its events are no use here: an exception may leave them locked.
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    room: queue.SimpleQueue[None] = queue.SimpleQueue()
    stop: list[bool] = []
    for _ in range(count):
        room.put(None)
    # The thread knows nothing of this generator, so that dropping it ends the thread.
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
        # An exception may have come before it began, and when Python ends no thread goes on.
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
    """Whether there is room for another value before anybody says to stop."""
    while not stop:
        try:
            room.get(timeout=_PATIENCE)
        except queue.Empty:
            continue
        return True
    return False
