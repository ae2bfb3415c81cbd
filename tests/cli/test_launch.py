"""`ogive launch`: what it refuses, and how it divides threads; see tests/distributed for ranks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ogive import cli
from ogive.cli.launch import divide_threads


def test_a_program_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["launch", "-n", "2", "nowhere.py"]) == 1
    assert "there is no file 'nowhere.py'" in capsys.readouterr().err


def test_there_is_at_least_one_rank(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["launch", "-n", "0", str(tmp_path)]) == 1
    assert "-n is 0, but at least one rank is needed" in capsys.readouterr().err


def test_mpi4py_is_asked_for_before_ranks_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    program = tmp_path / "program.py"
    program.write_text("")
    assert cli.main(["launch", "-n", "2", str(program)]) == 1
    assert "mpi4py, which is not installed: pip install 'ogive[mpi]'" in capsys.readouterr().err


def test_cores_are_divided_among_ranks() -> None:
    assert divide_threads({}, ranks=4, cores=16)["OGIVE_THREADS"] == "4"
    assert divide_threads({}, ranks=4, cores=2)["OMP_NUM_THREADS"] == "1"


def test_threads_that_the_environment_sets_stay() -> None:
    made = divide_threads({"OGIVE_THREADS": "3", "PATH": "/bin"}, ranks=4, cores=16)
    assert made["OGIVE_THREADS"] == "3" and made["PATH"] == "/bin"
