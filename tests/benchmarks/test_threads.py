"""What the threads part says of its figures."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.report import threads_text
from benchmarks.targets import judge_threads
from benchmarks.threads import gain, slower


def cells(*times: float) -> dict[str, Any]:
    return {
        str(1 << power): {"best": time, "median": time, "threads": 1 << power}
        for power, time in enumerate(times)
    }


@pytest.mark.parametrize(
    ("times", "worst"),
    [((1.0, 0.5), 1.0), ((1.0, 1.04), 1.0), ((1.0, 0.5, 2.0), 2.0), ((50e-9, 100e-9), 1.0)],
)
def test_a_loss_is_told_if_it_can_be_measured(times: tuple[float, ...], worst: float) -> None:
    assert slower(cells(*times)) == worst


def test_a_gain_is_over_one_thread() -> None:
    assert gain(cells(1.0, 0.5, 0.25), "4") == 4.0


def test_the_report_names_what_differs() -> None:
    report = {
        "add": {"10": cells(1e-6, 3e-6)},
        "rows": {"matmul": cells(2e-3, 1e-3)},
        "bits": {"sum": True, "conv": False},
        "measured": 0.4,
    }
    text = threads_text(report)
    assert "3.00" in text and "2.00" in text
    assert text.endswith("not the same bits: conv; measured in 0.40 s")


def test_the_promises_about_threads_are_judged_where_there_are_the_cores() -> None:
    report = {
        "add": {"10": cells(1.0, 1.0), "1000": cells(1.0, 1.5)},
        "rows": {"matmul 4096": cells(16.0, 8.0, 4.0, 2.0, 1.5), "exp": cells(1.7, 1.0)},
        "bits": {"sum": True, "conv": False},
    }
    judged = judge_threads(report)
    assert [each.measured for each in judged] == [
        "1.70× (exp)",
        "10.67× (matmul 4096)",
        "1.50× (1000 elements)",
        "not conv",
    ]
    assert not any(each.holds for each in judged)
    few = {**report, "rows": {"matmul 2048": cells(2.0, 1.0)}, "bits": {"sum": True}}
    assert [each.holds for each in judge_threads(few)] == [True, None, False, True]
    assert [each.holds for each in judge_threads({})] == [None] * 4
