"""`python -m benchmarks ranks`: what several processes gain, and what their exchanges cost.

- All-reduces over 2 and 4 ranks, beside `Allreduce` of `mpi4py` called directly.
- A step of a GPT by one rank with all cores, and by four with a quarter each: the same batch.
- The step of two ranks, beside the longer of computing and exchange of gradients alone.
- Two ranks on one GPU, where there is one: whether every exchange gives what it should.

It takes about 90 s on 16 cores. With fewer cores than four the steps say little.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.process import Reply, child_environment, too_long
from benchmarks.runner import Settings

PROGRAM = Path(__file__).parent / "rank_programs.py"
RANKS = 4


def measure_ranks(settings: Settings, tell: Callable[[str], None]) -> dict[str, Any]:
    """Everything this part finds out, as plain data; what failed says why."""
    cores = len(os.sched_getaffinity(0))
    share = max(1, cores // RANKS)
    report: dict[str, Any] = {"cores": cores}
    with TemporaryDirectory(prefix="ogive-ranks-") as folder:

        def run(ranks: int, threads: int, part: str) -> Reply:
            tell(f"{part}, {ranks} ranks")
            return run_ranks(ranks, threads, part, Path(folder), settings.timeout)

        if has_gpu():
            report["gpu"] = run(2, share, "gpu")
        report["alone"] = run(1, cores, "step")
        report["together"] = run(RANKS, share, "step")
        report["overlap"] = run(2, share, "overlap")  # half of the cores are left to MPI
        report["all_reduce"] = {str(ranks): run(ranks, 1, "all_reduce") for ranks in (2, RANKS)}
    return report


def run_ranks(ranks: int, threads: int, part: str, cache: Path, timeout: float) -> Reply:
    """What rank 0 of a program says, with so many threads a rank."""
    environment = {**child_environment(threads, cache), "OGIVE_THREADS": str(threads)}
    command = [sys.executable, "-m", "ogive", "launch", "-n", str(ranks), str(PROGRAM), part]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return too_long(timeout)
    for line in done.stdout.splitlines():
        if line.startswith("[0] {"):
            return {"status": "ok", **json.loads(line[4:])}
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line] or lines or ["nothing was said"]
    return {"status": "failed", "reason": errors[0][:160]}


def has_gpu() -> bool:
    """Whether Ogive sees an NVIDIA GPU."""
    from ogive.compiler.devices.known_devices import count_devices

    return count_devices("CUDA") > 0


def scaling(report: dict[str, Any]) -> float:
    """How fast four ranks are beside one that has all cores."""
    return float(report["alone"]["step"] / report["together"]["step"])


def overlap(report: dict[str, Any]) -> float:
    """The step over the longer of computing and exchange alone."""
    steps = report["overlap"]
    return float(steps["step"] / max(steps["computing"], steps["exchange"]))


def ranks_tables(report: dict[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """Tables: header and lines of what was measured."""
    return [_steps_table(report), _all_reduce_table(report), _gpu_table(report)]


def _steps_table(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    lines = []
    cores, share = report["cores"], max(1, report["cores"] // RANKS)
    entries = {
        f"1 rank × {cores} threads": report["alone"],
        f"{RANKS} ranks × {share}": report["together"],
        f"2 ranks × {share}": report["overlap"],
    }
    for name, entry in entries.items():
        if entry["status"] != "ok":
            lines.append([f"{name}: {entry['reason']}", entry["status"], "", "", ""])
            continue
        times = [f"{1e3 * entry[part]:.1f}" if part in entry else "–"
                 for part in ("step", "computing", "exchange")]  # fmt: skip
        lines.append([name, *times, f"{overlap(report):.2f}" if "computing" in entry else "–"])
    if report["alone"]["status"] == report["together"]["status"] == "ok":
        lines.append(["1 rank ÷ 4 ranks", f"{scaling(report):.2f}", "", "", ""])
    return ["a step of a GPT, ms", "step", "computing", "exchange", "step ÷ longer"], lines


def _all_reduce_table(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    lines = []
    for ranks, cells in report["all_reduce"].items():
        if cells["status"] != "ok":
            lines.append([f"{ranks} ranks: {cells['reason']}", cells["status"], "", ""])
            continue
        for nbytes, times in cells.items():
            if nbytes == "status":
                continue
            shown = [f"{1e6 * times[name]:.1f}" for name in ("direct", "ours")]
            ratio = times["direct"] / times["ours"]
            lines.append([f"{ranks} ranks, {int(nbytes) >> 10} KB", *shown, f"{ratio:.2f}"])
    return ["all_reduce, µs", "mpi4py", "ogive", "mpi4py ÷ ogive"], lines


def _gpu_table(report: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    found = report.get("gpu", {"no GPU": None})
    words = {True: "right", False: "WRONG", None: "–"}
    lines = [[name, words.get(value, str(value))] for name, value in found.items()]
    return ["two ranks on one GPU", ""], lines
