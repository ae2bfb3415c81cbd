"""Reverse-mode differentiation of node graphs.

    y = EXP(MUL(x, w))     gradient of y for w, with 1 as upstream:
                           EXP gets 1, MUL gets 1 · y, w gets 1 · y · x

The graph is walked from the roots to their sources. Each node is visited once, after all its users.
Only nodes that lead to a target count. The walk continues through the history of memory. The
gradients are ordinary nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ogive.autograd.rules.assigned import assigned_gradients, assigned_sources
from ogive.autograd.rules.formulas import add, as_value, ones_like
from ogive.autograd.rules.gradient_rules import FLAT, RULES
from ogive.compiler.ir.calls import Expansions
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.live import history, registry
from ogive.compiler.live.history import Record
from ogive.compiler.live.kept_graphs import Gradients, kept_graphs
from ogive.compiler.live.substitution import caught_up, following
from ogive.errors import GradientError, describe_origin


def gradient_of(root: UOp, is_target: Callable[[UOp], bool]) -> dict[UOp, UOp]:
    """`gradient` of one root for leaves, in the shapes of the leaves, with ones as upstream.

    If a program computes it in a loop, the result of the last iteration is used.
    """
    known = kept_graphs.gradients.get(root)
    if known is not None and _still_holds(known, is_target):
        return dict(known.pairs)
    sweep = _Sweep([root], is_target)
    gradients = sweep.run([(root, ones_like(root))])
    sweep.check_versions(gradients.values())
    # In the shapes of the leaves, since the shapes of memory are not used again.
    gradients = {
        node: as_value(value, history.leaf_of(node).shape) for node, value in gradients.items()
    }
    if sweep.ends is not None and not sweep.records:
        kept_graphs.note_gradients(root, Gradients(tuple(gradients.items()), tuple(sweep.ends)))
    return gradients


def _still_holds(known: Gradients, is_target: Callable[[UOp], bool]) -> bool:
    """Whether the leaves are still leaves, and no other buffer has become one or got a history."""
    if any(is_target(node) or history.has_record(node) for node in known.others):
        return False
    return all(is_target(version) for version, _ in known.pairs)


def gradient(
    roots: Sequence[tuple[UOp, UOp]], is_target: Callable[[UOp], bool]
) -> dict[UOp, UOp]:
    """The gradients of the sum of `root · upstream` over `roots`, for each target under them.

    The walk ends at targets. `graph_lock` is held. Raises `GradientError` if an op has no gradient,
    or needs values that have been overwritten.
    """
    sweep = _Sweep([root for root, _ in roots], is_target)
    gradients = sweep.run(roots)
    sweep.check_versions(gradients.values())
    return gradients


class _Sweep:
    """One backward walk over the graph under some roots.

    `sources` has, for each node that leads to a target, the sources to which its gradient flows.
    `ends` are the buffers that lead to no target, or None if the result depends on more than these.
    """

    def __init__(self, roots: Sequence[UOp], is_target: Callable[[UOp], bool]) -> None:
        self.is_target = is_target
        self.records: list[Record] = []
        self.ends: list[UOp] | None = []
        self.reached: list[UOp] = []
        self.order: list[UOp] = []
        self.sources: dict[UOp, Sequence[UOp]] = {}
        self.expansions = Expansions()
        self._collect(roots)

    def _collect(self, roots: Sequence[UOp]) -> None:
        """Order the nodes under the roots, sources first, and mark those that lead to a target."""
        seen: set[UOp] = set()
        leading: set[UOp] = set()
        stack = [(root, False) for root in reversed(roots)]
        while stack:
            node, ready = stack.pop()
            if ready:
                if not leading.isdisjoint(self.sources[node]):
                    leading.add(node)
                    self.order.append(node)
                continue
            if node in seen or not node.dtype.is_inexact:
                continue
            seen.add(node)
            if self.is_target(node):
                self.reached.append(node)
                leading.add(node)
                continue
            sources = self._sources_of(node)
            if sources:
                self.sources[node] = sources
                stack.append((node, True))
                stack.extend([(source, False) for source in reversed(sources)])
        self.leading = leading

    def _sources_of(self, node: UOp) -> Sequence[UOp]:
        op = node.op
        if op in FLAT:
            return ()
        if op in (Op.BUFFER, Op.MULTI):
            record = history.record_of(node)
            if record is None:
                if self.ends is not None:
                    self.ends.append(node)
                return ()
            self.records.append(record)
            return (record.expression,)
        if op is Op.GRADIENT:
            if not getattr(node.arg, "is_fixed", False):
                self.ends = None
            return node.inputs
        if op is Op.AFTER:
            self.ends = None
            return assigned_sources(node)
        if op is Op.CALL:
            return (self.expansions.of(node),)
        return node.src

    def run(self, roots: Sequence[tuple[UOp, UOp]]) -> dict[UOp, UOp]:
        """Propagate gradients down from the roots; gives those of the targets."""
        given: dict[UOp, list[UOp]] = {}
        for root, upstream in roots:
            if root in self.leading:
                given.setdefault(root, []).append(upstream)
        now: dict[UOp, UOp] = {}  # nodes as they are, where hooks and the like have read values
        with following() as moves:
            for node in reversed(self.order):
                contributions = given.pop(node, None)
                if contributions is None:
                    continue
                sources = self.sources[node]
                needed = [source in self.leading for source in sources]
                parts = _gradients(now.get(node, node), total(contributions), needed)
                if moves:
                    self._catch_up(moves.take(), given, now)
                for source, part in zip(sources, parts, strict=True):
                    if part is not None:
                        given.setdefault(source, []).append(part)
        return {node: total(given[node]) for node in self.reached if node in given}

    def _catch_up(
        self, moved: Mapping[UOp, UOp], given: dict[UOp, list[UOp]], now: dict[UOp, UOp]
    ) -> None:
        """Bring what this walk holds to where memory is by now."""
        for node, parts in given.items():
            given[node] = caught_up(parts, moved)
        # Versions stay as they are: how gradients flow through them does not depend on values.
        values = [node for node in self.order if node.op not in (Op.BUFFER, Op.MULTI, Op.AFTER)]
        now.update(zip(values, caught_up([now.get(n, n) for n in values], moved), strict=True))

    def check_versions(self, gradients: Iterable[UOp]) -> None:
        """Raise `GradientError` if a gradient reads memory that was overwritten meanwhile."""
        stale = {
            node
            for record in self.records
            for node, writes in record.versions
            if registry.buffer_of(node).writes != writes
        }
        if not stale:
            return
        for node in walk(tuple(gradients)):
            if node in stale:
                raise GradientError(_overwritten(node))


def total(parts: list[UOp]) -> UOp:
    """The sum of the parts, added in pairs, so that many parts make no deep chain."""
    while len(parts) > 1:
        pairs = [add(parts[at], parts[at + 1]) for at in range(0, len(parts) - 1, 2)]
        parts = pairs + parts[len(pairs) * 2 :]
    return parts[0]


def _gradients(node: UOp, upstream: UOp, needed: Sequence[bool]) -> Sequence[UOp | None]:
    """The gradients of a node's sources, for those that need one."""
    op = node.op
    if op in (Op.BUFFER, Op.MULTI):
        record = history.record_of(node)
        assert record is not None, "memory with a history"
        return (as_value(upstream, record.expression.shape),)
    if op is Op.GRADIENT:
        parts: Sequence[UOp | None] = node.arg.gradients(node, upstream)
        return parts
    if op is Op.AFTER:
        return assigned_gradients(node, upstream, needed)
    if op is Op.CALL:
        return (upstream,)
    rule = RULES.get(op)
    if rule is None:
        raise GradientError(_without_rule(node), node.origin)
    return [
        formula(node, upstream) if wanted and formula is not None else None
        for formula, wanted in zip(_per_source(rule, len(needed)), needed, strict=True)
    ]


def _per_source(rule: Any, count: int) -> Sequence[Any]:
    """A rule, padded with None for sources that are lengths."""
    return [*rule, *[None] * (count - len(rule))]


def _overwritten(node: UOp) -> str:
    leaf = history.leaf_of(node)
    origin = node.origin if leaf is None else leaf.origin
    line = describe_origin(origin)
    return (
        f"a gradient needs {node.size} values of {node.dtype.name} that have been overwritten by "
        "an assignment; call backward() before the assignment, or assign to another tensor"
        + (f" (made at {line})" if line else "")
    )


def _without_rule(node: UOp) -> str:
    if node.op is Op.CUSTOM:
        return (
            f"{node.name}, a function of ogive.custom, has no gradient; give it one with "
            "ogive.custom_gradient, or cut it off with detach()"
        )
    return f"{node.op.name} has no gradient; cut it off with detach()"
