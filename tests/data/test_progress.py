"""Progress bars: on terminals, in logs, with and without `rich`."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

import ogive
from ogive.data import progress
from ogive.data.bar import TextBar
from tests.raising import raises


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rich", "rich.console", "rich.progress"):
        monkeypatch.setitem(sys.modules, name, None)


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    file = io.StringIO()
    assert list(progress(range(3), file=file)) == [0, 1, 2]
    assert list(progress(range(3), file=Terminal(), shown=False)) == [0, 1, 2]
    assert file.getvalue() == ""


def test_a_log_gets_a_line_for_each_tenth() -> None:
    file = io.StringIO()
    bar = progress(range(40), "train", shown=True, file=file)
    for value in bar:
        bar.note(loss=ogive.Tensor(0.123456), step=value)
    lines = file.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0].startswith("train  ██░░░") and "  4/40  " in lines[0]
    assert "40/40" in lines[-1]
    assert lines[-1].endswith("/s  loss 0.1235  step 39")


def test_a_terminal_gets_one_line_in_plain_text(without_rich: None) -> None:
    file = Terminal()
    assert list(progress(range(3), "epoch 1", file=file)) == [0, 1, 2]
    text = file.getvalue()
    assert text.startswith("\repoch 1")
    assert text.count("\n") == 1 and text.endswith("\n")
    assert "3/3" in text.rpartition("\r")[2]


def test_a_shorter_text_leaves_nothing_of_a_longer_one() -> None:
    file = Terminal()
    bar = TextBar(file, "", 3)
    bar.interval = 0.0  # each is drawn
    for done in range(3):
        bar.draw(done, "long" * (2 - done))
    bar.finish(3, "")
    widths = [len(line.rstrip("\n")) for line in file.getvalue().split("\r")[1:]]
    assert widths == sorted(widths)


def test_a_length_is_shown_where_it_is_known(without_rich: None) -> None:
    file = Terminal()
    assert list(progress(iter(range(3)), file=file)) == [0, 1, 2]
    assert "3/" not in file.getvalue().replace("/s", "")
    assert len(progress(range(3))) == 3
    assert len(progress(iter(range(3)), total=3)) == 3
    with raises(TypeError, match="have no length"):
        len(progress(iter(range(3))))


@pytest.mark.parametrize("rich", [False, True])
def test_the_line_is_ended_when_the_loop_is_left(rich: bool, request: Any) -> None:
    if rich:
        pytest.importorskip("rich")
    else:
        request.getfixturevalue("without_rich")
    file = Terminal()
    with pytest.raises(ZeroDivisionError):
        for value in progress(range(3), file=file):
            1 / (1 - value)
    assert "1/3" in file.getvalue()
    assert "\n" in file.getvalue().rpartition("1/3")[2]


def test_rich_draws_where_it_is_installed() -> None:
    pytest.importorskip("rich")
    file = Terminal()
    bar = progress(range(3), "train", file=file)
    for _ in bar:
        bar.note(loss=0.25)
    assert "train" in file.getvalue()
    assert "3/3" in file.getvalue()
    assert "loss 0.25" in file.getvalue()
