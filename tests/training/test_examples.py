"""The examples over devices of one process: what they learn is what one device does."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def beside(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The model of the examples, with fewer blocks, trained for a few steps on two devices."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    small_gpt: Any = importlib.import_module("small_gpt")
    for name, number in {"STEPS": 3, "BLOCKS": 2, "DEVICES": 2}.items():
        monkeypatch.setattr(small_gpt, name, number)
    return small_gpt


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("train_data_parallel", "over_devices"),
        ("train_tensor_parallel", "over_devices"),
        ("train_sequence_parallel", "over_devices"),
        ("train_pipeline", "over_devices"),
        ("train_fully_sharded", "over_devices"),
        ("train_fully_sharded", "state_over_devices"),
    ],
)
def test_an_example_learns_what_one_device_does(name: str, function: str, beside: Any) -> None:
    losses = getattr(importlib.import_module(name), function)()
    expected = beside.train(beside.make_model())
    numpy.testing.assert_allclose(losses, expected, atol=1e-5)
    assert losses[-1] < losses[0]


def test_an_example_runs_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLES / "train_pipeline.py"],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "in the end" in done.stdout
