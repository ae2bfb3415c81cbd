"""What a kernel's text is made of: what is written once, and which calls are inlined."""

from __future__ import annotations

from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.kernel_writer import Offset, Rarity, Writer
from ogive.compiler.devices.llvm.math import define


def called(often: int, last: int, once: int) -> list[str]:
    """The attributes of the calls of a function, those that run often and those that do not."""
    writer = Writer()
    definition = define("exp", "f32", 4, host_target().scalings)
    for writer.rarity, count in zip(Rarity, (often, last, once), strict=True):
        for _ in range(count):
            writer.call(definition, "<4 x float>", ["%x"])
    return [line.split()[-2] for line in writer.call_attributes()]


def test_rare_calls_of_a_function_are_not_inlined_unless_there_is_one() -> None:
    assert called(2, 0, 2) == ["alwaysinline", "noinline"]
    assert called(1, 0, 1) == ["alwaysinline", "alwaysinline"]


def test_calls_in_the_last_iterations_of_a_loop_are_inlined_if_all_can_be() -> None:
    assert called(4, 4, 0) == ["alwaysinline", "alwaysinline"]
    assert called(8, 8, 0) == ["alwaysinline", "noinline"]


def test_a_function_called_often_is_not_inlined_at_all() -> None:
    assert called(20, 0, 0) == ["noinline"]


def test_an_index_is_computed_once_in_a_loop_and_anew_behind_it() -> None:
    writer = Writer()
    offset = Offset("%i").plus(3).plus(4)
    with writer.scope():
        assert writer.index(offset) == writer.index(offset)
    writer.index(offset)
    assert [line.split("=")[1] for line in writer.lines] == [" add i64 %i, 7"] * 2
