"""Work ahead in the background."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_PATIENCE = 0.1
"""Seconds that a full queue is waited for before looking whether anybody still wants it."""


class _Failure:
    """What went wrong in the background, to be raised where the values are used."""

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
    waiting: queue.Queue[Any] = queue.Queue(count)
    stop = threading.Event()
    # The thread knows nothing of this generator, so that dropping it ends the thread.
    thread = threading.Thread(
        target=_work, args=(values, waiting, stop), name="ogive-prefetch", daemon=True
    )
    thread.start()
    try:
        while (value := waiting.get()) is not _END:
            if isinstance(value, _Failure):
                raise value.error
            yield value
    finally:
        stop.set()
        thread.join()


def _work(values: Iterable[Any], waiting: queue.Queue[Any], stop: threading.Event) -> None:
    try:
        for value in values:
            if not _put(value, waiting, stop):
                return
        _put(_END, waiting, stop)
    except BaseException as error:
        _put(_Failure(error), waiting, stop)


def _put(value: Any, waiting: queue.Queue[Any], stop: threading.Event) -> bool:
    """Whether the value was put before anybody said to stop."""
    while not stop.is_set():
        try:
            waiting.put(value, timeout=_PATIENCE)
        except queue.Full:
            continue
        return True
    return False
