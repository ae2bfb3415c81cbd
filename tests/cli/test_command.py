"""The `ogive` command itself: what it takes, and what it answers to what it does not."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ogive
from ogive import cli
from ogive.errors import ShapeError


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"ogive {ogive.__version__}\n"


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    printed = capsys.readouterr().out
    assert "demo" in printed and "doctor" in printed


@pytest.mark.parametrize(("wrong", "right"), [("dmeo", "demo"), ("docter", "doctor")])
def test_an_unknown_command_is_told_the_nearest(
    wrong: str, right: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([wrong]) == 2
    assert f"there is no command '{wrong}' (did you mean '{right}'?)" in capsys.readouterr().err


def test_a_command_like_no_other_is_told_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["xyzzy"]) == 2
    printed = capsys.readouterr().err
    assert "did you mean" not in printed
    assert "the commands are demo, run, bench, compare, export, stages, doctor" in printed


def test_an_error_of_ours_is_one_line_without_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> int:
        raise ShapeError("no pond")

    assert cli.main(["dry"], {"dry": (fail, "fail")}) == 1
    assert capsys.readouterr().err == "ogive: no pond\n"


def test_an_interrupt_ends_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    def stop() -> int:
        raise KeyboardInterrupt

    assert cli.main(["stop"], {"stop": (stop, "stop")}) == 130
    assert capsys.readouterr().err == ""


def test_python_dash_m_runs_it() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ogive", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"ogive {ogive.__version__}\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m ogive doctor | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
