"""The measuring itself: every library in a process of its own, taking turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.check import disagreement, largest_error, reference
from benchmarks.process import SOURCES, Reply, WorkerProcess
from benchmarks.results import Cell, RowResult
from benchmarks.rows import Limit, Row, find

DISTURBED = 0.25  # processors busy with something else, past which a time is not to be trusted
IMPORT_TIMEOUT = 180.0  # seconds


@dataclass(frozen=True)
class Settings:
    """How long and how often: `seconds` a library and row, over `rounds` turns; a library that has
    not answered after `timeout` seconds takes no further part in the row. `before` is another
    checkout of Ogive, which the library of that name is measured from."""

    threads: int = 2
    seconds: float = 1.0
    rounds: int = 5
    timeout: float = 180.0
    before: str | None = None

    def sources(self, library: str) -> Path:
        """The folder that Ogive is imported from in the process of `library`."""
        other = self.before if library == "before" else None
        return SOURCES if other is None else Path(other).resolve() / "src"


class Runner:
    """Measures rows with a set of workers that take turns."""

    def __init__(self, workers: Sequence[WorkerProcess], settings: Settings, scratch: Path) -> None:
        self.workers = list(workers)
        self.settings = settings
        self.scratch = scratch

    def measure(self, row: Row, tell: Callable[[str], None] = lambda text: None) -> RowResult:
        """One row in every library; what goes wrong in one is that one's cell only."""
        cells: dict[str, Cell] = {}
        ready: list[WorkerProcess] = []
        for worker in self.workers:
            tell(f"{row.name}: {worker.library} prepares")
            reply = worker.ask(IMPORT_TIMEOUT, do="open")
            if reply["status"] == "ok":
                reply = worker.ask(self.settings.timeout, do="prepare", row=row.name)
            cells[worker.library] = cell_of(reply)
            if reply["status"] == "ok":
                ready.append(worker)
        tell(f"{row.name}: measuring")
        self.take_turns(ready, cells)
        tell(f"{row.name}: checking")
        self.check(row, ready, cells)
        for worker in ready:
            worker.ask(self.settings.timeout, do="release")
        return RowResult(row.name, cells)

    def take_turns(self, ready: list[WorkerProcess], cells: dict[str, Cell]) -> None:
        """Slices of measuring, round after round; each cell gets its samples.

        A library that has spent twice its time is done, having at least two samples.
        """
        slices: dict[str, list[Reply]] = {worker.library: [] for worker in ready}
        for _ in range(self.settings.rounds):
            for worker in list(ready):
                done = slices[worker.library]
                spent = sum(reply["spent"] for reply in done)
                if spent >= 2 * self.settings.seconds and len(samples_of(done)) >= 2:
                    continue
                slice_seconds = self.settings.seconds / self.settings.rounds
                reply = worker.ask(self.settings.timeout, do="measure", seconds=slice_seconds)
                if reply["status"] == "ok":
                    done.append(reply)
                else:
                    cells[worker.library] = cell_of(reply)
                    ready.remove(worker)
        for worker in ready:
            first, report = cells[worker.library].first, cells[worker.library].compile
            done = slices[worker.library]
            quietest = min(reply["others"] for reply in done)
            # Slices in which someone else computed say little, if there are better ones.
            quiet = [reply for reply in done if reply["others"] <= max(quietest, DISTURBED)]
            cells[worker.library] = Cell.measured(
                samples_of(quiet), others=quietest, first=first, compile=report
            )

    def check(self, row: Row, ready: list[WorkerProcess], cells: dict[str, Cell]) -> None:
        """Mark the cells whose result is not the reference's, after all that measuring."""
        checked = [worker for worker in ready if worker.library != "limit"]
        expected = reference(row) if checked else []
        for worker in checked:
            path = self.scratch / "result.npz"
            reply = worker.ask(self.settings.timeout, do="save", path=str(path))
            if reply["status"] != "ok":
                cells[worker.library] = cell_of(reply)
                continue
            with np.load(path) as file:
                given = [file[name] for name in file.files]
            path.unlink()
            cell = cells[worker.library]
            if complaint := disagreement(row, expected, given):
                cells[worker.library] = replace(cell, status="wrong", reason=complaint)
            else:
                cell.error = largest_error(expected, given)


def samples_of(slices: Sequence[Reply]) -> list[float]:
    """The samples of all these slices."""
    return [sample for reply in slices for sample in reply["samples"]]


def share_limits(results: Sequence[RowResult]) -> None:
    """Hold every row to the best rate of arithmetic that any row of the run has seen.

    That is the processor's. Memory is shared with whoever else is on the machine, and was as fast
    for a row as it was while that row was measured.
    """
    held: list[tuple[Limit, Cell]] = []
    for result in results:
        limit, cell = find(result.name).limit, result.cells.get("limit")
        if limit is not None and limit.kind == "arithmetic" and cell is not None and cell.best:
            held.append((limit, cell))
    rate = max([limit.amount / cell.best for limit, cell in held if cell.best], default=0.0)
    for limit, cell in held:
        cell.best = limit.amount / rate


def cell_of(reply: Reply) -> Cell:
    """The cell that a reply without samples makes."""
    return Cell(
        reply["status"],
        reply.get("reason", ""),
        first=reply.get("first"),
        compile=reply.get("compile"),
    )


@contextmanager
def open_runner(libraries: Sequence[str], settings: Settings) -> Iterator[Runner]:
    """A runner with one worker a library; all processes and files are gone afterwards."""
    with TemporaryDirectory(prefix="ogive-benchmarks-") as folder:
        scratch = Path(folder)
        workers = [
            WorkerProcess(name, settings.threads, scratch, sources=settings.sources(name))
            for name in libraries
        ]
        try:
            yield Runner(workers, settings, scratch)
        finally:
            for worker in workers:
                worker.close()
