"""What graph search found is said in words, with the user's lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from ogive import Config, Graph, Tensor
from ogive.cli import main
from ogive.compiler.ir.ops import Op
from ogive.compiler.search.graph.rounding_bounds import count_roundings
from tests.compiler.search.graph.graphs import apply, given, number, reduce
from tests.new_process import output_of

ROUNDING = Config(exactness="rounding", search=Graph(milliseconds=10_000))


def data(*shape: int) -> Tensor:
    return Tensor(numpy.ones(shape, numpy.float32))


def test_a_plan_says_what_was_found_and_where() -> None:
    value = (data(200, 300) @ data(300, 400)) @ data(400)
    text = value.prepare(config=ROUNDING).explain()
    assert "found faster ways" in text
    assert "(a · b) · c → a · (b · c), where that is less work" in text
    assert "kernel" in text and "µs" in text
    assert "test_explanation.py" in text and "@ data(400)" in text


def test_a_plan_that_was_compiled_before_says_the_same() -> None:
    def explain() -> str:
        x = data(210, 310) - data(210, 310).mean(1, keepdim=True)
        return ((x @ data(310, 410)) @ data(410)).prepare(config=ROUNDING).explain()

    first = explain()
    assert "found faster ways" in first and explain() == first


def test_a_plan_says_that_nothing_was_found() -> None:
    text = (data(4) * 2).prepare().explain()
    assert "found nothing faster" in text and 'exactness="rounding"' in text


def test_roundings_are_counted_along_the_longest_way() -> None:
    x = given(0, 8, 16)
    assert count_roundings([apply(Op.ADD, apply(Op.MUL, x, x), number(1.0))]) == 2
    assert count_roundings([reduce(apply(Op.MUL, x, x), 1)]) == 1 + 15
    assert count_roundings([reduce(apply(Op.NEG, x), 1, combine=Op.MAXIMUM)]) == 0


def test_the_command_explains_the_graphs_of_a_program(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, numpy, ogive\n"
        "a, b = [ogive.Tensor(numpy.ones((200, 200), numpy.float32)) for _ in range(2)]\n"
        "print(((a @ b) @ a[0]).numpy()[0], sys.argv[1:])\n"
    )
    command = [sys.executable, "-m", "ogive", "explain", "--exactness", "rounding"]
    command += [str(program), "x"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "search: graph search (exactness='rounding') found faster ways:" in done.stderr
    assert done.stdout == "40000.0 ['x']\n"


def test_a_program_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "nowhere.py"]) == 1
    assert "there is no file 'nowhere.py'" in capsys.readouterr().err


SECOND = """
import numpy, ogive
a, b = [ogive.Tensor(numpy.ones((60, 60), numpy.float32)) for _ in range(2)]
((a @ b) @ a[0]).realize(ogive.Config(exactness="rounding"))
print(ogive.counters()["schedules_created"], ogive.counters()["schedule_disk_hits"])
"""


def test_a_second_process_does_no_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OGIVE_CACHE_DIR", str(tmp_path / "cache"))
    counts = [
        output_of(SECOND).split()
        for _ in range(2)
    ]
    assert [int(number) for number in counts[0]] == [1, 0]
    assert [int(number) for number in counts[1]] == [0, 1]
