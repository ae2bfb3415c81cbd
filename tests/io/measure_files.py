"""Loads files under a limit of memory, each in a process of its own, and says what became of it.

    python -m tests.io.measure_files LIBRARY FILE ...

loads them by `LIBRARY.load` (`ogive` or `ogive.torch`) and prints one line of JSON for each: the
`outcome` ("loaded", or the name of the exception), its `message`, and how many bytes of memory
loading took at most (`peak`).
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys

import ogive
import ogive.io
from ogive import Tensor
from ogive.tensor.late_methods import load_methods

SECONDS = 60
"""After which a file is taken to hang."""


def peak_bytes() -> int:
    """The most memory that this process has taken."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))


def limit_memory(nbytes: int) -> None:
    """Let this process take so much address space besides what it has."""
    with open("/proc/self/statm") as sizes:
        taken = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + nbytes, taken + nbytes))


def load_modules() -> None:
    """Load what else the first file would load: modules are no memory that a file takes, and nor
    is the compiler."""
    load_methods(Tensor)
    for name in ogive.io.__all__:
        getattr(ogive.io, name)
    ogive.configure(disk_cache=False)
    (Tensor([1.0]) * 2).realize()


def measure(library: str, path: str, nbytes: int) -> dict[str, object]:
    """What became of loading a file, in this process."""
    load = importlib.import_module(library).load
    before = peak_bytes()
    limit_memory(nbytes)
    signal.alarm(SECONDS)
    message = ""
    try:
        load(path)
        outcome = "loaded"
    except Exception as error:
        outcome, message = type(error).__name__, str(error)
    return {"outcome": outcome, "message": message, "peak": peak_bytes() - before}


def main() -> None:
    """Measure each file that is named, one after the other."""
    library, *paths = sys.argv[1:]
    load_modules()
    for path in paths:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            print(json.dumps(measure(library, path, 2 << 30)), flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            print(json.dumps({"outcome": f"status {status}", "message": "", "peak": 0}))


if __name__ == "__main__":
    main()
