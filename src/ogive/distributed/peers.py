"""The other ranks, watched while this one waits: which have failed, and which are gone."""

from __future__ import annotations

import os
import socket
from typing import Any

import numpy

from ogive.distributed.rank_calls import TEXT_BYTES


class Peers:
    """The ranks of a communicator for notices: a rank that fails sends one to all others."""

    def __init__(self, notices: Any) -> None:
        self._notices = notices
        self._own: int = notices.Get_rank()
        own = (socket.gethostname(), os.getpid())
        every: list[tuple[str, int]] = notices.allgather(own)
        # Only ranks of this machine are looked for. One in another container would seem to be gone.
        self._watched = {
            rank: process
            for rank, (host, process) in enumerate(every)
            if rank != self._own and host == own[0] and is_running(process)
        }
        self.failed: dict[int, str] = {}

    def look(self) -> dict[int, str]:
        """Return the notices of ranks that have failed, by rank."""
        while self._notices.Iprobe():
            status = _status(self._notices)
            text = bytearray(TEXT_BYTES)
            self._notices.Recv(text, status.Get_source(), status.Get_tag())
            self.failed[status.Get_source()] = text.rstrip(b"\0").decode(errors="replace")
        return self.failed

    def find_gone(self) -> dict[int, str]:
        """Return a text for each rank that has failed, or whose process is gone, by rank."""
        for rank, process in self._watched.items():
            if rank not in self.failed and not is_running(process):
                # Its notice may have arrived after `look` was called.
                self.look().setdefault(rank, f"its process ({process}) is gone")
        return self.failed

    def tell(self, text: str) -> list[Any]:
        """Tell all others that this rank fails. Returns the requests with their memory."""
        message = numpy.zeros(TEXT_BYTES, numpy.uint8)
        given = text.encode()[:TEXT_BYTES]
        message[: len(given)] = numpy.frombuffer(given, numpy.uint8)
        others = [rank for rank in range(self._notices.Get_size()) if rank != self._own]
        return [(self._notices.Isend(message, rank), message) for rank in others]


def _status(communicator: Any) -> Any:
    """Return the status of a message that has arrived, if there is one."""
    from mpi4py import MPI

    status = MPI.Status()
    communicator.Probe(status=status)
    return status


def is_running(process: int) -> bool:
    """Whether a process of this machine is running. A zombie is not."""
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
