"""The program of the worker process, which answers one request at a time until its pipe is closed.

A request says how long its answer may take. The process sets an alarm for that time, which kills
it. So no hanging kernel or compiler keeps it alive, even if the parent is gone.
"""

from __future__ import annotations

import os
import resource
import signal
from typing import BinaryIO

from ogive.compiler.search.timing_bench import Bench, Unfit, scratch_bytes
from ogive.compiler.search.worker_messages import (
    HEADER_BYTES,
    Answer,
    Compare,
    Comparison,
    Compile,
    Done,
    Inspect,
    Open,
    Refused,
    Request,
    Time,
    Timing,
    check_body,
    frame,
    pack_message,
    unpack_header,
    unpack_request,
)
from ogive.errors import OgiveError

SPARE_BYTES = 4 << 30
"""The bytes that compiling may take besides a kernel's buffers."""


class Worker:
    """Answers requests about one kernel after another."""

    def __init__(self, kind: type[Bench] = Bench) -> None:
        self._kind = kind
        self._bench: Bench | None = None

    def answer(self, request: Request) -> Answer:
        """The answer to a request, or why there is none."""
        try:
            return self._answer(request)
        except (Unfit, OgiveError) as error:
            return Refused(f"{error}".partition("\n")[0][:200])
        except Exception as error:
            # A candidate may trigger any bug of the compiler, which needs no new process.
            return Refused(f"{type(error).__name__}: {error}"[:200])

    def _answer(self, request: Request) -> Answer:
        if isinstance(request, Open):
            limit_memory(2 * scratch_bytes(request.loops) + SPARE_BYTES)
            self._bench = None
            self._bench = self._kind(*request)
            return Done()
        bench = self._bench
        assert bench is not None, "there is no kernel yet"
        match request:
            case Inspect():
                return bench.inspect(*request)
            case Compile():
                bench.compile(*request)
                return Done()
            case Time():
                return Timing(bench.time(*request))
            case Compare():
                return Comparison(bench.compare(*request))


def limit_memory(nbytes: int) -> None:
    """Limit the memory of this process, so that it fails rather than swaps, if possible."""
    try:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        if most != resource.RLIM_INFINITY:
            nbytes = min(nbytes, most)
        resource.setrlimit(resource.RLIMIT_DATA, (nbytes, most))
    except (OSError, ValueError):
        pass  # the limits on time must be enough


def main(worker: Worker | None = None) -> None:
    """Serve requests from standard input until it ends."""
    worker = worker or Worker()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.dup(1)
    # Output of libraries must not get into the stream of answers.
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1):
        os.dup2(nowhere, standard)
    while request := _read(requests):
        asked, limit = unpack_request(request)
        signal.setitimer(signal.ITIMER_REAL, limit)
        reply = frame(pack_message(worker.answer(asked)))
        signal.setitimer(signal.ITIMER_REAL, 0)
        while reply:
            reply = reply[os.write(answers, reply) :]


def _read(requests: BinaryIO) -> bytes | None:
    header = requests.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    length, checksum = unpack_header(header)
    body = requests.read(length)
    return check_body(body, checksum) if len(body) == length else None
