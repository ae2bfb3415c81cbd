"""The runner hands passes what they read, times them, checks what they give, tells who watches."""

from __future__ import annotations

from typing import Any

from ogive import Config
from ogive.compiler.passes.pipeline.pass_runner import (
    Compilation,
    Condition,
    Dialect,
    Pass,
    Step,
    expect,
)
from ogive.errors import VerifyError
from tests.raising import raises


def _check_number(value: int) -> None:
    expect(NUMBER, value >= 0, "a number from 0 on, not {}", value)


NUMBER = Dialect("number", "a number", _check_number, str)
TEXT = Dialect("text", "a number as text", lambda value: None, repr)
INCREASE = Pass("increase", NUMBER, NUMBER, "", "1 → 2").doing(lambda number: number + 1)
NEGATE = Pass("negate", NUMBER, NUMBER, "", "1 → -1").doing(lambda number: -number)
PRINT = Pass("print", NUMBER, TEXT, "", "1 → '1'").doing(lambda number: f"{number}")


def test_each_pass_is_given_what_the_one_before_it_gave() -> None:
    compilation = Compilation(Config(), number=1)
    assert compilation.run((INCREASE, INCREASE, PRINT)) == "3"
    assert (compilation.values.number, compilation.values.text) == (3, "3")


def test_a_pass_is_given_what_it_reads_and_nothing_else() -> None:
    def gather(*given: Any) -> tuple[Any, ...]:
        return given

    reads = ("target", "text", "config.vectorize")
    reading = Pass("gather", NUMBER, TEXT, "", "1 → (1, ...)", reads).doing(gather)
    compilation = Compilation(Config(vectorize=False), number=7, text="x", target="t")
    assert compilation.run((reading,)) == (7, "t", "x", False)


def test_what_nobody_made_cannot_be_read() -> None:
    with raises(AttributeError, match="text"):
        reading = Pass("r", NUMBER, NUMBER, "", "", reads=("text",)).doing(max)
        Compilation(Config(), number=7).run((reading,))


def test_a_pass_whose_condition_does_not_hold_is_left_out() -> None:
    small = Condition("it is small", lambda values: values.number < 2)
    growing = INCREASE.under(small)
    compilation = Compilation(Config(), number=0)
    assert compilation.run((growing,) * 5) == 2
    assert INCREASE.when is None, "the other one runs always"


def test_what_a_pass_that_is_left_out_was_to_make_is_what_it_would_have_taken() -> None:
    never = Condition("never", lambda values: False)
    assert Compilation(Config(), number=1).run((PRINT.under(never),)) == 1
    assert Compilation(Config(), number=1, text="one").run((PRINT.under(never),)) == "one"


def test_a_pass_is_loaded_when_it_is_first_run() -> None:
    kept = Pass("join_words", NUMBER, NUMBER, "passes/loops", "1 → 1")
    from ogive.compiler.passes.loops.join_words import join_words

    assert kept.function is join_words and kept.under(None).function is join_words


def test_a_pass_that_runs_twice_is_timed_as_one() -> None:
    compilation = Compilation(Config(), number=0)
    compilation.run((INCREASE, PRINT, INCREASE))
    assert list(compilation.timings) == ["increase", "print"]
    assert all(seconds > 0 for seconds in compilation.timings.values())


def test_who_watches_is_told_of_every_pass() -> None:
    steps: list[Step] = []
    Compilation(Config(), steps.append, number=1).run((INCREASE, PRINT))
    assert [(step.ran, step.before, step.after) for step in steps] == [
        (INCREASE, 1, 2),
        (PRINT, 2, "2"),
    ]
    assert steps[1].show() == ("2", "'2'")


def test_what_a_pass_gives_is_checked_if_asked_for_and_the_pass_is_named() -> None:
    assert Compilation(Config(), number=1).run((NEGATE,)) == -1
    with raises(VerifyError, match="after negate: in the number dialect: expected a number"):
        Compilation(Config(verify=True), number=1).run((INCREASE, NEGATE, INCREASE))


def test_what_the_first_pass_is_given_is_checked_too() -> None:
    with raises(VerifyError, match="expected a number from 0 on, not -5"):
        Compilation(Config(verify=True), number=-5).run((INCREASE,))
