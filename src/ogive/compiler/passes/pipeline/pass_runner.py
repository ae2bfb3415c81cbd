"""Passes, and the one runner that runs them.

A `Pass` is a line of a table: its name, the dialect that it takes and the one that it gives, its
function, and what else the function reads. A `Compilation` holds the newest value of each dialect
and runs passes on these values, in order. Nothing else runs passes. It times each of them, and with
`OGIVE_VERIFY=1` it checks the result of each against its dialect.

    before   region = SINK(ASSIGN(...))                  compilation.run(LOOP_PASSES)
    after    region, loops; timings = {"rangeify": 0.0002, "join_words": 0.00001, ...}
"""

from __future__ import annotations

import copy
import importlib
import operator
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from ogive.compiler.ir.ops import Op
from ogive.config import Config
from ogive.errors import VerifyError
from ogive.named import NamedTuple


class Dialect(NamedTuple):
    """The form of a program between two passes.

    `meaning` describes it. `check` raises `VerifyError` for a value that does not have this form.
    `show` gives the value as text for people.
    """

    name: str
    meaning: str
    check: Callable[[Any], None]
    show: Callable[[Any], str]


def expect(dialect: Dialect, fits: bool, wanted: str, *given: Any) -> None:
    """Raise `VerifyError` unless a value `fits` a dialect.

    `wanted` says what was expected, with a `{}` for each value `given`. The text is made only for
    the error.
    """
    if not fits:
        raise VerifyError(f"in the {dialect.name} dialect: expected {wanted.format(*given)}")


class Condition(NamedTuple):
    """When a pass runs: in words, and as a function of the values of the compilation."""

    words: str
    holds: Callable[[Any], bool]


def where_any(dialect: Dialect, words: str, *ops: Op) -> Condition:
    """The condition that the newest graph of a dialect has a node of one of `ops`."""
    get, asked = operator.attrgetter(dialect.name), frozenset(ops)
    return Condition(
        words, lambda values: not asked.isdisjoint([node.op for node in get(values).walk()])
    )


class Pass:
    """One pass: a function from a value of the dialect `takes` to a value of the dialect `gives`.

    The function and its module in `folder` have the name of the pass; they are loaded when it first
    runs. Further arguments of the function are what `reads` names: the newest value of another
    dialect, the `target`, or a setting such as `config.vectorize`. `shows` is one line, *before →
    after*. `when` is the condition under which the pass runs; None means always.
    """

    def __init__(
        self,
        name: str,
        takes: Dialect,
        gives: Dialect,
        folder: str,
        shows: str,
        reads: tuple[str, ...] = (),
        when: Condition | None = None,
    ) -> None:
        self.name = name
        self.takes = takes
        self.gives = gives
        self.folder = folder
        self.shows = shows
        self.reads = reads
        self.when = when
        self._function: Callable[..., Any] | None = None
        get = operator.attrgetter(takes.name, *reads)
        self.arguments: Callable[[Any], tuple[Any, ...]] = (
            get if reads else lambda values: (get(values),)
        )

    @property
    def function(self) -> Callable[..., Any]:
        """The function of the pass."""
        # Not a `cached_property`: a child process could inherit its lock in the locked state.
        if self._function is None:
            folder = self.folder.replace("/", ".")
            module = importlib.import_module(f"ogive.compiler.{folder}.{self.name}")
            self._function = getattr(module, self.name)
        assert self._function is not None, "a function is not None"
        return self._function

    def under(self, condition: Condition | None) -> Pass:
        """The same pass under a condition."""
        conditional = copy.copy(self)
        conditional.when = condition
        return conditional

    def doing(self, function: Callable[..., Any]) -> Pass:
        """The same pass with another function."""
        replaced = copy.copy(self)
        replaced._function = function
        return replaced

    def __repr__(self) -> str:
        return f"<pass {self.name}: {self.takes.name} → {self.gives.name}>"


class Step(NamedTuple):
    """One run of a pass: the value that it took, the value that it gave, the seconds it took."""

    ran: Pass
    before: Any
    after: Any
    seconds: float

    def show(self) -> tuple[str, str]:
        """The input and the output of the pass, as text."""
        return self.ran.takes.show(self.before), self.ran.gives.show(self.after)


Watcher = Callable[[Step], None]


class Compilation:
    """Runs passes over values, which are known by the names of their dialects.

    `values` holds the values given and computed so far, `timings` the seconds that each pass took.
    `watch` is called after each pass.
    """

    def __init__(self, config: Config, watch: Watcher | None = None, **given: Any) -> None:
        self.values = SimpleNamespace(config=config, **given)
        self.timings: dict[str, float] = {}
        self._verify = config.verify
        self._watch = watch

    def run(self, passes: Sequence[Pass]) -> Any:
        """Run the passes in order and give the value of the last one.

        A pass whose condition does not hold is skipped. If the dialect that it gives has no value
        yet, it gets the value that the pass would have taken.
        """
        values, timings = self.values, self.timings
        if self._verify:
            passes[0].takes.check(getattr(values, passes[0].takes.name))
        clock = time.perf_counter
        for each in passes:
            if each.when is not None and not each.when.holds(values):
                if not hasattr(values, each.gives.name):
                    setattr(values, each.gives.name, getattr(values, each.takes.name))
                continue
            arguments = each.arguments(values)
            start = clock()
            result = each.function(*arguments)
            seconds = clock() - start
            timings[each.name] = timings.get(each.name, 0.0) + seconds
            if self._verify:
                _verify(each, result)
            if self._watch is not None:
                self._watch(Step(each, arguments[0], result, seconds))
            setattr(values, each.gives.name, result)
        return getattr(values, passes[-1].gives.name)


def _verify(ran: Pass, result: Any) -> None:
    try:
        ran.gives.check(result)
    except VerifyError as error:
        what, _, _ = str(error).partition("\n")  # the user's line is added once more
        raise VerifyError(f"after {ran.name}: {what}", error.origin) from error
