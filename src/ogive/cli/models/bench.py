"""`ogive bench`: the speed of a model, and of ONNX Runtime if that is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy

import ogive
from ogive.cli.doctor import Report
from ogive.cli.models import peer
from ogive.cli.models.given_inputs import Array, make_inputs
from ogive.cli.models.progress import showing_progress
from ogive.cli.screen import find_screen
from ogive.errors import ExecuteError
from ogive.journal import show_bytes
from ogive.named import NamedTuple

TURNS = 6
"""The number of turns in which each of the two is measured, one after the other."""

REST = 0.1
"""Seconds between turns, so that the spinning threads of one do not take time from the other."""


PROGRAMS = {
    "ogive": """
import sys, numpy, ogive
ogive.configure(threads=int(sys.argv[3]))
model = ogive.onnx.load(sys.argv[1])
made = model.run(dict(numpy.load(sys.argv[2])))
[value.numpy() for value in made.values() if isinstance(value, ogive.Tensor)]
""",
    "onnxruntime": """
import sys, numpy, onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = int(sys.argv[3])
session = onnxruntime.InferenceSession(sys.argv[1], options)
session.run(None, dict(numpy.load(sys.argv[2])))
""",
}
"""The program of a process from its start to its first result."""

PEAK = """
try:
    lines = open("/proc/self/status").read().split()
    print(lines[lines.index("VmHWM:") + 1])
except OSError:
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
"""The end of that program: it prints its peak memory in kilobytes."""


class First(NamedTuple):
    """The measurements of a process from its start to its first result."""

    seconds: float
    nbytes: int


def bench(
    model: str,
    given: list[str],
    batch: int,
    sizes: list[str],
    threads: int,
    seconds: float,
) -> int:
    """Print the time to the first result, latency, throughput and memory."""
    ogive.configure(threads=threads)
    loaded = ogive.onnx.load(model)
    inputs = make_inputs(loaded, given, batch, sizes)
    runners: dict[str, Callable[[], object]] = {"ogive": lambda: loaded.run(inputs)}
    if peer.is_installed():
        session = peer.Peer(model, threads)
        runners["onnxruntime"] = lambda: session.run(inputs)
    with showing_progress():
        for each in runners.values():
            each()
    report = Report(find_screen())
    report.section(f"{Path(model).name}, batch {batch}")
    report.fact("", "   first     memory       p50       p90       p99      rows/s")
    medians = {}
    times = _measure_in_turns(runners, seconds)
    for name, taken in times.items():
        first = start_process(name, model, inputs, threads)
        p50, p90, p99 = (float(numpy.percentile(taken, share)) * 1e3 for share in (50, 90, 99))
        medians[name] = p50
        report.fact(
            name,
            f"{first.seconds:6.2f} s {show_bytes(first.nbytes):>10} {p50:6.2f} ms {p90:6.2f} ms "
            f"{p99:6.2f} ms {batch / p50 * 1e3:11.1f}",
        )
    if len(medians) > 1:
        ratio = medians["onnxruntime"] / medians["ogive"]
        report.fact("ratio", f"{ratio:.2f} times as fast as ONNX Runtime {session.version}")
    else:
        report.fact("", "ONNX Runtime is not installed; pip install onnxruntime to compare.")
    return 0


def _measure_in_turns(
    runners: dict[str, Callable[[], object]], seconds: float
) -> dict[str, list[float]]:
    """The times of calls, in seconds."""
    taken: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(TURNS):
        for name, each in runners.items():
            time.sleep(REST)
            each()
            end = time.perf_counter() + seconds / TURNS
            while (start := time.perf_counter()) < end:
                each()
                taken[name].append(time.perf_counter() - start)
    return taken


def start_process(name: str, model: str, inputs: dict[str, Array], threads: int) -> First:
    """Start a process that computes one result, and measure it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "inputs.npz")
        numpy.savez(path, allow_pickle=False, **inputs)
        arguments = [model, path, str(threads or len(os.sched_getaffinity(0)))]
        begin = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", PROGRAMS[name] + PEAK, *arguments],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - begin
    if done.returncode:
        raise ExecuteError(f"{name} alone failed: {done.stderr.strip()[-500:]}")
    return First(seconds, int(done.stdout.split()[-1]) * 1024)
