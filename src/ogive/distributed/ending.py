"""The end of a rank: together with the others, or after a failure, once it has told them.

Without this, MPI would deadlock: a rank that failed would wait in `MPI_Finalize` for the others,
which wait for it.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ogive.distributed.rank_calls import Call
from ogive.distributed.ranks import Ranks
from ogive.errors import DistributedError, words_of

GRACE_SECONDS = 1.0
"""How long a rank that failed stays alive, so that the others can report what they were doing. The
launcher may end all ranks when one exits."""


class Ending:
    """The end of this process, on which it agrees with the other ranks."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks
        self._failure: str | None = None
        self._status = 1
        self._shown = sys.excepthook

    def install(self) -> None:
        """Watch for the exceptions that end the process, and run at its exit."""
        sys.excepthook = self._note
        atexit.register(self.run)

    def _note(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._failure = f"{kind.__name__}: {str(error).strip()}"
        if isinstance(error, SystemExit) and isinstance(error.code, int):
            self._status = error.code
        self._shown(kind, error, trace)
        sys.stderr.flush()

    def run(self, clock: Callable[[], float] = time.monotonic) -> None:
        """End MPI together with all ranks. After a failure, tell them, and abort those left."""
        if self._ranks.mpi.Is_finalized():
            return
        if self._failure is not None:
            self._leave(f"it failed: {self._failure}", clock)
            return
        try:
            self._ranks.end(Call("the end of the program", None))
        except DistributedError as error:
            shown = words_of(error)
            print(f"rank {self._ranks.rank} has ended, and others have not: {shown}",
                  file=sys.stderr, flush=True)  # fmt: skip
            return
        self._ranks.mpi.Finalize()

    def _leave(self, reason: str, clock: Callable[[], float]) -> None:
        told: Any = self._ranks.peers.tell(reason)
        until = clock() + GRACE_SECONDS
        others = self._ranks.size - 1
        while clock() < until and len(self._ranks.peers.find_gone()) < others:
            for request, _ in told:
                request.Test()
            time.sleep(0.01)
        sys.stdout.flush()
        if len(self._ranks.peers.failed) == others:
            # No rank is left to be aborted, which could lose their last output.
            os._exit(self._status)
        self._ranks.mpi.COMM_WORLD.Abort(self._status)


