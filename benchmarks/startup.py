"""How long a newcomer waits: imports and first results, each in a new process."""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.check import reference
from benchmarks.process import ROOT, cache_environment, child_environment
from benchmarks.results import Cell, RowResult
from benchmarks.rows import TINY_REALIZED, transformer_row
from benchmarks.runner import Settings, cell_of

Reply = dict[str, Any]
PROGRAMS = {"tiny": "(x + 1)", "1": "1 transformer block", "12": "12 transformer blocks"}
IMPORT = "import, over NumPy's own"
PATIENCE = 5.0  # seconds: what takes longer is measured once


def row_name(program: str, part: str) -> str:
    """The name of a start-up row, such as "(x + 1): first result, cold"."""
    return f"{PROGRAMS[program]}: {part}"


def run_child(library: str, program: str, settings: Settings, cache: Path) -> Reply:
    """Time one new process; a death or a time-out is a reply too."""
    environment = {
        **child_environment(settings.threads, cache, settings.sources(library)),
        **cache_environment(cache),
    }
    # A user's torch.compile compiles with a pool of processes.
    del environment["TORCHINDUCTOR_COMPILE_THREADS"]
    arguments = [library, str(settings.threads), program]
    try:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.startup_child", *arguments],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            timeout=settings.timeout,
        )
    except subprocess.TimeoutExpired:
        return {"status": "failed", "reason": f"no answer in {settings.timeout:.0f} s"}
    if done.stdout:
        reply = json.loads(done.stdout)
        assert isinstance(reply, dict)
        return reply
    code = done.returncode
    how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    lines = done.stderr.decode(errors="replace").strip().split("\n")
    return {"status": "failed", "reason": f"process {how} ({lines[-1][:160]})"}


def expected_sum(program: str) -> float:
    """What the values of a program's result add up to."""
    row = TINY_REALIZED if program == "tiny" else transformer_row(int(program))
    return float(sum(part.sum() for part in reference(row)))


def measure_startup(
    libraries: Sequence[str], settings: Settings, tell: Callable[[str], None]
) -> list[RowResult]:
    """The start-up rows: the libraries take turns, cold with an empty cache and then warm."""
    rows: dict[str, dict[str, list[Reply]]] = {}
    for program in PROGRAMS:
        expected = expected_sum(program)
        slow: set[str] = set()
        for turn in range(3):
            for library in libraries:
                if library in slow:
                    continue
                tell(f"{PROGRAMS[program]}: {library}, turn {turn + 1}")
                for state, reply in cold_and_warm(library, program, settings):
                    verify(reply, expected)
                    rows.setdefault(f"{program} {state}", {}).setdefault(library, []).append(reply)
                    if reply["status"] != "ok" or reply["first"] > PATIENCE:
                        slow.add(library)
    return startup_rows(rows)


def cold_and_warm(library: str, program: str, settings: Settings) -> list[tuple[str, Reply]]:
    """One process with empty caches, then one that finds what the first has left."""
    with TemporaryDirectory(prefix="ogive-startup-") as folder:
        cache = Path(folder)
        replies = [("cold", run_child(library, program, settings, cache))]
        if program != "tiny" and replies[0][1]["status"] == "ok":
            replies.append(("warm", run_child(library, program, settings, cache)))
        # Compilers that outlive the process may still write: a file left over is no failure.
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir(exist_ok=True)
        return replies


def verify(reply: Reply, expected: float) -> None:
    """Turn a wrong sum into a failure: start-up results are checked by their sum only."""
    if reply["status"] == "ok" and not math.isclose(reply["sum"], expected, rel_tol=1e-2):
        reply.update(status="wrong", reason=f"sum {reply['sum']:g}, expected {expected:g}")


def startup_rows(replies: dict[str, dict[str, list[Reply]]]) -> list[RowResult]:
    """Rows of import, first result after it, and both together."""

    def row(name: str, key: str, seconds: Callable[[Reply], float]) -> RowResult:
        by_library = replies.get(key, {})
        return RowResult(name, {k: startup_cell(v, seconds) for k, v in by_library.items()})

    def first(reply: Reply) -> float:
        return float(reply["first"])

    return [
        row(IMPORT, "tiny cold", lambda reply: float(reply["import"])),
        row(row_name("tiny", "first result, cold"), "tiny cold", first),
        row(
            row_name("tiny", "import and first result, cold"),
            "tiny cold",
            lambda reply: float(reply["import"] + reply["first"]),
        ),
        *(
            row(row_name(program, f"first result, {state}"), f"{program} {state}", first)
            for program in ("1", "12")
            for state in ("cold", "warm")
        ),
    ]


def startup_cell(replies: list[Reply], seconds: Callable[[Reply], float]) -> Cell:
    """The cell of one library's processes; the first that went wrong speaks for all."""
    for reply in replies:
        if reply["status"] != "ok":
            return cell_of({key: reply[key] for key in ("status", "reason")})
    return Cell.measured([seconds(reply) for reply in replies])
