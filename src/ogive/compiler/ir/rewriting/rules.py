"""Rewrite rules as data: patterns with names, collected in rule sets and compiled to matchers.

A rule is a pattern, a function, and a name that says *before → after*. The function takes the nodes
that the pattern bound and gives the replacement, or None if the rule does not apply:

    >>> x, c = anything("x"), constant("c")
    >>> rules = RuleSet("example")
    >>> rules.add("x + 0 → x", x + 0, lambda x: x)

When a rule set first meets an op, it compiles the rules for that op. Each alternative of a pattern
becomes one matcher: straight-line Python that tests the ops of sources before it calls anything.
The sources of a commutative op match in either order.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMMUTATIVE, Op
from ogive.named import NamedTuple

Rewriter = Callable[..., UOp | None]


class Pattern:
    """The form that a node must have for a rule to apply.

    `ops` None means any op. `sources` None means any sources; otherwise their number must agree.
    `value` requires a CONST of that value. `where` is a further condition on the node. Two patterns
    with the same `name` must match the same node. `ordered` sources match only in the order
    written, even if the op commutes.
    """

    __slots__ = ("dtypes", "name", "ops", "ordered", "sources", "value", "where")

    def __init__(
        self,
        ops: tuple[Op, ...] | None = None,
        sources: tuple[Pattern, ...] | None = None,
        name: str | None = None,
        value: Any = None,
        dtypes: tuple[DType, ...] | None = None,
        where: Callable[[UOp], bool] | None = None,
        ordered: bool = False,
    ) -> None:
        self.ops = ops
        self.sources = sources
        self.name = name
        self.value = value
        self.dtypes = dtypes
        self.where = where
        self.ordered = ordered

    def _with(self, **changes: Any) -> Pattern:
        return Pattern(**{slot: getattr(self, slot) for slot in Pattern.__slots__} | changes)

    def named(self, name: str) -> Pattern:
        return self._with(name=name)

    def when(self, condition: Callable[[UOp], bool]) -> Pattern:
        return self._with(where=condition)

    def of(self, *dtypes: DType) -> Pattern:
        return self._with(dtypes=dtypes)

    def as_written(self) -> Pattern:
        return self._with(ordered=True)

    def __add__(self, other: Pattern | int) -> Pattern:
        return node(Op.ADD, self, _lift(other))

    def __sub__(self, other: Pattern | int) -> Pattern:
        return node(Op.SUB, self, _lift(other))

    def __mul__(self, other: Pattern | int) -> Pattern:
        return node(Op.MUL, self, _lift(other))

    def __floordiv__(self, other: Pattern | int) -> Pattern:
        return node(Op.FLOORDIV, self, _lift(other))

    def __mod__(self, other: Pattern | int) -> Pattern:
        return node(Op.MOD, self, _lift(other))

    def __and__(self, other: Pattern | int) -> Pattern:
        return node(Op.AND, self, _lift(other))

    def __or__(self, other: Pattern | int) -> Pattern:
        return node(Op.OR, self, _lift(other))

    def __lt__(self, other: Pattern | int) -> Pattern:
        return node(Op.CMPLT, self, _lift(other))

    def alternatives(self) -> Iterator[Pattern]:
        """The patterns, each with its sources in one order, that together mean this one."""
        if not self.sources:
            yield self
            return
        for choice in itertools.product(*[list(part.alternatives()) for part in self.sources]):
            yield self._with(sources=choice)
            commutes = self.ops is not None and all(op in COMMUTATIVE for op in self.ops)
            if commutes and not self.ordered and len(choice) == 2 and choice[0] is not choice[1]:
                yield self._with(sources=(choice[1], choice[0]))


def _lift(value: Pattern | int) -> Pattern:
    return value if isinstance(value, Pattern) else constant(value=value)


def anything(name: str) -> Pattern:
    """Any node, bound to `name`."""
    return Pattern(name=name)


def constant(name: str | None = None, value: Any = None) -> Pattern:
    """A CONST; with `value`, only one of that value."""
    return Pattern(ops=(Op.CONST,), name=name, value=value)


def node(op: Op | tuple[Op, ...], *sources: Pattern, name: str | None = None) -> Pattern:
    """A node of that op, or of one of those ops. If `sources` are given, all must match."""
    return Pattern(
        ops=op if isinstance(op, tuple) else (op,), sources=sources or None, name=name
    )


class Rule(NamedTuple):
    """One named rewrite."""

    name: str
    pattern: Pattern
    rewrite: Rewriter


Matcher = Callable[[UOp], UOp | None]
Builder = Callable[[DType, tuple[UOp, ...]], UOp | None]


Compiled = TypeVar("Compiled")


class _ByOp(dict[Op, list[Compiled]]):
    """The compiled rules of each op, compiled when the op is first met, since most never are."""

    def __init__(
        self, rules: Iterable[Rule], make: Callable[[Rule, Pattern], Compiled]
    ) -> None:
        self._make = make
        self._patterns: dict[Op, list[tuple[Rule, Pattern]]] = {}
        for rule in rules:
            for alternative in rule.pattern.alternatives():
                for op in alternative.ops or Op:
                    self._patterns.setdefault(op, []).append((rule, alternative))

    def __missing__(self, op: Op) -> list[Compiled]:
        compiled = [self._make(rule, pattern) for rule, pattern in self._patterns.get(op, ())]
        self[op] = compiled
        return compiled


class RuleSet:
    """A named, ordered list of rules. `+` joins two."""

    def __init__(self, name: str, rules: Iterable[Rule] = ()) -> None:
        self.name = name
        self.rules = list(rules)
        self._dispatch: _ByOp[tuple[Rule, Matcher]] | None = None
        self._builders: _ByOp[Builder] | None = None

    def add(self, name: str, pattern: Pattern, rewrite: Rewriter) -> None:
        """Append a rule."""
        self.rules.append(Rule(name, pattern, rewrite))
        self._dispatch = self._builders = None

    def rule(self, name: str, pattern: Pattern) -> Callable[[Rewriter], Rewriter]:
        """Append the decorated function as a rule."""

        def register(rewrite: Rewriter) -> Rewriter:
            self.add(name, pattern, rewrite)
            return rewrite

        return register

    def __add__(self, other: RuleSet) -> RuleSet:
        return RuleSet(f"{self.name}+{other.name}", self.rules + other.rules)

    @property
    def dispatch(self) -> dict[Op, list[tuple[Rule, Matcher]]]:
        """The matchers to try for a node, by its op."""
        if self._dispatch is None:
            self._dispatch = _ByOp(
                self.rules, lambda rule, part: (rule, compile_matcher(part, rule.rewrite))
            )
        return self._dispatch

    def build(self, op: Op, dtype: DType, src: tuple[UOp, ...]) -> UOp:
        """The node (`op`, `dtype`, `src`), or what the first rule that applies makes of it.

        The node itself is built only if no rule applies. All rules for `op` must match on dtype
        and sources alone.
        """
        if self._builders is None:
            self._builders = _ByOp(
                self.rules, lambda rule, part: compile_builder(part, rule.rewrite)
            )
        for builder in self._builders[op]:
            result = builder(dtype, src)
            if result is not None:
                return result
        return UOp(op, dtype, src)

    def apply(self, target: UOp) -> tuple[Rule, UOp] | None:
        """The first rule that changes `target`, and the result; None if no rule does."""
        for rule, matcher in self.dispatch[target.op]:
            result = matcher(target)
            if result is not None and result is not target:
                return rule, result
        return None


def compile_matcher(pattern: Pattern, rewrite: Rewriter) -> Matcher:
    """A function that matches `pattern` at a node and calls `rewrite` with the nodes bound."""
    matcher: Matcher = _Source("n").compile(pattern, rewrite)
    return matcher


def compile_builder(pattern: Pattern, rewrite: Rewriter) -> Builder:
    """The same for a node that is not built yet, given its dtype and sources."""
    assert pattern.name is None and pattern.where is None and pattern.sources is not None
    builder: Builder = _Source("n_dtype, n_src").compile(pattern, rewrite)
    return builder


class _Source:
    """The Python source of a matcher.

        pattern   anything("x") * 1
        source    def matcher(n):
                      if not (len(n.src) == 2): return None
                      n_0, n_1, = n.src
                      if not (n_1.op is k1): return None
                      if not (n_1.arg == k2): return None
                      return rewrite(x=n_0)
    """

    def __init__(self, parameters: str) -> None:
        self.lines = [f"def matcher({parameters}):"]
        self.is_built = parameters == "n"
        self.environment: dict[str, Any] = {}
        self.bound: dict[str, str] = {}

    def compile(self, pattern: Pattern, rewrite: Rewriter) -> Any:
        """The compiled function."""
        self.environment["rewrite"] = rewrite
        self.match(pattern, "n", "." if self.is_built else "_")
        arguments = ", ".join(f"{name}={variable}" for name, variable in self.bound.items())
        self.lines.append(f"    return rewrite({arguments})")
        exec("\n".join(self.lines), self.environment)
        return self.environment["matcher"]

    def match(self, part: Pattern, variable: str, dot: str = ".") -> None:
        """Add the tests that the node in `variable` matches `part`.

        The op of the root, which is in `n`, needs no test: the rule set dispatches on it. If the
        root is not built yet, `n_dtype` and `n_src` hold its dtype and sources.
        """
        if part.ops is not None and variable != "n":
            self.require_one_of(f"{variable}.op", part.ops)
        if part.value is not None:
            self.require(f"{variable}.arg == {self.constant(part.value)}")
        if part.dtypes is not None:
            self.require_one_of(f"{variable}{dot}dtype", part.dtypes)
        if part.name is not None:
            if part.name in self.bound:
                self.require(f"{variable} is {self.bound[part.name]}")
            self.bound[part.name] = variable
        if part.sources is not None:
            self.match_sources(part.sources, variable, f"{variable}{dot}src")
        if part.where is not None:
            self.require(f"{self.constant(part.where)}({variable})")

    def match_sources(self, sources: Sequence[Pattern], variable: str, given: str) -> None:
        self.require(f"len({given}) == {len(sources)}")
        names = [f"{variable}_{number}" for number in range(len(sources))]
        self.lines.append(f"    {', '.join(names)}, = {given}")
        # Sources with a fixed op reject most nodes, so they are tested first.
        pairs = sorted(zip(sources, names, strict=True), key=lambda pair: pair[0].ops is None)
        for source, name in pairs:
            self.match(source, name)

    def require(self, condition: str) -> None:
        self.lines.append(f"    if not ({condition}): return None")

    def require_one_of(self, value: str, choices: Sequence[Any]) -> None:
        if len(choices) == 1:
            self.require(f"{value} is {self.constant(choices[0])}")
        else:
            self.require(f"{value} in {self.constant(frozenset(choices))}")

    def constant(self, value: Any) -> str:
        """The name of a variable in the function's environment that holds `value`."""
        name = f"k{len(self.environment)}"
        self.environment[name] = value
        return name
