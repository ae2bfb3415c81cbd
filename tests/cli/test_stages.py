"""`ogive stages`: it tells every stage, draws, and fits the terminal it is in."""

from __future__ import annotations

import numpy
import pytest

from ogive.cli import stages
from ogive.cli.picture import BLOCKS, SHADES, draw
from ogive.cli.screen import NARROWEST, Screen, find_screen
from ogive.errors import ArgumentError, words_of
from ogive.tensor.tensor import Tensor
from tests.raising import raises


def test_the_command_tells_every_stage(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert stages.run(seconds=0.02) == 0
    printed = capsys.readouterr().out
    for part in ("height = wave", "REDUCE_AXES", "PARAM", "RANGE", "lane", "define", "NumPy"):
        assert part in printed
    assert "\033" not in printed, "no colours into a file"


@pytest.mark.parametrize("columns", [10, 33, 80])
def test_the_command_fits_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert stages.run(seconds=0.02) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= max(columns - 1, NARROWEST)


def test_the_command_shows_what_one_pass_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert stages.run("rangeify") == 0
    printed = capsys.readouterr().out
    assert "rangeify: region → loops" in printed
    before, after = printed.split("before, ")[-1].split("after ")
    assert "REDUCE_AXES" in before and "RANGE" in after


def test_a_pass_that_is_not_there_is_refused_with_those_that_are() -> None:
    with raises(ArgumentError, match="there is no pass 'rangefy'") as caught:
        stages.run("rangefy")
    assert "did you mean 'rangeify'" in words_of(caught.value)
    assert "the passes are normalize, " in words_of(caught.value)


def test_both_formulas_of_the_pond_are_the_same_work() -> None:
    inputs = stages._inputs()
    ours = stages.ripples(*[Tensor(array) for array in inputs]).numpy()
    exact = [array.astype(numpy.float64) for array in inputs]
    theirs = stages.ripples_in_numpy(*exact)  # type: ignore[arg-type]
    numpy.testing.assert_allclose(ours, theirs, atol=2e-5)


def test_a_slower_ogive_is_said_to_be_slower(capsys: pytest.CaptureFixture[str]) -> None:
    stages._tell_speed(Screen(), ours=3e-3, theirs=1e-3, prepared=0.1, error=0.0)
    assert "NumPy is 3.0 times as fast here" in capsys.readouterr().out


def ramp(rows: int, columns: int) -> numpy.ndarray[tuple[int, int], numpy.dtype[numpy.float32]]:
    return numpy.linspace(0, 1, columns, dtype=numpy.float32) * numpy.ones(
        (rows, 1), numpy.float32
    )


def test_a_plain_picture_goes_from_dark_to_bright() -> None:
    lines = draw(ramp(20, 40), Screen(columns=40)).splitlines()
    assert len(lines) == 10
    assert lines[0][0] == SHADES[0] and lines[0][-1] == SHADES[-1]


def test_a_screen_without_colours_may_still_have_blocks() -> None:
    text = draw(ramp(20, 40), Screen(columns=40, blocks=True))
    assert set(text) <= {*BLOCKS, "\n"}


@pytest.mark.parametrize(("colours", "code"), [(256, "38;5;"), (1 << 24, "38;2;")])
def test_a_coloured_picture_ends_each_line_uncoloured(colours: int, code: str) -> None:
    lines = draw(ramp(20, 40), Screen(40, colours, True)).splitlines()
    assert len(lines) == 10
    assert all(code in line and line.endswith("\033[0m") for line in lines)
    assert all(line.count("▀") == 40 for line in lines)


def test_a_picture_of_equal_values_is_dark() -> None:
    assert set(draw(numpy.full((4, 8), 3, numpy.float32), Screen(8))) <= {" ", "\n"}


def test_long_lines_are_cut_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    Screen(columns=20).show("x" * 50 + "\nb\nc", most=2)
    assert capsys.readouterr().out == f"    {'x' * 15}…\n    b\n    … 1 more lines\n"


class Terminal:
    """A standard output that says it is a terminal."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("variables", "colours"),
    [
        ({"COLORTERM": "truecolor"}, 1 << 24),
        ({}, 256),
        ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, 0),
        ({"TERM": "dumb"}, 0),
    ],
)
def test_colours_follow_the_terminal(variables: dict[str, str], colours: int) -> None:
    screen = find_screen(Terminal(), {"TERM": "xterm", **variables})
    assert screen.colours == colours and screen.blocks


def test_a_terminal_without_blocks_gets_plain_characters() -> None:
    assert not find_screen(Terminal("latin-1")).blocks
