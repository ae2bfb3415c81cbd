"""`ogive run`: describe a model, run it, and show where its time goes."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy

import ogive
from ogive.cli.doctor import Report
from ogive.cli.models.given_inputs import Array, make_inputs
from ogive.cli.models.progress import showing_progress
from ogive.cli.screen import find_screen
from ogive.errors import ArgumentError, FileError
from ogive.journal import show_bytes
from ogive.onnx import Model
from ogive.tensor.tensor import Tensor

MOST_SHOWN = 12
"""The most lines of a table that are shown."""


def run(
    model: str,
    given: list[str],
    batch: int,
    sizes: list[str],
    threads: int,
    output: str | None,
    profile: bool,
) -> int:
    """Print the description and the results of a model."""
    ogive.configure(threads=threads)
    if output is not None and Path(output).suffix not in (".npy", ".npz"):
        raise ArgumentError(f"--output {output}: results are written as .npy or .npz")
    start = time.perf_counter()
    loaded = ogive.onnx.load(model)
    report = Report(find_screen())
    report.section(Path(model).name)
    describe(report, loaded)
    inputs = make_inputs(loaded, given, batch, sizes)
    with showing_progress():
        outputs = loaded.run(inputs)
        arrays = {name: to_array(value) for name, value in outputs.items()}
    report.section("Results")
    for name, value in arrays.items():
        report.fact(name, summarize(value))
    report.fact("first", f"{time.perf_counter() - start:.2f} s after the file was opened")
    start = time.perf_counter()
    loaded.run(inputs)
    report.fact("then", f"{(time.perf_counter() - start) * 1e3:.2f} ms")
    if profile:
        show_profile(report, loaded, inputs)
    if output is not None:
        _save(output, arrays)
    return 0


def describe(report: Report, model: Model) -> None:
    """Report the inputs, outputs, operators and weights of a model."""
    report.fact("graph", f"{model.name or 'without a name'}, by {model.producer or 'nobody'}")
    opsets = ", ".join(f"{name or 'ai.onnx'} {version}" for name, version in model.opsets.items())
    report.fact("opsets", opsets)
    for info in model.inputs:
        report.fact("takes", str(info))
    for info in model.outputs:
        report.fact("makes", str(info))
    contents = model.contents
    listed = ", ".join(f"{count} {name}" for name, count in contents.operators.items())
    report.fact("operators", f"{sum(contents.operators.values())}: {listed}")
    size = show_bytes(contents.nbytes)
    report.fact("weights", f"{contents.elements:,} numbers in {contents.weights}, {size}")
    for key, text in model.metadata.items():
        report.fact(key[:11], text)


def to_array(value: Any) -> Any:
    """A result with arrays in the place of tensors."""
    if isinstance(value, list):
        return [to_array(each) for each in value]
    return value.numpy() if isinstance(value, Tensor) else value


def summarize(value: Any) -> str:
    """A result in a line."""
    if not isinstance(value, numpy.ndarray):
        return repr(value)[:200]
    text = f"{value.dtype}{list(value.shape)}"
    if value.size == 0 or value.dtype.kind not in "fiub":
        return f"{text} {value.reshape(-1)[:4].tolist()}"
    first = ", ".join(f"{each:.4g}" for each in value.reshape(-1)[:4].tolist())
    numbers = value.astype(numpy.float64)
    return f"{text} from {numbers.min():.4g} to {numbers.max():.4g}: {first}, …"


def show_profile(report: Report, model: Model, inputs: dict[str, Array]) -> None:
    """Report the time of each kernel, and of each operator run by itself."""
    report.section("Kernels, each by itself")
    times = model.profile(inputs)
    total = sum(entry.seconds for entry in times) or 1.0
    by_name: dict[str, float] = {}
    launches: Counter[str] = Counter()
    for entry in times:
        by_name[entry.name] = by_name.get(entry.name, 0.0) + entry.seconds
        launches[entry.name] += 1
    _show_times(report, by_name, launches, total)
    report.section("Operators, one by one and not fused")
    seconds: dict[str, float] = {}
    nodes: Counter[str] = Counter()
    for _ in range(2):  # the second time nothing is compiled
        seconds.clear()
        nodes.clear()
        start = time.perf_counter()
        for node, _ in model.step_through(inputs):
            now = time.perf_counter()
            seconds[node.op] = seconds.get(node.op, 0.0) + now - start
            nodes[node.op] += 1
            start = now
    _show_times(report, seconds, nodes, sum(seconds.values()) or 1.0)


def _show_times(
    report: Report, seconds: dict[str, float], counts: Counter[str], total: float
) -> None:
    ordered = sorted(seconds.items(), key=lambda item: -item[1])
    for name, each in ordered[:MOST_SHOWN]:
        report.fact(f"{each * 1e3:.3f} ms", f"{each / total:4.0%}  {counts[name]:3} × {name}")
    if len(seconds) > MOST_SHOWN:
        rest = sum(each for _, each in ordered[MOST_SHOWN:])
        others = len(seconds) - MOST_SHOWN
        report.fact(f"{rest * 1e3:.3f} ms", f"{rest / total:4.0%}  {others} more")


def _save(output: str, arrays: dict[str, Any]) -> None:
    plain = {name: value for name, value in arrays.items() if isinstance(value, numpy.ndarray)}
    if not plain:
        raise ArgumentError(f"--output {output}: the model makes no arrays, which could be written")
    try:
        if Path(output).suffix == ".npy":
            numpy.save(output, next(iter(plain.values())), allow_pickle=False)
        else:
            numpy.savez(output, allow_pickle=False, **plain)
    except OSError as error:
        raise FileError(f"--output {output}: {error}") from None
