"""What `python -m benchmarks training` measures and says."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import training, training_child
from benchmarks.markdown import render as render_markdown
from benchmarks.report import render
from benchmarks.results import Results
from benchmarks.runner import Settings
from benchmarks.targets import judge

GOOD = {
    ("ogive", "build"): {"best": 0.02},
    ("tinygrad", "build"): {"best": 0.2},
    ("ogive", "transformer"): {"first": 2.0},
    ("ogive", "convnet"): {"first": 0.5, "loss": 2.0, "best": 2e-3},
    ("torch", "convnet"): {"first": 0.4, "loss": 2.0001, "best": 3e-3},
    ("tinygrad", "convnet"): {"first": 12.0, "loss": 2.0, "best": 2e-2},
}


def run(monkeypatch: pytest.MonkeyPatch, replies: dict[Any, Any]) -> tuple[Results, list[Any]]:
    """The results of processes that say this, and which were run."""
    asked = []

    def answer(library: str, program: str, settings: Settings) -> dict[str, Any]:
        asked.append((library, program))
        return {"status": "ok", **replies[library, program]}

    monkeypatch.setattr(training, "run_child", answer)
    rows = training.measure_training(["ogive", "torch", "tinygrad"], Settings(), lambda text: None)
    return Results({"threads": 2}, training=rows), asked


def judged(results: Results) -> list[bool]:
    return [each.holds for each in judge(results) if each.holds is not None]


def test_promises_are_judged_by_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    results, _ = run(monkeypatch, GOOD)
    assert judged(results) == [True, True, True, True]
    slow = {key: {k: 100 * v for k, v in each.items()} for key, each in GOOD.items()}
    slow = {key: slow[key] if key[0] == "ogive" else GOOD[key] for key in GOOD}
    slow["ogive", "convnet"]["loss"] = 2.0
    assert judged(run(monkeypatch, slow)[0]) == [False, False, False, False]


def test_a_slow_first_step_is_taken_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, asked = run(monkeypatch, GOOD)
    assert asked.count(("tinygrad", "convnet")) == 1
    assert asked.count(("ogive", "convnet")) == training.TURNS


def test_another_loss_than_pytorchs_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {**GOOD, ("tinygrad", "convnet"): {"first": 1.0, "loss": 2.1, "best": 1e-6}}
    results, _ = run(monkeypatch, other)
    cell = results.training[-1].cells["tinygrad"]
    assert (cell.status, cell.reason) == ("wrong", "loss 2.1, expected 2.0001")


def test_the_report_has_a_table_in_text_and_in_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    results, _ = run(monkeypatch, GOOD)
    for text in (render(results, ["ogive", "torch", "tinygrad"]), render_markdown(results)):
        assert all(name in text for name, _, _ in training.ROWS)
        assert "limit" not in text and "10.0×" in text


@pytest.mark.parametrize("library", ["ogive", "torch"])
def test_the_small_network_learns(library: str) -> None:
    report = training_child.measure(library, "convnet", 0.0)
    assert report["loss"] == pytest.approx(2.08904, rel=1e-4)
    assert report["first"] > 0 and report["best"] > 0
