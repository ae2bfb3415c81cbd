"""The other ranks, while one waits for them: who has said that it failed, and who is gone."""

from __future__ import annotations

import os
import socket
from typing import Any

import numpy

from ogive.distributed.rank_calls import TEXT_BYTES


class Peers:
    """The ranks of a communicator, over which a rank that fails tells the others so."""

    def __init__(self, notices: Any) -> None:
        self._notices = notices
        self._own: int = notices.Get_rank()
        own = (socket.gethostname(), os.getpid())
        every: list[tuple[str, int]] = notices.allgather(own)
        # Those of this machine; in a container of its own, a process would look as if it were gone.
        self._watched = {
            rank: process
            for rank, (host, process) in enumerate(every)
            if rank != self._own and host == own[0] and is_running(process)
        }
        self.failed: dict[int, str] = {}

    def look(self) -> dict[int, str]:
        """The fate of ranks that will not answer any more, by rank."""
        while self._notices.Iprobe():
            status = _status(self._notices)
            text = bytearray(TEXT_BYTES)
            self._notices.Recv(text, status.Get_source(), status.Get_tag())
            self.failed[status.Get_source()] = text.rstrip(b"\0").decode(errors="replace")
        return self.failed

    def find_gone(self) -> dict[int, str]:
        """Those whose processes are no more, with those who said that they fail."""
        for rank, process in self._watched.items():
            if rank not in self.failed and not is_running(process):
                # Its last words may have arrived after we looked.
                self.look().setdefault(rank, f"its process ({process}) is gone")
        return self.failed

    def tell(self, text: str) -> list[Any]:
        """Tell all others that this rank fails; gives the requests, with their memory."""
        message = numpy.zeros(TEXT_BYTES, numpy.uint8)
        given = text.encode()[:TEXT_BYTES]
        message[: len(given)] = numpy.frombuffer(given, numpy.uint8)
        others = [rank for rank in range(self._notices.Get_size()) if rank != self._own]
        return [(self._notices.Isend(message, rank), message) for rank in others]


def _status(communicator: Any) -> Any:
    """Of the message that is waiting."""
    from mpi4py import MPI

    status = MPI.Status()
    communicator.Probe(status=status)
    return status


def is_running(process: int) -> bool:
    """Whether a process of this machine is there, and not just its entry in a table."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        if os.path.exists("/proc/self/stat"):
            return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
