"""Ends a loop after its last term that counts.

    before   r0 < 64:  sum over r1 < 64 of where(r1 < r0 + 1, x[r0, r1], 0)
    after    r0 < 64:  sum over r1 < r0 + 1 of x[r0, r1]

A loop whose first terms do not count is reversed before that:

    before   r0 < 64:  sum over r1 < 64 of where(r0 < r1 + 1, x[r0, r1], 0)
    after    r0 < 64:  sum over r1 < 64 - r0 of x[r0, 63 - r1]

A term counts unless a condition on positions replaces it by the identity of the reduction, as in a
triangle or under a causal mask. Such a term is the identity whatever `x` holds there. A term that
is multiplied by zero does count, since it may be NaN. Staged rows end where all of their readers
end. Afterwards the extent of a reduced counter may depend on the counters of the result; `place`
lets a tile run to the end of its longest row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ogive.compiler.ir.identity import identity_element
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.conditions import conjuncts, difference
from ogive.compiler.ir.symbolic.index_arithmetic import from_linear, minimum
from ogive.compiler.ir.traversal import substitute, transform
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.targets.target import Target


def tighten_loops(root: UOp, target: Target) -> UOp:
    """The loop graph with its reductions and staged rows as short as the conditions allow."""
    if not any(node.op is Op.REDUCE and _needed_if(node) for node in root.walk()):
        return root
    for reduction in [node for node in root.walk() if node.op is Op.REDUCE]:
        root = _run_backwards(root, reduction, target)
    ended: set[UOp] = set()
    while (loop_and_end := _find_end(root, ended, target)) is not None:
        root, counter = _ended(root, *loop_and_end)
        ended.add(counter)
    return root


def _run_backwards(root: UOp, reduction: UOp, target: Target) -> UOp:
    """The graph with the loops of a reduction reversed, if only that lets them end early.

    No other reduction may share these loops.
    """
    needed = [difference(*part.src)[0] for part in _needed_if(reduction)]
    late = {c for c in reduction.closed if any(terms.get(c, 0) < 0 for terms in needed)}
    closing = [n for n in root.walk() if n is not reduction and not late.isdisjoint(n.closed)]
    if not late or closing or not all(map(_is_free, late)) or ends_early(root, reduction, target):
        return root
    backwards = {c: make_range(c.extent, *c.arg) * -1 + (axis_extent(c) - 1) for c in late}
    mirrored = replace_ranges(reduction, backwards)
    (changed,) = substitute((root,), {reduction: mirrored}, revisit=False)
    return changed if ends_early(changed, mirrored, target) else root


def ends_early(root: UOp, reduction: UOp, target: Target) -> bool:
    """Whether a loop of a reduction may end early, as far as its own conditions tell."""
    nodes, outputs = root.walk(), frozenset(output_axes(root))
    return any(
        _end_of(counter, [reduction], nodes, outputs, target) for counter in reduction.closed
    )


def _is_free(counter: UOp) -> bool:
    """Whether a loop may run in any order and has a fixed length."""
    return counter.placement is None and counter.extent.op is Op.CONST


def _find_end(
    root: UOp, ended: set[UOp], target: Target
) -> tuple[UOp, list[UOp], UOp] | None:
    """A counter that may end early, the nodes in one block that close it, and its new end.

    Counters in `ended` are done. Readers of a staged row come before the row.
    """
    nodes = root.walk()
    outputs = frozenset(output_axes(root))
    closing: dict[tuple[UOp, frozenset[UOp]], list[UOp]] = {}
    for node in reversed(nodes):
        if node.op in (Op.REDUCE, Op.STAGE):
            for counter in node.closed:
                if counter not in ended:
                    closing.setdefault((counter, node.ranges), []).append(node)
    for (counter, _), closers in closing.items():
        end = _end_of(counter, closers, nodes, outputs, target)
        if end is not None:
            return counter, closers, end
    return None


def _needed_if(reduction: UOp) -> list[UOp]:
    """The conditions on positions that must all hold if a term counts."""
    value = _nest(reduction)[-1].operand
    if value.op is not Op.WHERE:
        return []
    identity = UOp.const(reduction.dtype, identity_element(reduction.combine, reduction.dtype))
    needed: list[UOp] = []
    while value.op is Op.WHERE and value.if_false is identity:
        needed += _positional(value.condition)
        value = value.if_true
    return needed


def _nest(node: UOp) -> list[UOp]:
    """A reduction, and the reductions of the same kind that it directly combines: a sum of sums."""
    nest = [node]
    while node.op is Op.REDUCE and node.operand.op is Op.REDUCE:
        if node.operand.combine is not node.combine:
            break
        node = node.operand
        nest.append(node)
    return nest


def _positional(condition: UOp) -> list[UOp]:
    return [part for part in conjuncts(condition) if part.op is Op.CMPLT and not part.has_index]


def _end_of(
    counter: UOp,
    closers: list[UOp],
    nodes: list[UOp],
    outputs: frozenset[UOp],
    target: Target,
) -> UOp | None:
    """Where a loop may end; None if a node that closes it needs more, or too little is saved."""
    costs = target.costs.loops
    terms = math.prod([axis_extent(c) for node in _nest(closers[0]) for c in node.closed])
    is_checked = any(n.op is Op.CHECK and counter in n.ranges for n in nodes)
    if terms < costs.least_terms or is_checked:
        return None  # every fault must be reported
    ends: set[UOp | None] = set()
    for node in closers:
        needed = _needed_if(node) if node.op is Op.REDUCE else _read_if(node, nodes)
        possible = [end for part in needed if (end := _first_after(counter, part, outputs))]
        ends.add(min(possible, key=lambda end: int(end.vmax), default=None))
    if len(ends) != 1:
        return None
    (end,) = ends
    if end is None or end is counter.extent:
        return None
    low, high = end.bounds
    most = (1 - costs.least_share) * axis_extent(counter)
    return end if (low + high) / 2 <= most else None


def _read_if(stage: UOp, nodes: Iterable[UOp]) -> list[UOp]:
    """A condition that holds for every element of a staged row that is read; none if sorted."""
    if stage.sorted_count is not None:
        return []
    ends = {
        node.offset.extent if node.offset.op is Op.RANGE else None
        for node in nodes
        if node.op is Op.INDEX and node.base is stage
    }
    (end,) = ends if len(ends) == 1 else (None,)
    return [] if end is None else _positional(stage.offset.lt(end))


def _first_after(counter: UOp, condition: UOp, outputs: frozenset[UOp]) -> UOp | None:
    """The iteration from which on a condition cannot hold, as an expression of output counters.

    Terms that depend on other counters are replaced by the bound that makes it latest.
    """
    terms, bound = difference(*condition.src)
    slope = terms.pop(counter, 0)
    if slope <= 0 or any(counter in term.ranges for term in terms):
        return None
    outer: dict[UOp, int] = {}
    for term, coefficient in terms.items():
        if term.ranges <= outputs:
            outer[term] = -coefficient
        else:
            low, high = term.bounds
            bound -= coefficient * int(low if coefficient > 0 else high)
    return from_linear(outer, bound - 1) // slope + 1


def _ended(root: UOp, counter: UOp, closers: list[UOp], end: UOp) -> tuple[UOp, UOp]:
    """The graph in which the loop of `closers` stops at `end`, and the counter of that loop.

    The counter gets a new number if other nodes close the old one. Conditions that hold in the
    whole shorter loop are dropped.
    """
    nodes = root.walk()
    number = counter.number
    if any(counter in node.closed for node in nodes if node not in closers):
        number = 1 + max([node.number for node in nodes if node.op is Op.RANGE])
    is_within = end.vmax <= counter.extent.vmin
    extent = end if is_within else minimum(end, counter.extent)
    shorter = make_range(extent, number, counter.placement)
    holds = shorter.lt(end)

    def simplified(node: UOp) -> UOp:
        is_certain = node.op is Op.WHERE and node.condition is holds
        return node.if_true if is_certain else node

    moved = {node: _with_its_length(replace_ranges(node, {counter: shorter})) for node in closers}
    (root,) = substitute((root,), moved, revisit=False)
    return transform(root, simplified), shorter


def _with_its_length(node: UOp) -> UOp:
    """A staged value with rows no longer than its loop; any other node as it is."""
    if node.op is not Op.STAGE:
        return node
    space, length, *further = node.arg
    shorter = min(length, int(node.offset.vmax) + 1)
    return UOp(Op.STAGE, node.dtype, node.src, (space, shorter, *further))
