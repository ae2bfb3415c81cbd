"""What is made of the measurements: agreement, ratios, breakdowns, promises, tables."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks import models, rows, shapes
from benchmarks.breakdown import summarize
from benchmarks.check import ReferenceOperations, disagreement, erf, reference
from benchmarks.report import (
    breakdown_lines,
    compile_before_lines,
    compile_text,
    milliseconds,
    render,
    times_table,
)
from benchmarks.results import Cell, Results, RowResult
from benchmarks.runner import share_limits
from benchmarks.targets import judge
from tests.raising import raises

TINY = rows.TINY_CAPTURED
STEP = 1e-8  # small enough to stay clear of the kinks of relu


def cell(*samples: float) -> Cell:
    return Cell.measured(list(samples))


def test_names_of_rows_are_unique() -> None:
    names = [row.name for row in rows.ROWS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("patterns", "count"), [([], len(rows.ROWS)), (["MATMUL 2*"], 4), (["sum*"], 1), (["none"], 0)]
)
def test_rows_are_selected_by_part_or_glob(patterns: list[str], count: int) -> None:
    assert len(rows.select(patterns)) == count


@pytest.mark.parametrize("family", shapes.FAMILIES)
def test_a_drawn_row_is_found_by_its_name_and_is_the_same_each_time(family: str) -> None:
    row = shapes.row_of(family, 3)
    assert row.name.startswith(f"{family} 3: ")
    assert row.name != shapes.row_of(family, 4).name
    found = shapes.find(row.name)
    assert [array.shape for array in found.inputs()] == [array.shape for array in row.inputs()]
    assert [part.shape for part in reference(found)] == [part.shape for part in reference(row)]


def test_a_declared_row_is_found_beside_the_drawn_ones() -> None:
    assert shapes.find(TINY.name) is TINY


def test_families_are_judged_by_their_mean_and_their_worst() -> None:
    measured = [
        RowResult(f"products {number}: {number}", {"ogive": cell(own), "torch": cell(peer)})
        for number, (own, peer) in enumerate([(1.0, 4.0), (2.0, 1.0)])
    ]
    (spread,) = shapes.summarize(measured)
    assert spread.mean == pytest.approx(math.sqrt(2))
    assert (spread.worst, spread.worst_row, spread.behind) == (0.5, "1", 0.5)
    judged = judge(Results({}, shapes=measured))
    verdicts = [j.holds for j in judged if "random products" in j.promise]
    assert verdicts == [True, False]


def test_an_error_is_held_against_the_best_peer() -> None:
    row = RowResult("x", {"ogive": Cell("ok", error=3e-6), "torch": Cell("ok", error=1e-6)})
    assert row.error_ratio() == pytest.approx(3)
    row.cells["ogive"].error = 1e-9
    row.cells["torch"].error = 0.0
    assert row.error_ratio() == 1


def test_another_checkout_is_no_peer_and_has_a_column_of_its_own() -> None:
    report = summarize([kernel("a", lower=0.001)])
    earlier = summarize([kernel("a", stage_of_old=0.002), kernel("b", stage_of_old=0.004)], {})
    cells = {
        "ogive": Cell.measured([2.0], compile=report),
        "before": Cell.measured([1.0], compile=earlier),
        "torch": cell(3.0),
    }
    row = RowResult(TINY.name, cells)
    assert (row.best_peer(), row.share("before")) == (("torch", 3.0), 0.5)
    results = Results({"threads": 2}, rows=[row])
    text = render(results, ["ogive", "before", "torch"])
    assert "before ÷ ogive" in text and "0.50" in text
    name, *counts = compile_before_lines([row])[1][-1]
    assert (name, counts) == ("all rows", ["2", "1", "no", "3", "1", "3.00"])
    verdicts = [j.holds for j in judge(results) if "the other checkout" in j.promise]
    assert verdicts == [False]


def test_a_family_is_judged_by_its_worst_row() -> None:
    names = ("conv 3×3 64→64 56², relu", "conv 1×1 256→64 56², relu", "MLP forward, batch 128")
    kept = "MLP forward, batch 128, weights kept"
    measured = [
        RowResult(name, {"ogive": cell(1.0), "torch": cell(peer)})
        for name, peer in zip((*names, kept), (2.0, 0.9, 1.0, 0.5), strict=True)
    ]
    judged = {
        each.promise: each for each in judge(Results({}, rows=measured)) if "each" in each.promise
    }
    convolutions, networks = [
        judged[f"{family}: each as fast as the fastest peer"] for family in ("conv", "MLP")
    ]
    assert (convolutions.measured, convolutions.holds) == (f"0.90× ({names[1]})", False)
    assert (networks.measured, networks.holds) == (f"1.00× ({names[2]})", True)


def test_memory_and_search_are_judged_if_they_were_measured() -> None:
    memory = {rows.ATTENTION.name: {"status": "ok", "extra": 70_000_000}}
    search = {
        "sum": {"heuristics": 1.0, "search": 1.04},
        "product": {"heuristics": 2.0, "search": 1.0},
    }
    judged = [
        each for each in judge(Results({}, memory=memory, search=search)) if each.holds is not None
    ]
    assert [each.measured for each in judged] == ["70.0 MB", "1.00× (sum)"]
    assert [each.holds for each in judged] == [False, True]


def test_a_library_that_is_over_its_time_says_how_much_it_had() -> None:
    row = RowResult("x", {"ogive": cell(1.0), "tinygrad": Cell("over", "20 s")})
    assert "over 20 s" in times_table([row], ["ogive", "tinygrad"])
    assert row.ratio() is None


def test_inputs_of_a_row_are_the_same_each_time() -> None:
    first, second = (models.transformer_inputs(2) for _ in range(2))
    assert len(first) == 1 + 2 * models.WEIGHTS_PER_BLOCK
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_erf_of_the_reference_is_exact() -> None:
    points = np.random.default_rng().uniform(-8, 8, 1000)
    expected = [math.erf(point) for point in points]
    assert np.abs(erf(points) - expected).max() < 1e-14


def test_gradient_of_the_reference_step_is_the_slope_of_the_loss() -> None:
    operations = ReferenceOperations()
    images, classes, *weights = (a.astype(np.float64) for a in models.mlp_step_inputs())
    updated = models.mlp_step_reference(operations, images, classes, *weights)

    def loss(parameters: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]]) -> float:
        logits = models.mlp(operations, images, *parameters)
        return float(-(operations.log_softmax(logits) * classes).sum(-1).mean())

    for which, weight in enumerate(weights):
        direction = np.random.default_rng(which).standard_normal(weight.shape)
        moved = [list(weights), list(weights)]
        moved[0][which] = weight + STEP * direction
        moved[1][which] = weight - STEP * direction
        slope = (loss(moved[0]) - loss(moved[1])) / (2 * STEP)
        gradient = (weight - updated[which]) / models.LEARNING_RATE
        assert slope == pytest.approx(float((gradient * direction).sum()), rel=1e-5)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.array([1, 2, 3, 4], dtype=np.float32), None),
        (np.array([1, 2, 3, 5], dtype=np.float32), "error 2.5e-01"),
        (np.array([1, 2, 3, np.nan], dtype=np.float32), "error nan"),
        (np.array([1, 2, 3], dtype=np.float32), r"shape \(3,\), expected \(4,\)"),
        (np.array([1, 2, 3, 4], dtype=np.float64), "dtype float64"),
    ],
)
def test_wrong_results_are_told_apart(given: np.ndarray, words: str | None) -> None:
    complaint = disagreement(TINY, reference(TINY), [given])
    if words is None:
        assert complaint is None
    else:
        with raises(ValueError, match=words):
            raise ValueError(complaint)


def test_ratio_is_the_best_right_peer_over_ogive() -> None:
    wrong = cell(0.001)
    wrong.status = "wrong"
    cells = {"ogive": cell(0.01), "torch": cell(0.03), "jax": cell(0.02), "numpy": wrong}
    row = RowResult("row", {**cells, "limit": cell(0.005)})
    assert row.best_peer() == ("jax", 0.02)
    assert row.ratio() == pytest.approx(2.0)


def test_ratio_is_missing_without_a_result_of_ogive() -> None:
    row = RowResult("row", {"ogive": Cell("not there", "no conv"), "torch": cell(0.03)})
    assert row.ratio() is None


def kernel(code: str, **timings: float) -> SimpleNamespace:
    return SimpleNamespace(name=f"k_{code}", ir=code, axes=(), timings=timings)


def test_breakdown_counts_equal_code_once() -> None:
    kernels = [kernel("a", lower=0.001, llvm=0.010), kernel("b", lower=0.003, llvm=0.020)]
    report = summarize([*kernels, kernels[0], kernel("a")])
    assert (report["kernels"], report["unique"]) == (4, 2)


def test_breakdown_sums_stages_and_kernels() -> None:
    kernels = [kernel("a", lower=0.001, llvm=0.010), kernel("b", lower=0.003, llvm=0.020)]
    stages = summarize(kernels)["stages"]
    assert isinstance(stages, dict)
    assert stages["lower"]["total"] == pytest.approx(0.004)
    assert stages["all"]["median"] == pytest.approx(0.017)


def test_breakdown_sums_passes_by_their_folder() -> None:
    report: Any = summarize([kernel("a", rangeify=0.001, merge_axes=0.002, emit=0.004)])
    assert report["stages"]["loops"]["total"] == pytest.approx(0.003)
    assert report["stages"]["emit"] == report["passes"]["emit"]
    assert report["passes"]["merge_axes"]["total"] == pytest.approx(0.002)


def test_breakdown_accepts_kernels_without_timings() -> None:
    report = summarize([SimpleNamespace(name="k", ir="code", axes=())])
    assert (report["unique"], report["timed"], report["stages"]) == (1, 0, {})
    assert breakdown_lines({"row": report})[1] == [["row", "1", "1", "–", "–", "–"]]


def test_reasons_stand_below_the_table_once() -> None:
    missing = Cell("not there", "no gradients")
    table = times_table(
        [RowResult("a", {"ogive": missing}), RowResult("b", {"ogive": missing})], ["ogive"]
    )
    assert table.count("[1]") == 3
    assert table.endswith("[1] ogive: not there yet: no gradients")


def test_promises_are_judged_within_one_run() -> None:
    results = Results({"threads": 2})
    results.rows = [RowResult(TINY.name, {"ogive": cell(2e-6), "tinygrad": cell(50e-6)})]
    judgements = {j.promise: j.holds for j in judge(results)}
    assert judgements["plan.execute() of (x + 1): 20× faster than tinygrad"] is True
    assert judgements["import ogive over NumPy's own: under 60 ms"] is None


def test_work_that_waits_for_memory_is_held_to_its_limit() -> None:
    slow, fast = ({"ogive": cell(own), "limit": cell(1e-3)} for own in (1.9e-3, 1.7e-3))
    measured = [RowResult(rows.SOFTMAX.name, slow), RowResult(rows.TRANSPOSE.name, fast)]
    measured.append(RowResult(rows.SUM.name, {"ogive": cell(1.1e-3), "limit": cell(1e-3)}))
    judged = [j.holds for j in judge(Results({}, rows=measured)) if "the speed of" in j.promise]
    assert judged == [False, None, True, False, None]


def test_only_the_peak_of_arithmetic_is_shared_between_rows() -> None:
    names = ("matmul 512", "matmul 1024", rows.SUM.name, rows.COLUMN_SUM.name)
    measured = [RowResult(name, {"limit": cell(1.0)}) for name in names]
    share_limits(measured)
    assert [row.cells["limit"].best for row in measured] == [0.125, 1.0, 1.0, 1.0]


def test_report_and_json_hold_everything() -> None:
    report = summarize([kernel("a", lower=0.001, llvm=0.010)])
    whole = {"status": "ok", **report, "capture": 0.001, "prepare": 0.02, "execute": 0.001}
    whole["graph_passes"] = {"split_complex": 0.001}
    results = Results({"threads": 2})
    results.rows = [RowResult(TINY.name, {"ogive": Cell.measured([1e-3], compile=report)})]
    results.compile = {"1": whole, "12": {"status": "failed", "reason": "exit status 1"}}
    text = render(results, ["ogive", "numpy", "limit"])
    assert "ogive: failed: 12 blocks: exit status 1" in text
    assert json.loads(json.dumps(results.as_json()))["rows"][0]["ratio"] == {
        "best": None,
        "median": None,
    }
    assert "lower" in compile_text(results.compile)
    assert "split_complex" in compile_text(results.compile)


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "–"), (4.2671, "4267"), (0.0123, "12.3"), (5.3e-7, "0.0005")]
)
def test_times_print_with_few_digits(seconds: float | None, text: str) -> None:
    assert milliseconds(seconds) == text
