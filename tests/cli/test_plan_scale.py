"""`ogive plan-scale`."""

from __future__ import annotations

from pathlib import Path

import pytest

from ogive.cli import main
from ogive.cli.plan_scale import shares
from ogive.journal import show_bytes

PROGRAM = """
import ogive
from ogive import nn, optim

def make_step():
    model = nn.Linear(8, 4)
    optimizer = optim.AdamW(model.parameters())
    def step():
        optimizer.zero_grad()
        model(ogive.ones(2, 8)).sum().backward()
        optimizer.step()
    return step, model, optimizer, 2
"""


def test_a_table_from_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan-scale", "--seconds", "0.1", "--parameters", "1e9", "--batch", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "one device: 100 ms for 4 samples, 3.73 GiB"
    assert [int(line.split()[0]) for line in lines[2:]] == [2**n for n in range(11)]
    assert lines[-1].endswith("two-level")


def test_a_table_from_a_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "trained.py"
    program.write_text(PROGRAM, encoding="utf-8")
    assert main(["plan-scale", str(program), "--devices", "4", "--shard", "full"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("ms for 2 samples, 576 B")  # 36 floats, four times
    assert [line.split()[-2] for line in lines[2:]] == ["B", "B", "B"]
    assert lines[-1].split()[-3] == "144"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a program with make_step(), or --seconds and --parameters"),
        (["nowhere.py"], "there is no file 'nowhere.py'"),
        (["--seconds", "1", "--parameters", "1", "--inside", "fast"], "--inside takes BANDWIDTH:"),
        (["--seconds", "1", "--parameters", "1", "--model", "0"], "--model is 0, but must be"),
    ],
)
def test_what_makes_no_sense_is_an_error(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan-scale", *arguments]) == 1
    assert words in capsys.readouterr().err


def test_numbers_of_devices_and_bytes() -> None:
    assert shares(9) == [1, 2, 4, 8]
    assert [show_bytes(n) for n in (1, 1000, 1536, 2 << 20, 3 << 30, 4e12, 5e15)] == [
        "1 B", "1000 B", "1.5 KiB", "2 MiB", "3 GiB", "3.64 TiB", "4547 TiB",
    ]  # fmt: skip
