"""`python -m benchmarks memory`: the memory that attention takes beside its inputs and its result.

Ogive runs the row in a new process, twice. The first one fills the cache on disk, so that in the
second nothing is compiled, and what grows there is memory for intermediate values: the peak of what
the system has given to the process, from before the call to its end, less the result.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.libraries import open_library
from benchmarks.libraries.base import Library, NotThere
from benchmarks.process import answer_parent, report_of_child
from benchmarks.rows import ATTENTION, TINY_CAPTURED, Row
from benchmarks.runner import Settings

PROCESS = Path("/proc/self")


def measure_memory(settings: Settings) -> dict[str, Any]:
    """Bytes by row."""
    arguments = [str(settings.threads)]
    with TemporaryDirectory(prefix="ogive-memory-") as folder:
        cache = Path(folder)
        for _ in range(2):
            report = report_of_child(
                "benchmarks.memory", arguments, settings.threads, settings.timeout, cache
            )
    return {ATTENTION.name: report}


def extra_bytes(library: Library, row: Row) -> int:
    """What one call needs beyond its inputs and its result."""
    if not (PROCESS / "clear_refs").exists():
        raise NotThere("this system does not tell the peak of a process's memory")
    inputs = [library.load(array) for array in row.inputs()]
    library.prepare(TINY_CAPTURED).call()  # what the library has once, for all calls
    call = library.captured(row.function, inputs)
    (PROCESS / "clear_refs").write_text("5")  # the peak is the present
    before = status_bytes("VmRSS")
    result = call()
    peak = status_bytes("VmHWM")
    return peak - before - sum(array.nbytes for array in library.fetch_all(result))


def status_bytes(entry: str) -> int:
    """An entry of the process's status that is told in kB."""
    lines = (PROCESS / "status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(f"{entry}:")]
    return 1024 * int(line.split()[1])


def main(threads: int) -> None:
    """In a new process."""

    def measure() -> dict[str, Any]:
        return {"extra": extra_bytes(open_library("ogive", threads), ATTENTION)}

    answer_parent(threads, measure)


if __name__ == "__main__":
    main(int(sys.argv[1]))
