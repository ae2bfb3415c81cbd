"""`ogive cache`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ogive import cli
from ogive.compiler.store.content_keys import make_key
from ogive.compiler.store.open_stores import open_stores
from ogive.compiler.store.rows import Kind


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "cache"
    monkeypatch.setenv("OGIVE_CACHE_DIR", str(place))
    yield place
    open_stores.store_in(str(place)).close()


def fill(folder: Path) -> None:
    rows = [(kind, make_key(b"%d" % kind), bytes(30_000)) for kind in Kind]
    open_stores.store_in(str(folder)).write(rows)


def test_path_prints_the_folder_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{folder}\n"


def test_info_of_nothing_makes_no_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["cache"]) == 0
    assert "0 kernels" in capsys.readouterr().out
    assert not folder.exists()


def test_info_counts_what_is_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(folder)
    assert cli.main(["cache", "info"]) == 0
    printed = capsys.readouterr().out
    assert "1 compiled graphs" in printed and "1 kernels" in printed
    assert "used of 1 GiB" in printed


def test_clear_deletes_all_of_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(folder)
    assert cli.main(["cache", "clear"]) == 0
    assert "Deleted 5 entries" in capsys.readouterr().out
    assert open_stores.store_in(str(folder)).info().entries == {}


def test_a_folder_open_to_others_is_said_to_be(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    assert cli.main(["cache", "info"]) == 1
    assert "chmod 700" in capsys.readouterr().err


def test_an_unknown_action_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["cache", "burn"])
    assert stop.value.code == 2
    assert "burn" in capsys.readouterr().err
