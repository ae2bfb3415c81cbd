"""`ogive demo`: it learns, draws, saves, and fits the terminal it is in."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

import ogive
from ogive.cli import demo
from ogive.cli.picture import draw_beside
from ogive.cli.screen import NARROWEST, Screen


def test_the_demo_learns_to_read_and_saves_what_it_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "78")
    saved = tmp_path / "model.safetensors"
    assert demo.run(str(saved)) == 0
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 77
    for part in ("Conv2d(1, 16", "kernels were", "The slowest of the", "µs", "mistakes first"):
        assert part in printed
    model = demo.digit_reader()
    model.load_state_dict(ogive.load(saved))
    _, (images, labels) = ogive.data.digits()
    assert demo.is_right(model, images, labels).mean() >= 0.98


def test_pictures_stand_beside_each_other_as_far_as_they_fit() -> None:
    pictures = numpy.zeros((3, 8, 8), numpy.float32)
    pictures[:, 2:6, 2:6] = 1
    lines = draw_beside(pictures, ["one", "two", "three"], Screen(columns=40)).splitlines()
    assert [line for line in lines if "one" in line] == ["one" + " " * 15 + "two"]
    assert lines[-1] == "three"
    assert max(map(len, lines)) <= 40


@pytest.mark.parametrize("columns", [NARROWEST, 60])
def test_coloured_pictures_are_as_wide_as_plain_ones(columns: int) -> None:
    pictures = numpy.linspace(0, 1, 128, dtype=numpy.float32).reshape(2, 8, 8)
    text = draw_beside(pictures, ["a", "b"], Screen(columns, 256, True))
    assert text.count("▀") == 2 * 8 * 16
