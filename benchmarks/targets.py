"""The promises that a run can judge: bounds on ratios and times of the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.ranks import overlap, scaling
from benchmarks.results import Results, RowResult
from benchmarks.rows import (
    ATTENTION,
    CHAIN,
    COLUMN_SUM,
    KEPT_SQUARES,
    LARGE_SQUARES,
    LAYER_NORM,
    MATRIX_VECTOR,
    ROWS,
    SOFTMAX,
    SUM,
    TINY_CAPTURED,
    TINY_REALIZED,
    TRANSFORMER,
    TRANSPOSE,
)
from benchmarks.search import slowdown
from benchmarks.shapes import Spread, summarize
from benchmarks.startup import IMPORT, row_name
from benchmarks.steps import SHORT, advantage, step_cost
from benchmarks.threads import BIT_THREADS, gain, slower
from benchmarks.training import BUILD, CONVNET_FIRST, CONVNET_STEP, TRANSFORMER_FIRST

FAMILIES = ("matmul", "conv", "MLP", "transformer", "LSTM", "ResNet", "attention")
"""The first words of rows in which no peer may be faster."""

MOST_EXTRA_BYTES = 64e6


@dataclass(frozen=True)
class Judgement:
    """One promise, what was measured, and whether it holds; None where it was not measured."""

    promise: str
    measured: str
    holds: bool | None


def judge(results: Results) -> list[Judgement]:
    """Every promise of the project, held against this run."""
    rows = {row.name: row for row in [*results.rows, *results.startup]}
    tiny_first = row_name("tiny", "first result, cold")
    twelve = row_name("12", "first result, cold")
    judgements = [
        against(rows.get(TINY_REALIZED.name), "tinygrad", 10, "(x + 1).realize() of 4 elements"),
        against(rows.get(TINY_CAPTURED.name), "tinygrad", 20, "plan.execute() of (x + 1)"),
        against(rows.get(tiny_first), "tinygrad", 4, "first (x + 1), new process, empty cache"),
        against(rows.get(twelve), "jax", 1, "12 transformer blocks, first result, cold"),
        within(seconds_of(rows.get(TINY_REALIZED.name)), 100e-6, "steady (x + 1).realize()"),
        within(seconds_of(rows.get(IMPORT)), 60e-3, "import ogive over NumPy's own"),
    ]
    for statistic, bound in (("median", 20e-3), ("p95", 45e-3)):
        promise = f"Python + LLVM per unique kernel of the transformer block, {statistic}"
        judgements.append(within(compile_seconds(results, statistic), bound, promise))
    for share, squares in ((0.85, LARGE_SQUARES), (0.88, KEPT_SQUARES)):
        judgements += [
            of_the_limit(rows.get(row.name), share, row.name, "the FMA peak") for row in squares
        ]
    judgements += judge_memory(rows)
    judgements.append(faster_steps(results.steps))
    cost = step_cost(results.steps)
    judgements.append(within(cost, 0.05e-6, "one more serial step of a plan"))
    judgements.append(no_slower_than_before([*results.rows, *results.startup]))
    judgements.append(accurate([*results.rows, *results.shapes]))
    judgements += [judgement for spread in summarize(results.shapes) for judgement in even(spread)]
    judgements += [ahead(family, results.rows) for family in FAMILIES]
    judgements += [lean(results.memory), unharmed(results.search), *judge_threads(results.threads)]
    return judgements + judge_training(results) + judge_ranks(results.ranks)


def judge_memory(rows: Mapping[str, RowResult]) -> list[Judgement]:
    """The promises about work that waits for memory."""
    leads = [
        against_all(rows.get(row.name), row.name, 2.5)
        for row in (CHAIN, SOFTMAX, LAYER_NORM, TRANSPOSE)
    ]
    copied = [
        of_the_limit(rows.get(row.name), 1 / 1.8, row.name, "the speed of a streaming copy")
        for row in (SOFTMAX, LAYER_NORM, TRANSPOSE)
    ]
    read = [
        of_the_limit(rows.get(row.name), 0.95, row.name, "the speed of reading")
        for row in (SUM, MATRIX_VECTOR)
    ]
    return [*leads, against_all(rows.get(COLUMN_SUM.name), COLUMN_SUM.name), *copied, *read]


def no_slower_than_before(rows: Sequence[RowResult]) -> Judgement:
    """No row may take longer than in another checkout, but for what two runs of one differ by."""
    ratios = {row.name: ratio for row in rows if (ratio := row.share("before")) is not None}
    return at_least(0.97, ratios, "each row: 0.97× as fast as the other checkout")


def accurate(rows: Sequence[RowResult]) -> Judgement:
    """No row may have more than twice the error of the best peer."""
    promise = "largest error against float64, over the best peer's: at most 2"
    ratios = {row.name: ratio for row in rows if (ratio := row.error_ratio()) is not None}
    return at_most(2, ratios, promise)


def ahead(family: str, rows: Sequence[RowResult]) -> Judgement:
    """In no row of a family whose inputs all vary may a peer be faster."""
    names = {row.name for row in ROWS if row.name.startswith(family) and not row.kept}
    judged = [row for row in rows if row.name in names]
    ratios = {row.name: ratio for row in judged if (ratio := row.ratio()) is not None}
    return at_least(1, ratios, f"{family}: each as fast as the fastest peer")


def lean(reports: dict[str, Any]) -> Judgement:
    """Attention takes memory that grows with the number of tokens and not with its square."""
    promise = f"{ATTENTION.name}: at most {MOST_EXTRA_BYTES / 1e6:.0f} MB beside its tensors"
    report = reports.get(ATTENTION.name, {})
    if report.get("status") != "ok":
        return Judgement(promise, "not measured", None)
    extra = report["extra"]
    return Judgement(promise, f"{extra / 1e6:.1f} MB", extra <= MOST_EXTRA_BYTES)


def unharmed(reports: dict[str, Any]) -> Judgement:
    """A search may find nothing, but nothing worse than what there was."""
    losses = {name: slowdown(cells) for name, cells in reports.items()}
    return at_most(1, losses, "a searched kernel: never slower than the heuristics' own")


def judge_threads(report: dict[str, Any]) -> list[Judgement]:
    """The promises about threads, as far as this machine has the cores."""
    rows = report.get("rows", {})
    two = {name: gain(cells, "2") for name, cells in rows.items() if "2" in cells}
    large = {name: cells for name, cells in rows.items() if name == "matmul 4096" and "16" in cells}
    many = {name: gain(cells, "16") for name, cells in large.items()}
    losses = {f"{size} elements": slower(cells) for size, cells in report.get("add", {}).items()}
    promise = "an addition of 1 to 10⁸ elements: never slower than with 1 thread"
    return [
        at_least(1.8, two, "2 threads where arithmetic takes the time: 1.8× as fast as 1"),
        at_least(11, many, "16 threads in matmul 4096: 11× as fast as 1"),
        at_most(1, losses, promise),
        identical(report.get("bits", {})),
    ]


def judge_ranks(report: dict[str, Any]) -> list[Judgement]:
    """The promises about several processes."""
    exchanges = report.get("all_reduce", {})
    ratios = {
        f"{ranks} ranks, {int(nbytes) >> 10} KB": times["direct"] / times["ours"]
        for ranks, cells in exchanges.items()
        for nbytes, times in cells.items()
        if nbytes != "status" and cells["status"] == "ok"
    }
    is_ok = {part for part, found in report.items() if part != "cores" and "step" in found}
    gains = {"a step of a GPT": scaling(report)} if {"alone", "together"} <= is_ok else {}
    steps = {"a step of a GPT": overlap(report)} if "overlap" in is_ok else {}
    return [
        at_least(0.9, ratios, "all_reduce: 0.9× as fast as mpi4py"),
        at_least(0.9, gains, "4 ranks with a quarter of the cores: 0.9× as fast as 1 with all"),
        at_most(1.15, steps, "computing and exchange: at most 1.15× the longer"),
    ]


def identical(bits: dict[str, bool]) -> Judgement:
    """Results may not depend on the number of threads."""
    promise = f"the same bits with {', '.join(map(str, BIT_THREADS))} threads"
    differing = [name for name, same in bits.items() if not same]
    if not bits:
        return Judgement(promise, "not measured", None)
    return Judgement(promise, f"not {', '.join(differing)}" if differing else "all", not differing)


def at_least(bound: float, found: Mapping[str, float], promise: str) -> Judgement:
    """The least of some ratios, named."""
    if not found:
        return Judgement(promise, "not measured", None)
    name = min(found, key=lambda name: found[name])
    return Judgement(promise, f"{found[name]:.2f}× ({name})", found[name] >= bound)


def at_most(bound: float, found: Mapping[str, float], promise: str) -> Judgement:
    """The greatest of some ratios, named."""
    if not found:
        return Judgement(promise, "not measured", None)
    name = max(found, key=lambda name: found[name])
    return Judgement(promise, f"{found[name]:.2f}× ({name})", found[name] <= bound)


def even(spread: Spread) -> list[Judgement]:
    """What holds for a family at sizes that nobody tuned."""
    family = f"{spread.count} random {spread.family}"
    return [
        Judgement(f"{family}: mean ratio at least 1", f"{spread.mean:.2f}×", spread.mean >= 1),
        Judgement(f"{family}: none under 0.6", f"{spread.worst:.2f}×", spread.worst >= 0.6),
    ]


def judge_training(results: Results) -> list[Judgement]:
    """The promises about learning."""
    rows = {row.name: row for row in results.training}
    first = rows.get(TRANSFORMER_FIRST)
    return [
        against(rows.get(BUILD), "tinygrad", 4, BUILD),
        within(None if first is None else first.seconds("ogive"), 3.0, TRANSFORMER_FIRST),
        against(rows.get(CONVNET_FIRST), "tinygrad", 10, CONVNET_FIRST),
        against(rows.get(CONVNET_STEP), "torch", 1, CONVNET_STEP),
    ]


def faster_steps(reports: dict[str, Any]) -> Judgement:
    """A plan of tiny kernels must beat as many jitted calls."""
    promise = f"a plan of {SHORT} tiny kernels: 10× faster than {SHORT} jitted calls of jax"
    times = advantage(reports)
    if times is None:
        return Judgement(promise, "not measured", None)
    return Judgement(promise, f"{times:.1f}×", times >= 10)


def against(row: RowResult | None, peer: str, times: float, what: str) -> Judgement:
    """Ogive must be so many times faster than the peer in the same run."""
    promise = f"{what}: {times:g}× faster than {peer}"
    own, other = (row.seconds("ogive"), row.seconds(peer)) if row else (None, None)
    if own is None or other is None:
        return Judgement(promise, "not measured", None)
    return Judgement(promise, f"{other / own:.1f}×", other / own >= times)


def against_all(row: RowResult | None, what: str, times: float = 1) -> Judgement:
    """Ogive must be so many times as fast as the fastest peer in the same run."""
    promise = f"{what}: {'' if times == 1 else f'{times:g}× '}as fast as the fastest peer"
    ratio = row.ratio() if row else None
    if ratio is None:
        return Judgement(promise, "not measured", None)
    return Judgement(promise, f"{ratio:.2f}×", ratio >= times)


def of_the_limit(row: RowResult | None, share: float, what: str, limit: str) -> Judgement:
    """Ogive must reach so much of what the machine was seen to do in the same run."""
    promise = f"{what}: {share:.0%} of {limit}"
    own, least = (row.seconds("ogive"), row.seconds("limit")) if row else (None, None)
    if own is None or least is None:
        return Judgement(promise, "not measured", None)
    return Judgement(promise, f"{least / own:.0%}", least / own >= share)


def within(seconds: float | None, bound: float, what: str) -> Judgement:
    """A time must stay under a bound."""
    promise = f"{what}: under {bound * 1e3:g} ms"
    if seconds is None:
        return Judgement(promise, "not measured", None)
    return Judgement(promise, f"{seconds * 1e3:.3g} ms", seconds <= bound)


def seconds_of(row: RowResult | None) -> float | None:
    """Ogive's median time in a row."""
    return None if row is None else row.seconds("ogive", "median")


def compile_seconds(results: Results, statistic: str) -> float | None:
    """The compile time per unique kernel of the transformer block, from whichever part ran."""
    reports = [results.compile.get("1")]
    reports += [
        row.cells["ogive"].compile
        for row in results.rows
        if row.name == TRANSFORMER.name and "ogive" in row.cells
    ]
    for report in reports:
        stages = (report or {}).get("stages") or {}
        if "all" in stages:
            return float(stages["all"][statistic])
    return None
