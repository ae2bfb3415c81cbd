"""`ogive calibrate`: what it measures it prints, and a busy machine is told as such."""

from __future__ import annotations

import pytest

from ogive.cli import main
from ogive.devices.cpu import calibrate, machine_speeds
from ogive.devices.cpu.speeds import Speeds, usual_speeds
from ogive.targets.target import describe_cpu


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process goes on with what it knew."""
    monkeypatch.setattr(machine_speeds, "_speeds", machine_speeds._speeds)
    monkeypatch.setattr(machine_speeds, "_place", lambda config: None)


def test_the_figures_are_printed(
    kept: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found: Speeds = usual_speeds(describe_cpu("x86_64-linux-gnu", cores=8))
    monkeypatch.setattr(calibrate, "measure", lambda target: found)
    assert main(["calibrate"]) == 0
    printed = capsys.readouterr().out
    assert "memory 20.0 → 80.0 GB/s" in printed
    assert "2: 6.0, 4: 8.0, 8: 12.0 µs" in printed


def test_a_busy_machine_is_an_error(
    kept: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(calibrate, "measure", lambda target: None)
    assert main(["calibrate"]) == 1
    assert "too much of this machine" in capsys.readouterr().err
