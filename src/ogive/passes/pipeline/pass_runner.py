"""Passes, and the one runner that runs them.

A `Pass` is a line of a table: its name, the dialect that it takes and the one that it gives, the
function, and what else the function reads. A `Compilation` holds what has been made so far, the
newest value of each dialect; it runs passes on that, one after the other, and is the only one who
does. It times every pass, and where the configuration says so (`OGIVE_VERIFY=1`), it checks what
every pass gives against the dialect.

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

from ogive.config import Config
from ogive.errors import VerifyError
from ogive.ir.ops import Op
from ogive.named import NamedTuple


class Dialect(NamedTuple):
    """A form that a program has between two passes.

    `meaning` says what it is; `check` raises `VerifyError` for what is not so; `show` writes it
    for people.
    """

    name: str
    meaning: str
    check: Callable[[Any], None]
    show: Callable[[Any], str]


def expect(dialect: Dialect, fits: bool, what: str, *given: Any) -> None:
    """Raise `VerifyError` unless something is as it is expected to be in a dialect.

    `what` has places for what was `given`, which is written as text only then.
    """
    if not fits:
        raise VerifyError(f"in the {dialect.name} dialect: expected {what.format(*given)}")


class Condition(NamedTuple):
    """When a pass is run: in words, and as a question about what has been made so far."""

    words: str
    holds: Callable[[Any], bool]


def where_any(dialect: Dialect, words: str, *ops: Op) -> Condition:
    """The condition that a graph, as it is in a dialect by now, has a node of such an op."""
    get, asked = operator.attrgetter(dialect.name), frozenset(ops)
    return Condition(
        words, lambda values: not asked.isdisjoint([node.op for node in get(values).walk()])
    )


class Pass:
    """One pass: `function(value in the dialect it takes, *what it reads)` in the one it gives.

    The function has the pass's name, and lies in the module of that name in `folder`; it is loaded
    when it is first run. `reads` names other dialects, whose newest value it is given, `target`, or
    a setting, as `config.vectorize`. `shows` is one line, *before → after*. `when` says under what
    condition it runs, if not always.
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
        """What it does."""
        # Not a `cached_property`, whose lock a child process would inherit locked.
        if self._function is None:
            module = importlib.import_module(f"ogive.{self.folder.replace('/', '.')}.{self.name}")
            self._function = getattr(module, self.name)
        assert self._function is not None, "a function is not None"
        return self._function

    def under(self, condition: Condition | None) -> Pass:
        """The same pass, run if a condition holds."""
        other = copy.copy(self)
        other.when = condition
        return other

    def doing(self, function: Callable[..., Any]) -> Pass:
        """A pass that does something else in the place of this one."""
        other = copy.copy(self)
        other._function = function
        return other

    def __repr__(self) -> str:
        return f"<pass {self.name}: {self.takes.name} → {self.gives.name}>"


class Step(NamedTuple):
    """One pass as it was run: what it was given, what it gave, the seconds it took."""

    ran: Pass
    before: Any
    after: Any
    seconds: float

    def show(self) -> tuple[str, str]:
        """The input and the output of the pass, as text."""
        return self.ran.takes.show(self.before), self.ran.gives.show(self.after)


Watcher = Callable[[Step], None]


class Compilation:
    """Runs passes over the values given, by the names of their dialects.

    `values` has what was given and made so far; `timings` the seconds that each pass took.
    `watch` is told of every pass that has been run.
    """

    def __init__(self, config: Config, watch: Watcher | None = None, **given: Any) -> None:
        self.values = SimpleNamespace(config=config, **given)
        self.timings: dict[str, float] = {}
        self._verify = config.verify
        self._watch = watch

    def run(self, passes: Sequence[Pass]) -> Any:
        """Run passes in order, but those whose condition does not hold; gives the last value.

        What was to be made by one of these, and is not there, is what it would have taken.
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
            made = each.function(*arguments)
            seconds = clock() - start
            timings[each.name] = timings.get(each.name, 0.0) + seconds
            if self._verify:
                _verify(each, made)
            if self._watch is not None:
                self._watch(Step(each, arguments[0], made, seconds))
            setattr(values, each.gives.name, made)
        return getattr(values, passes[-1].gives.name)


def _verify(ran: Pass, made: Any) -> None:
    try:
        ran.gives.check(made)
    except VerifyError as error:
        what, _, _ = str(error).partition("\n")  # the user's line is added once more
        raise VerifyError(f"after {ran.name}: {what}", error.origin) from error
