"""`ogive calibrate`: what it measures it prints, and a busy machine is told as such."""

from __future__ import annotations

import pytest

from ogive.cli import calibrate
from ogive.compiler.devices.cpu.speeds import usual_speeds
from ogive.compiler.targets.target import describe_cpu


def test_the_figures_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    found = usual_speeds(describe_cpu("x86_64-linux-gnu", cores=8))
    assert calibrate.run(lambda config: found) == 0
    printed = capsys.readouterr().out
    assert "memory 20.0 → 80.0 GB/s" in printed
    assert "2: 6.0, 4: 8.0, 8: 12.0 µs" in printed


def test_a_busy_machine_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert calibrate.run(lambda config: None) == 1
    assert "too busy with other processes" in capsys.readouterr().err
