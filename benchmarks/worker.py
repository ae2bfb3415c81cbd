"""One library in one process, driven by JSON lines: a request on stdin, a reply on stdout.

Requests are `{"do": "open"}`, `{"do": "prepare", "row": name}`, `{"do": "measure", "seconds": s}`,
`{"do": "save", "path": file}` and `{"do": "release"}`. A reply has either the answer or
`{"status": "not there" | "failed", "reason": text}`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks import shapes
from benchmarks.libraries import open_library
from benchmarks.libraries.base import Library, NotThere, Prepared

SHORTEST_SAMPLE = 100e-6  # shorter calls are timed many at a time, past the clock's own cost
MOST_CALLS = 1000
MOST_SAMPLES = 2000
TICK = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.0  # of `busy_seconds`
RESOLUTION = TICK * (os.cpu_count() or 1)  # it may see this much more than there was


class Worker:
    """The library, and the row it holds ready."""

    def __init__(self, library: str, threads: int) -> None:
        self.name = library
        self.threads = threads
        self.library: Library | None = None
        self.prepared: Prepared | None = None
        self.calls = 1

    def open(self) -> dict[str, object]:
        """Import the library, which takes time that is no row's."""
        if self.library is None:
            self.library = open_library(self.name, self.threads)
        return {}

    def prepare(self, row: str) -> dict[str, object]:
        """Make the row ready and warm; tells how long until the first result."""
        self.open()
        assert self.library is not None
        start = perf_counter()
        self.prepared = self.library.prepare(shapes.find(row))
        self.prepared.call()
        first = perf_counter() - start
        self.calls = calls_per_sample(self.prepared)
        return {"first": first, "compile": self.library.compile_report()}

    def measure(self, seconds: float) -> dict[str, object]:
        """Call for about so many seconds, at least once; seconds a call, by sample.

        `others` tells how many processors the rest of the machine kept busy meanwhile.
        """
        assert self.prepared is not None
        samples: list[float] = []
        call, calls = self.prepared.call, self.calls
        gc.collect()
        gc.disable()
        try:
            busy, own, begin = busy_seconds(), process_time(), perf_counter()
            while len(samples) < MOST_SAMPLES:
                start = perf_counter()
                for _ in range(calls):
                    call()
                end = perf_counter()
                samples.append((end - start) / (calls * self.prepared.worth))
                if end - begin >= seconds:
                    break
        finally:
            gc.enable()
        spent = perf_counter() - begin
        others = busy_seconds() - busy - (process_time() - own) - RESOLUTION
        return {"samples": samples, "spent": spent, "others": max(others, 0.0) / spent}

    def save(self, path: str) -> dict[str, object]:
        """Write the result's arrays into an .npz file."""
        assert self.prepared is not None
        np.savez(path, *self.prepared.fetch())
        return {}

    def release(self) -> dict[str, object]:
        """Let go of the row's memory."""
        self.prepared = None
        if self.library is not None:
            self.library.release()
        gc.collect()
        return {}

    def answer(self, request: dict[str, Any]) -> dict[str, object]:
        """Do what is asked; an exception becomes a reply."""
        arguments = dict(request)
        try:
            action = getattr(self, arguments.pop("do"))
            return {"status": "ok", **action(**arguments)}
        except Exception as error:
            return describe(error)


def calls_per_sample(prepared: Prepared) -> int:
    """How many calls make a sample long enough for the clock; warms the call up too."""
    calls = 1
    while True:
        start = perf_counter()
        for _ in range(calls):
            prepared.call()
        if perf_counter() - start >= SHORTEST_SAMPLE or calls >= MOST_CALLS:
            return calls
        calls = min(2 * calls, MOST_CALLS)


def busy_seconds() -> float:
    """Processor time that anyone has spent since the machine started; 0 where it is not told."""
    statistics = Path("/proc/stat")
    if not statistics.exists():
        return 0.0
    with statistics.open() as file:
        fields = [int(field) for field in file.readline().split()[1:9]]
    user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = fields
    ticks = user + nice + system + interrupts + soft_interrupts + stolen
    return ticks * TICK


def describe(error: Exception) -> dict[str, object]:
    """What to say of an exception: something missing, or a failure."""
    words = " ".join(str(error).split())[:200]
    if isinstance(error, NotThere):
        return {"status": "not there", "reason": words}
    missing = isinstance(error, NotImplementedError | AttributeError | ImportError)
    reason = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return {"status": "not there" if missing else "failed", "reason": reason}


def pin(threads: int) -> None:
    """Stay on the first `threads` processors, which is also how JAX counts its threads."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def main() -> None:
    """Serve until stdin closes: `python -m benchmarks.worker LIBRARY THREADS`."""
    library, threads = sys.argv[1], int(sys.argv[2])
    pin(threads)
    # What a library prints must not mix with the replies.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = Worker(library, threads)
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
