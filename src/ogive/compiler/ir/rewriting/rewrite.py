"""The rewrite driver: applies a rule set bottom-up until nothing changes.

It is iterative, so that graphs of any depth work, and memoized per node, so that shared nodes are
rewritten once. Rules that undo each other are an error that names one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.rewriting.rules import RuleSet
from ogive.errors import RewriteCycleError

CHANGE_LIMIT = 1000
"""The number of rewrites of one node after which the rules are taken to cycle."""

_tracing = False


@contextmanager
def tracing() -> Iterator[None]:
    """Within this context, each node made by a rule records the rule and the node it replaced."""
    global _tracing
    before, _tracing = _tracing, True
    try:
        yield
    finally:
        _tracing = before


def rewrite(root: UOp, rules: RuleSet, memo: dict[UOp, UOp] | None = None) -> UOp:
    """`root` with `rules` applied everywhere, sources first, to a fixed point.

    Roots that are rewritten by the same rules can share work through one `memo`.
    """
    done: dict[UOp, UOp] = {} if memo is None else memo
    dispatch = rules.dispatch
    changes: dict[UOp, int] = {}
    # An entry is (the node to rewrite, what it has become so far, whether its sources are done).
    stack: list[tuple[UOp, UOp, bool]] = [(root, root, False)]
    while stack:
        asked, current, ready = stack.pop()
        if asked in done:
            continue
        if not ready:
            if current is not asked and current in done:
                done[asked] = done[current]
                continue
            stack.append((asked, current, True))
            for source in reversed(current.src):
                if source not in done:
                    stack.append((source, source, False))
            continue
        sources = tuple([done[source] for source in current.src])
        if any(new is not old for new, old in zip(sources, current.src, strict=True)):
            current = current.replace(src=sources)
        result: UOp | None = None
        for rule, matcher in dispatch[current.op]:
            result = matcher(current)
            if result is not None and result is not current:
                if _tracing:
                    result.trace = (f"{rules.name}: {rule.name}", current)
                if result.origin is None:
                    result.origin = current.origin
                count = changes[asked] = changes.get(asked, 0) + 1
                if count > CHANGE_LIMIT:
                    raise RewriteCycleError(
                        f"rules of {rules.name!r} cycle at {current.op.name}; the last one "
                        f"applied was {rule.name!r}",
                        asked.origin,
                    )
                break
            result = None
        if result is None:
            done[asked] = current
            done.setdefault(current, current)
        elif result in done:
            done[asked] = done[result]
        else:
            stack.append((asked, result, False))
    return done[root]
