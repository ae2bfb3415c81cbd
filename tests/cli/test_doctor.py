"""`ogive doctor`: what works, what is broken, and how it says so."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy
import pytest

from ogive import config
from ogive.cli import doctor
from ogive.folders import cache_folder, folder_bytes, folder_problem
from ogive.tensor.tensor import Tensor

needs_modes = pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings but the test's own."""
    for name in list(os.environ):
        if name.startswith("OGIVE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OGIVE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(config, "_current", None)


def test_a_good_machine_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.run() == 0
    printed = capsys.readouterr().out
    for part in ("ogive", "Python", "NumPy", "LLVM", "cores", "caches", "CPU", "threads"):
        assert part in printed
    assert "works: a kernel was compiled, run and checked" in printed
    assert "not made yet" in printed
    assert printed.endswith("All is well.\n")


def test_a_kernel_that_computes_nonsense_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Tensor, "numpy", lambda tensor: numpy.zeros(tensor.shape))
    assert doctor.run() == 1
    assert "BROKEN: a kernel gave [0.0, 0.0, 0.0]" in " ".join(capsys.readouterr().out.split())


def test_a_device_that_raises_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> str | None:
        raise MemoryError

    monkeypatch.setattr(doctor, "check_cpu", fail)
    assert doctor.run() == 1
    assert "BROKEN: MemoryError" in capsys.readouterr().out


@needs_modes
def test_a_cache_that_others_may_read_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").mkdir(mode=0o755)
    (tmp_path / "cache").chmod(0o755)
    assert doctor.run() == 1
    assert "its mode is 0755, not 0700; chmod 700" in " ".join(capsys.readouterr().out.split())


@needs_modes
def test_a_private_cache_is_well_and_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "entry").write_bytes(bytes(2048))
    assert doctor.run() == 0
    assert "yours alone, 2 KiB" in capsys.readouterr().out


def test_settings_come_with_their_origin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OGIVE_VERIFY", "1")
    assert doctor.run() == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "verify True (OGIVE_VERIFY)" in printed
    assert "vectorize True (default)" in printed


def test_a_setting_of_the_wrong_type_is_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OGIVE_THREADS", "many")
    assert doctor.run() == 1
    assert "OGIVE_THREADS='many' is not of type int" in " ".join(capsys.readouterr().out.split())


def test_a_misspelt_setting_is_told_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OGIVE_VERFIY", "1")
    assert doctor.run() == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "OGIVE_VERFIY is no setting of ours (did you mean 'OGIVE_VERIFY'?)" in printed


def test_the_cache_is_in_the_users_cache_folder_unless_told() -> None:
    if sys.platform.startswith("linux"):
        assert cache_folder({"XDG_CACHE_HOME": "/elsewhere"}) == Path("/elsewhere/ogive")
        assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache/ogive"
    assert cache_folder({"OGIVE_CACHE_DIR": "/mine"}) == Path("/mine")
    assert cache_folder({"OGIVE_CACHE_DIR": "~/mine"}) == Path.home() / "mine"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert folder_problem(tmp_path / "file") == "it is not a folder; move it away"


@needs_modes
def test_a_folder_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    assert "belongs to user" in (folder_problem(tmp_path) or "")


def test_an_absent_folder_holds_nothing(tmp_path: Path) -> None:
    assert folder_problem(tmp_path / "absent") is None
    assert folder_bytes(tmp_path / "absent") == 0


def test_what_was_measured_of_the_machine_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ogive.devices.cpu.host import host_target
    from ogive.devices.cpu.speeds import usual_speeds
    from ogive.engine.machine import machine_speeds

    cache_folder().mkdir(mode=0o700)
    assert doctor.run() == 0
    assert "`ogive calibrate` does" in capsys.readouterr().out
    monkeypatch.setattr(machine_speeds, "stored_speeds", lambda config: usual_speeds(host_target()))
    assert doctor.run() == 0
    assert "L1 200.0 → " in capsys.readouterr().out
