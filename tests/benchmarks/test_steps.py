"""What `python -m benchmarks steps` measures and says."""

from __future__ import annotations

import pytest

from benchmarks.report import steps_text
from benchmarks.results import Results
from benchmarks.steps import LONG, SHORT, advantage, best_times, ogive_chain, step_cost
from benchmarks.targets import judge

OGIVE = {"status": "ok", str(SHORT): 2e-6, str(LONG): 2e-6 + 20e-9 * (LONG - SHORT)}
JAX = {"status": "ok", str(SHORT): 50e-6, str(LONG): 500e-6}
FAILED = {"status": "failed", "reason": "exit status 1"}


def test_a_step_costs_the_slope_between_the_lengths() -> None:
    assert step_cost({"ogive": OGIVE}) == pytest.approx(20e-9)
    assert step_cost({"ogive": FAILED}) is step_cost({}) is None


def test_the_peer_is_compared_at_the_shorter_length() -> None:
    assert advantage({"ogive": OGIVE, "jax": JAX}) == pytest.approx(25)
    assert advantage({"ogive": OGIVE, "jax": FAILED}) is advantage({}) is None


def test_the_promises_about_steps_are_judged() -> None:
    results = Results({}, steps={"ogive": OGIVE, "jax": JAX})
    found = {each.promise: each.holds for each in judge(results) if each.holds is not None}
    assert len(found) == 2 and all(found.values())
    slow = Results({}, steps={"ogive": OGIVE | {str(LONG): 1.0}, "jax": OGIVE})
    assert [each.holds for each in judge(slow) if each.holds is not None] == [False, False]


def test_the_report_has_a_line_a_library_and_says_what_failed() -> None:
    text = steps_text({"ogive": OGIVE, "jax": FAILED})
    assert "0.0200" in text and "exit status 1" in text


def test_the_chain_of_the_benchmark_does_not_fuse_and_is_right() -> None:
    assert set(best_times(lambda count: ogive_chain(count // 25), 0)) == {str(SHORT), str(LONG)}
