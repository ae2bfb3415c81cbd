"""`python -m benchmarks training`: what it costs to learn.

Every time is from a new process with empty caches. A first step is forward, backward and update
from weights in memory to the loss as a number; peers write what their users would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.process import report_of_child
from benchmarks.results import Cell, RowResult
from benchmarks.runner import Settings, cell_of
from benchmarks.training_child import BUILDS, CONVNETS, LAYERS, TRANSFORMERS

Reply = dict[str, Any]

BUILD = f"{LAYERS} transformer layers: graph of forward and backward"
TRANSFORMER_FIRST = f"{LAYERS} transformer layers: first step with AdamW"
CONVNET_FIRST = "small convnet: first step with AdamW"
CONVNET_STEP = "small convnet: a later step"

PROGRAMS = {"build": BUILDS, "transformer": TRANSFORMERS, "convnet": CONVNETS}
ROWS = (
    (BUILD, "build", "best"),
    (TRANSFORMER_FIRST, "transformer", "first"),
    (CONVNET_FIRST, "convnet", "first"),
    (CONVNET_STEP, "convnet", "best"),
)
TURNS = 3
PATIENCE = 5.0
"""Seconds: a process that takes longer for its first step is run once."""


def measure_training(
    libraries: Sequence[str], settings: Settings, tell: Callable[[str], None]
) -> list[RowResult]:
    """The rows; the libraries take turns."""
    replies: dict[str, dict[str, list[Reply]]] = {}
    for program, adapters in PROGRAMS.items():
        found = replies.setdefault(program, {})
        for turn in range(TURNS):
            for library in [name for name in libraries if name in adapters]:
                earlier = found.setdefault(library, [])
                if any(reply.get("first", 0.0) > PATIENCE for reply in earlier):
                    continue
                tell(f"{program}: {library}, turn {turn + 1}")
                earlier.append(run_child(library, program, settings))
        verify(found)
    return [
        RowResult(name, {k: cell(v, statistic) for k, v in replies[program].items()})
        for name, program, statistic in ROWS
    ]


def run_child(library: str, program: str, settings: Settings) -> Reply:
    """One process."""
    arguments = [library, str(settings.threads), program, str(settings.seconds)]
    return report_of_child(
        "benchmarks.training_child",
        arguments,
        settings.threads,
        settings.timeout,
        sources=settings.sources(library),
    )


def verify(replies: dict[str, list[Reply]]) -> None:
    """Turn a loss that is not PyTorch's into a failure."""
    expected = [reply["loss"] for reply in replies.get("torch", ()) if reply["status"] == "ok"]
    if not expected:
        return
    for reply in [reply for every in replies.values() for reply in every]:
        if reply["status"] == "ok" and not math.isclose(reply["loss"], expected[0], rel_tol=1e-3):
            reason = f"loss {reply['loss']:g}, expected {expected[0]:g}"
            reply.update(status="wrong", reason=reason)


def cell(replies: Sequence[Reply], statistic: str) -> Cell:
    """The cell of one library's processes; the first that went wrong speaks for all."""
    for reply in replies:
        if reply["status"] != "ok":
            return cell_of({key: reply[key] for key in ("status", "reason")})
    return Cell.measured([float(reply[statistic]) for reply in replies])
