"""`python -m benchmarks graphs`: what graph search gains, and that it never loses.

Tables, each of plans that take turns in this process:

- *placements*: programs in which the choice of what is kept decides, beside the best of a few
  `contiguous()` placed by hand;
- *algebra*: programs that can be computed in another way, without a search, as it is by default,
  and with `exactness="rounding"`; beside them `torch.compile` and JAX, where they are installed;
- *models*: whole networks with their weights kept, without a search and with `rounding`;
- *updates*: a program of several results, without the beam and with it;
- *random*: random graphs that `rounding` changes, and how many of them are slower for it.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks.libraries import open_library, thread_environment
from benchmarks.libraries.base import Operations
from benchmarks.random_graphs import measure_random_graphs, summarize
from benchmarks.runner import Settings
from benchmarks.search_models import MODELS
from benchmarks.search_programs import ALGEBRA, PLACEMENTS, updates
from benchmarks.threads import alternate, call_in_turns, numbers


class Call(NamedTuple):
    """Something to call, in the form of a plan."""

    execute: Callable[[], Any]


COMPILERS = ("torch.compile", "jax")
OPERATIONS = Operations()


def measure_graphs(settings: Settings, tell: Callable[[str], None]) -> dict[str, Any]:
    """Best seconds of each program, by how it was made."""
    os.environ.update(thread_environment(settings.threads))
    report: dict[str, Any] = {"placements": {}, "algebra": {}, "models": {}, "updates": {}}
    for name, program in PLACEMENTS.items():
        tell(f"graphs: {name}")
        report["placements"][name] = measure_placements(program, settings)
    for name, (function, *shapes) in ALGEBRA.items():
        tell(f"graphs: {name}")
        report["algebra"][name] = measure_algebra(function, shapes, settings)
    tell("graphs: updates")
    report["updates"] = measure_updates(settings)
    for name in MODELS:
        tell(f"graphs: {name}")
        report["models"][name] = measure_model(name, settings)
    report["random"] = summarize(measure_random_graphs(settings, tell))
    return report


def measure_placements(program: Any, settings: Settings) -> dict[str, float]:
    """A program as it is, and with each choice of values kept by hand, the best of them."""
    from ogive import Config

    config = Config(threads=settings.threads)
    count = program.values
    plans = {"default": program.make(lambda x, _: x).prepare(config=config)}
    for kept in range(1, 2**count):
        made = program.make(lambda x, n, kept=kept: x.contiguous() if kept >> n & 1 else x)
        plans[f"kept {kept:0{count}b}"] = made.prepare(config=config)
    best = {who: min(times) for who, times in alternate(plans, settings.seconds).items()}
    return {"default": best.pop("default"), "by hand": min(best.values())}


def _settings_of_search(threads: int) -> dict[str, Any]:
    from ogive import Config, Graph

    plain = Config(threads=threads)
    return {
        "greedy": dataclasses.replace(plain, search=Graph(rounds=0)),
        "exact": plain,
        "rounding": dataclasses.replace(plain, exactness="rounding"),
    }


def measure_algebra(
    function: Callable[..., Any], shapes: list[tuple[int, ...]], settings: Settings
) -> dict[str, float]:
    """A function of arrays, by each setting of the search and by the peers that are there."""
    from ogive import Tensor

    arrays = [numbers(*shape).numpy() for shape in shapes]
    tensors = [Tensor(array) for array in arrays]
    runs: dict[str, Callable[[], Any]] = {
        who: function(OPERATIONS, *tensors).prepare(config=config).execute
        for who, config in _settings_of_search(settings.threads).items()
    }
    for peer in COMPILERS:
        try:
            library = open_library(peer, settings.threads)
        except ImportError:
            continue
        runs[peer] = library.captured(function, [library.load(array) for array in arrays])
    calls = {who: Call(run) for who, run in runs.items()}
    found = alternate(calls, settings.seconds * len(calls))
    return {who: min(times) for who, times in found.items()}


def measure_updates(settings: Settings) -> dict[str, float]:
    """Two updates of weights, by heuristics and by a short beam."""
    from ogive import Beam, Config, Tensor

    plain = Config(threads=settings.threads)
    plans = {
        who: Tensor.prepare_batch(updates(), config=config)
        for who, config in {
            "heuristics": plain,
            "beam": dataclasses.replace(plain, search=Beam(2, 8.0)),
        }.items()
    }
    return {who: min(times) for who, times in alternate(plans, settings.seconds).items()}


def measure_model(name: str, settings: Settings) -> dict[str, float]:
    """A model's time by each setting; `gain` is the median of ratios, `memory` the ratio
    of what weights, panels and intermediates take."""
    from ogive import nn, no_grad

    model, shape = MODELS[name](nn)
    model.eval()
    x = numbers(*shape)
    with no_grad():
        plans = {
            who: model(x).prepare(config=config)
            for who, config in _settings_of_search(settings.threads).items()
        }
    samples = call_in_turns({who: plan.execute for who, plan in plans.items()}, settings.seconds)
    best = {who: min(times) for who, times in samples.items()}
    pairs = zip(samples["greedy"], samples["rounding"], strict=True)
    weights = sum(each.numel() * 4 for each in model.parameters())
    peaks = [weights + plan.memory.kept + plan.memory.planned for plan in plans.values()]
    return {
        **best,
        "gain": statistics.median([before / after for before, after in pairs]),
        "memory": peaks[-1] / peaks[0],
    }


def graphs_tables(report: dict[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """Header and lines of each table."""
    tables = []
    for part, (before, after) in {
        "placements": ("default", "by hand"), "algebra": ("greedy", "rounding"),
        "models": ("greedy", "rounding"), "updates": ("heuristics", "beam"),
    }.items():  # fmt: skip
        cells = {"two updates of 2M": report[part]} if part == "updates" else report[part]
        columns = list(next(iter(cells.values())))
        times = [name for name in columns if name not in ("gain", "memory")]
        shares = [name for name in columns if name not in times]
        lines = [
            [
                name,
                *[f"{1e3 * row[each]:.3g}" for each in times],
                f"{row[before] / row[after]:.2f}",
                *[f"{row[each]:.3f}" for each in shares],
            ]
            for name, row in cells.items()
        ]
        tables.append(([f"{part}, ms", *times, f"{before} ÷ {after}", *shares], lines))
    header = ["random graphs", *report["random"]]
    tables.append((header, [["", *[f"{each:.3g}" for each in report["random"].values()]]]))
    return tables
