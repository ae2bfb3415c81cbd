"""Ctrl-C that waits for a moment when nothing is half done.

Python may raise `KeyboardInterrupt` between any two of its instructions, and so between a store to
the memory of a tensor and the note that it has happened: the assignment would be carried out again
when the tensor is read. A run that writes to tensors is therefore wrapped in `deferred`. The signal
is noted, and its handler runs when the plan pauses, between two steps, or at the end.

`signal` is imported where it is needed: a run that writes to no tensor never does, and loading it
takes half a millisecond of every start.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any


class _Deferral:
    """Stands in for the handler of Ctrl-C, which it calls later."""

    def __init__(self, handler: Any) -> None:
        self.handler = handler
        self._came: list[FrameType | None] = []

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._came.append(frame)

    def deliver(self) -> None:
        """Call the handler if the signal came. Raises what that raises."""
        if self._came:
            import signal

            frame = self._came[-1]
            self._came.clear()
            self.handler(signal.SIGINT, frame)


_current: _Deferral | None = None


def _is_ours() -> bool:
    """Whether this is the thread to which Python brings signals."""
    return threading.current_thread() is threading.main_thread()


def _replace_handler(deferral: _Deferral) -> bool:
    import signal

    try:
        signal.signal(signal.SIGINT, deferral)
    except ValueError:
        return False  # the main thread of an interpreter inside another
    return True


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Let Ctrl-C wait, for `raised` or for the end."""
    global _current
    import signal

    handler = signal.getsignal(signal.SIGINT) if _is_ours() and _current is None else None
    deferral = _Deferral(handler)
    if not callable(handler) or not _replace_handler(deferral):
        yield
        return
    _current = deferral
    try:
        yield
    finally:
        _current = None
        signal.signal(signal.SIGINT, deferral.handler)
        deferral.deliver()


def raised() -> BaseException | None:
    """What the handler of a Ctrl-C that waits raises now, if there is one."""
    if _current is not None and _is_ours():
        try:
            _current.deliver()
        except BaseException as error:
            return error
    return None


@contextlib.contextmanager
def let_through() -> Iterator[None]:
    """Let Ctrl-C interrupt at once, as it usually does: for the code of a user."""
    global _current
    deferral = _current
    if deferral is None or not _is_ours():
        yield
        return
    import signal

    _current = None
    signal.signal(signal.SIGINT, deferral.handler)
    try:
        deferral.deliver()
        yield
    finally:
        # Whoever was called may have chosen another handler.
        deferral.handler = signal.signal(signal.SIGINT, deferral)
        _current = deferral
