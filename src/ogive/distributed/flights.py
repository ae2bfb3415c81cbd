"""Exchanges in flight: they make progress while this rank goes on computing.

MPI moves data only while it is called, and a rank that computes does not call it. So a thread calls
it, as long as large messages are in flight:

    this rank     start 1 ── computes ── start 2 ── computes ────── waits
    the thread            pushes 1 ────────────── pushes 1 and 2 ──
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.distributed.rank_calls import Call

if TYPE_CHECKING:
    from ogive.distributed.ranks import Ranks

PUSHED_BYTES = 1 << 18
"""The size of messages from which on a thread pays. Starting one takes about 0.1 ms."""

PAUSE_SECONDS = 1e-4
"""How long the thread sleeps after a push that moved no data."""

MOVED_SECONDS = 2e-5
"""A push that takes longer has moved data, so the next one probably will, too."""


class Flight:
    """The exchanges of `call`, on which all ranks have agreed, until all of them have ended.

    The thread pushes them for `limit` seconds at most, for a rank that fails never calls `finish`.
    """

    def __init__(self, ranks: Ranks, call: Call, limit: float) -> None:
        self._ranks = ranks
        self._call = call
        self._until = time.monotonic() + limit
        self._under_way: list[tuple[Any, Any]] = []
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, start: Callable[[Any], Any], memory: Any, nbytes: int) -> None:
        """Begin an exchange of `nbytes`. `memory` is kept alive as long as MPI may use it."""
        self._ranks.push([request for request, _ in self._under_way])
        self._under_way.append((self._ranks.start(start), memory))
        if self._thread is None and nbytes >= PUSHED_BYTES and _takes_threads(self._ranks.mpi):
            self._thread = threading.Thread(target=self._push, daemon=True)
            self._thread.start()

    def finish(self) -> None:
        """Wait until all exchanges have ended. Raises `DistributedError`."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()
        while self._under_way:
            request, memory = self._under_way[0]
            self._ranks.wait(self._call, request, [memory, *self._under_way])
            del self._under_way[0]

    def _push(self) -> None:
        pause = PAUSE_SECONDS
        while not self._is_over.wait(pause) and time.monotonic() < self._until:
            began = time.perf_counter()
            try:
                self._ranks.push([request for request, _ in self._under_way])
            except self._ranks.mpi.Exception:
                return  # `finish` raises the same error
            pause = 0.0 if time.perf_counter() - began > MOVED_SECONDS else PAUSE_SECONDS


def _takes_threads(mpi: Any) -> bool:
    """Whether any thread may call MPI, one at a time (`MPI_THREAD_SERIALIZED`)."""
    return bool(mpi.Query_thread() >= mpi.THREAD_SERIALIZED)
