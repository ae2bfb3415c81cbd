"""`ogive doctor`: what works, what is broken, and how it says so."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy
import pytest

from ogive.cli import doctor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.cpu.speeds import usual_speeds
from ogive.config import Config, Settings
from ogive.folders import cache_folder, folder_bytes, folder_problem


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OGIVE_CACHE_DIR", str(tmp_path / "cache"))


def run(**environment: str) -> int:
    return doctor.run(Settings(environment))


def test_a_good_machine_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    printed = capsys.readouterr().out
    for part in ("ogive", "Python", "NumPy", "LLVM", "cores", "caches", "CPU", "threads"):
        assert part in printed
    assert "works: a kernel was compiled, run and checked" in printed
    assert "not created yet" in printed
    assert printed.endswith("All is well.\n")


def test_a_kernel_that_computes_nonsense_is_broken(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def check(config: Config) -> str | None:
        return doctor.check_cpu(config, lambda array, config: numpy.zeros(19, numpy.float32))

    assert doctor.run(Settings({}), check) == 1
    assert "BROKEN: a kernel gave [0.0, 0.0, 0.0]" in " ".join(capsys.readouterr().out.split())


def test_a_device_that_raises_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(config: Config) -> str | None:
        raise MemoryError

    assert doctor.run(Settings({}), fail) == 1
    assert "BROKEN: MemoryError" in capsys.readouterr().out


def test_a_cache_that_others_may_read_is_broken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").mkdir(mode=0o755)
    (tmp_path / "cache").chmod(0o755)
    assert run() == 1
    assert "its mode is 0755, not 0700; chmod 700" in " ".join(capsys.readouterr().out.split())


def test_a_private_cache_is_well_and_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "cache" / "entry").write_bytes(bytes(2048))
    assert run() == 0
    assert "private to you, 2 KiB" in capsys.readouterr().out


def test_settings_come_with_their_origin(capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings({"OGIVE_VERIFY": "1", "OGIVE_BEAM": "3"})
    settings.configure({"disk_cache": False})
    assert doctor.run(settings) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "search Beam(width=3, seconds=10.0) (OGIVE_BEAM)" in printed
    assert "disk_cache False (ogive.configure)" in printed
    assert "verify True (OGIVE_VERIFY)" in printed
    assert "vectorize True (default)" in printed


def test_a_setting_of_the_wrong_type_is_broken(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(OGIVE_THREADS="many") == 1
    assert "OGIVE_THREADS='many' is not of type int" in " ".join(capsys.readouterr().out.split())


@pytest.mark.filterwarnings("ignore::ogive.errors.ConfigWarning")
def test_a_misspelt_setting_is_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(OGIVE_VERFIY="1") == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "OGIVE_VERFIY is not a setting of Ogive (did you mean 'OGIVE_VERIFY'?)" in printed


def test_the_cache_is_in_the_users_cache_folder_unless_told() -> None:
    if sys.platform.startswith("linux"):
        assert cache_folder({"XDG_CACHE_HOME": "/elsewhere"}) == Path("/elsewhere/ogive")
        assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache/ogive"
    assert cache_folder({"OGIVE_CACHE_DIR": "/mine"}) == Path("/mine")
    assert cache_folder({"OGIVE_CACHE_DIR": "~/mine"}) == Path.home() / "mine"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert folder_problem(tmp_path / "file") == "it is not a folder; move it away"


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    other = tmp_path.stat().st_uid + 1
    assert "belongs to user" in (folder_problem(tmp_path, other) or "")


def test_an_absent_folder_holds_nothing(tmp_path: Path) -> None:
    assert folder_problem(tmp_path / "absent") is None
    assert folder_bytes(tmp_path / "absent") == 0


def test_what_was_measured_of_the_machine_is_told(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cache_folder().mkdir(mode=0o700)
    assert run() == 0
    assert "run `ogive calibrate`" in capsys.readouterr().out
    assert doctor.run(Settings({}), stored=lambda config: usual_speeds(host_target())) == 0
    assert "L1 200.0 → " in capsys.readouterr().out
