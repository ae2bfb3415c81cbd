"""`ogive plan-scale`: predict time and memory of a training step on 1 to 1024 devices."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ogive.compiler.targets.links import Link, Network
from ogive.compiler.targets.scaling import SHARDED, Plan, Prediction, Step, predict_step
from ogive.errors import ArgumentError
from ogive.journal import show_bytes

RUNS = 5
MOST_DEVICES = 1024


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    command.add_argument(
        "program", nargs="?",
        help="a Python file with make_step(), which returns a step function, the model, the "
        "optimizer and the number of samples; replaces --seconds, --parameters and --state",
    )  # fmt: skip
    for name, text in {
        "seconds": "seconds of a step of --batch samples on one device",
        "parameters": "bytes of parameters",
        "state": "bytes of the optimizer's state (default: twice the parameters)",
        "activations": "bytes kept for the backward pass of --batch samples",
        "layer-bytes": "bytes of activations that a divided layer exchanges",
    }.items():  # fmt: skip
        command.add_argument(f"--{name}", type=float, metavar="NUMBER", help=text)
    for name, default, text in [
        ("batch", 1, "samples of a step on one device"),
        ("layers", 0, "layers that can be divided"),
        ("model", 1, "devices that share each layer"), ("stages", 1, "pipeline stages"),
        ("micro-batches", 8, "pipeline micro-batches"),
        ("machine", 8, "devices per machine"),
        ("devices", MOST_DEVICES, "greatest number of devices"),
    ]:  # fmt: skip
        command.add_argument(
            f"--{name}", type=int, default=default, metavar="COUNT",
            help=f"{text} (default: %(default)s)",
        )  # fmt: skip
    for name, link, text in [
        ("inside", "3e11:5e-6", "the link inside a machine"),
        ("across", "2.5e10:1e-5", "the link between machines"),
    ]:
        command.add_argument(
            f"--{name}", default=link, metavar="BANDWIDTH:LATENCY",
            help=f"{text}, in bytes a second and seconds (default: %(default)s)",
        )  # fmt: skip
    command.add_argument(
        "--shard", choices=SHARDED, default="none",
        help="what is sharded besides the batch (default: %(default)s)",
    )  # fmt: skip
    command.add_argument(
        "--strong", action="store_true",
        help="strong scaling: divide one batch among the devices, not one batch per device",
    )  # fmt: skip


def run(
    program: str | None, seconds: float | None, parameters: float | None, state: float | None,
    activations: float | None, layer_bytes: float | None, batch: int, layers: int, model: int,
    stages: int, micro_batches: int, machine: int, devices: int, inside: str, across: str,
    shard: str, strong: bool,
) -> int:  # fmt: skip
    """Print a table of predictions. Returns the exit status; raises `ArgumentError`."""
    counts = {"batch": batch, "model": model, "stages": stages, "micro_batches": micro_batches,
              "machine": machine, "devices": devices}  # fmt: skip
    for name, count in counts.items():
        if count < 1:
            option = name.replace("_", "-")
            raise ArgumentError(f"plan-scale: --{option} is {count}, but must be at least 1")
    step = measure(program) if program is not None else _given(seconds, parameters, batch)
    step = step._replace(
        layers=layers,
        state=step.state if state is None else state,
        activations=activations or 0.0,
        layer_bytes=layer_bytes or 0.0,
    )
    network = Network(_link(inside, "inside"), _link(across, "across"), machine)
    print(f"one device: {step.seconds * 1e3:.3g} ms for {step.batch} samples, "
          f"{show_bytes(2 * step.parameters + step.state + step.activations)}")  # fmt: skip
    rows = [
        predict_step(step, Plan(data, model, stages, micro_batches, shard, not strong), network)
        for data in shares(devices // (model * stages))
    ]
    print("\n".join(table(rows)))
    return 0


def shares(most: int) -> list[int]:
    """The powers of two up to `most`."""
    counts = [1]
    while counts[-1] * 2 <= most:
        counts.append(counts[-1] * 2)
    return counts


def _given(seconds: float | None, parameters: float | None, batch: int) -> Step:
    if seconds is None or parameters is None:
        raise ArgumentError(
            "plan-scale: give a program with make_step(), or --seconds and --parameters"
        )
    return Step(seconds, batch, parameters, 2 * parameters)


def _link(text: str, name: str) -> Link:
    try:
        bandwidth, latency = map(float, text.split(":"))
    except ValueError:
        raise ArgumentError(
            f"plan-scale: --{name} takes BANDWIDTH:LATENCY, such as 2.5e10:1e-5, not {text!r}"
        ) from None
    if bandwidth <= 0 or latency < 0:
        raise ArgumentError(f"plan-scale: --{name} is {text!r}, but must be positive")
    return Link(bandwidth, latency)


def measure(program: str) -> Step:
    """The step of a program: its least time in a few runs, and the bytes of what it trains.

    Raises `ArgumentError` for a file without `make_step`.
    """
    path = Path(program)
    if not path.is_file():
        raise ArgumentError(f"there is no file {program!r}; give the Python file with make_step()")
    sys.path.insert(0, str(path.resolve().parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None, "a Python file"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "make_step"):
        raise ArgumentError(
            f"{program} has no make_step(), which must return a step function, the model, the "
            "optimizer and the number of samples"
        )
    step, model, optimizer, batch = module.make_step()
    times = [_time(step) for _ in range(RUNS + 1)]
    parameters = _bytes(model.parameters())
    state = _bytes([tensor for own in optimizer.state.values() for tensor in own.values()])
    return Step(min(times[1:]), batch, parameters, state)


def _time(step: Any) -> float:
    begin = time.perf_counter()
    step()
    return time.perf_counter() - begin


def _bytes(tensors: Any) -> float:
    return float(sum([tensor.numel() * tensor.dtype.itemsize for tensor in tensors]))


def table(rows: Sequence[Prediction]) -> list[str]:
    """The table as lines of text, one row per prediction."""
    lines = ["devices      step   compute    bubble    layers  gradients   exposed  "
             "efficiency    memory  algorithm"]  # fmt: skip
    for row in rows:
        times = [row.seconds, row.compute, row.bubble, row.layer_exchanges]
        shown = "".join([f"{1e3 * each:>8.2f}ms" for each in times])
        lines.append(
            f"{row.devices:>7}{shown}{1e3 * row.gradients.seconds:>9.2f}ms"
            f"{1e3 * row.exposed:>8.2f}ms{row.efficiency:>12.1%}{show_bytes(row.memory):>10}  "
            f"{row.gradients.algorithm}"
        )
    return lines
