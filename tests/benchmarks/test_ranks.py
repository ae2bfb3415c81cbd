"""What the part about several processes says of its figures."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.ranks import overlap, ranks_tables, scaling
from benchmarks.report import table
from benchmarks.targets import judge_ranks


def report(**changed: Any) -> dict[str, Any]:
    found: dict[str, Any] = {
        "cores": 16,
        "alone": {"status": "ok", "step": 0.9},
        "together": {"status": "ok", "step": 1.2},
        "overlap": {"status": "ok", "step": 1.2, "computing": 1.0, "exchange": 0.4},
        "all_reduce": {"2": {"status": "ok", "1024": {"direct": 4e-6, "ours": 5e-6}}},
    }
    return {**found, **changed}


def test_four_ranks_are_held_against_one_and_a_step_against_its_longer_part() -> None:
    assert scaling(report()) == pytest.approx(0.75)
    assert overlap(report()) == pytest.approx(1.2)
    judged = judge_ranks(report())
    assert [each.measured[:5] for each in judged] == ["0.80×", "0.75×", "1.20×"]
    assert not any(each.holds for each in judged)


def test_what_was_not_measured_is_not_judged() -> None:
    failed = {"status": "failed", "reason": "no mpiexec"}
    judged = judge_ranks(report(together=failed, overlap=failed, all_reduce={"2": failed}))
    assert [each.holds for each in (*judged, *judge_ranks({}))] == [None] * 6


def test_the_tables_say_what_failed() -> None:
    failed = {"status": "failed", "reason": "no mpiexec"}
    shown = ranks_tables(report(together=failed, gpu={"status": "ok", "all_gather": False}))
    text = "\n".join([table(*each) for each in shown])
    assert "4 ranks × 4: no mpiexec" in text
    assert "all_gather            WRONG" in text
