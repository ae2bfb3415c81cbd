"""What a kernel's text is made of: what is written once, and which calls are inlined."""

from __future__ import annotations

from ogive.codegen.math import define
from ogive.codegen.writer import Offset, Writer
from ogive.device.target import host_target


def called(usual: int, rare: int) -> list[str]:
    """The attributes of the calls of a function, those that run and those that rarely do."""
    writer = Writer()
    definition = define("exp", "f32", 4, host_target().scalings)
    for writer.rare, count in ((False, usual), (True, rare)):
        for _ in range(count):
            writer.call(definition, "<4 x float>", ["%x"])
    return [line.split()[-2] for line in writer.call_attributes()]


def test_rare_calls_of_a_function_are_not_inlined_unless_there_is_one() -> None:
    assert called(2, 2) == ["alwaysinline", "noinline"]
    assert called(1, 1) == ["alwaysinline", "alwaysinline"]


def test_a_function_called_often_is_not_inlined_at_all() -> None:
    assert called(20, 0) == ["noinline"]


def test_an_index_is_computed_once_in_a_loop_and_anew_behind_it() -> None:
    writer = Writer()
    offset = Offset("%i").plus(3).plus(4)
    with writer.scope():
        assert writer.index(offset) == writer.index(offset)
    writer.index(offset)
    assert [line.split("=")[1] for line in writer.lines] == [" add i64 %i, 7"] * 2
