"""The cost of computing a value where it is read, if some values are kept in memory.

In goes the graph, sources first, with the nodes that were kept or staged by the last choice; out
comes a `Summary` of each node. With `m` kept,

    m = max(x, 1);   e = exp(x - m);   s = sum(e, 1);   y = e / s

`e` costs an exponential and a subtraction and reads memory alone; `y` costs that and a division,
and holds a reduction whose results vary along axis 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.named import NamedTuple
from ogive.passes.fuse.axis_relations import varying_axes
from ogive.passes.fuse.bit_sets import Axes, collect, has, join, single
from ogive.targets.estimates import operation_cost
from ogive.targets.target import Target

COST_LIMIT = 1 << 20
"""Work is counted up to this. What is read twice counts twice, and doubles with each such step."""


class Summary(NamedTuple):
    """The cost of computing one element of a value in place, if some values are kept in memory.

    `cost` is the work outside reductions; `reduces` whether there is a reduction in it, and
    `varying` the axes along which the results of those reductions vary; `loads` whether memory is
    read. `spread_cost` is the work without that on reductions before they are spread out.
    """

    cost: int
    reduces: bool
    varying: Axes
    loads: bool = True
    spread_cost: int = 0


_MEMORY = Summary(0, False, 0)
_CONSTANT = Summary(0, False, 0, loads=False)


def summarize(
    order: Sequence[UOp],
    kept: Set[UOp],
    staged: Mapping[UOp, int],
    axes_of: Mapping[UOp, Axes],
    target: Target,
) -> dict[UOp, Summary]:
    """The summary of each node, of which those below a `kept` one count as read from memory.

    What is `staged` is there along its row, and varies along its other axes as a reduction does.
    `axes_of` has the axes along which values vary, where there are indices.
    """
    summaries: dict[UOp, Summary] = {}
    below: dict[UOp, Summary] = {}
    for node in order:
        op = node.op
        if op in ELEMENTWISE or op is Op.GATHER:
            summary = _summarize_element(node, below, axes_of, target)
        elif op in MOVEMENT:
            summary = _summarize_moved(node, below[node.operand])
        elif op is Op.REDUCE_AXES:
            summary = Summary(0, True, long_axes(node))
        elif op is Op.SORT:
            summary = Summary(0, True, long_axes(node) & ~single(len(node.shape) - 1))
        else:
            summary = _CONSTANT if op in (Op.CONST, Op.IOTA, Op.VARIABLE) else _MEMORY
        summaries[node] = summary
        if node in staged:
            below[node] = Summary(0, True, long_axes(node) & ~single(staged[node]))
        else:
            below[node] = _MEMORY if node in kept else summary
    return summaries


def _summarize_moved(node: UOp, part: Summary) -> Summary:
    """The summary of a value that is `part`, moved."""
    if not part.varying:
        return part
    spread_cost = 0 if node.op is Op.EXPAND else part.spread_cost
    varying = varying_axes(node, part.varying)
    return Summary(part.cost, part.reduces, varying, part.loads, spread_cost)


def _summarize_element(
    node: UOp, below: Mapping[UOp, Summary], axes_of: Mapping[UOp, Axes], target: Target
) -> Summary:
    """The summary of an element that is computed from one element of each source."""
    cost = spread_cost = operation_cost(node, target)
    reduces = False
    varying = 0
    loads = False
    for number, source in enumerate(node.src):
        part = below[source]
        cost += part.cost
        spread_cost += part.spread_cost
        reduces |= part.reduces
        if node.op is Op.GATHER and number == 0:
            varying |= _selected_axes(node, part.varying, axes_of)
        else:
            varying |= part.varying
        loads |= part.loads
    spread_cost = min(spread_cost, COST_LIMIT)
    return Summary(min(cost, COST_LIMIT), reduces, varying, loads, spread_cost)


def long_axes(node: UOp) -> Axes:
    """The axes along which there is more than one element."""
    return collect([axis for axis, size in enumerate(node.shape) if size != 1])


def _selected_axes(node: UOp, source_axes: Axes, axes_of: Mapping[UOp, Axes]) -> Axes:
    """The axes of a `GATHER` along which it selects from `source_axes` of its source."""
    indices = enumerate(node.indices)
    return join([axes_of[index] for axis, index in indices if has(source_axes, axis)])


def find_varying(order: Sequence[UOp]) -> dict[UOp, Axes]:
    """The axes along which each value may vary; needed of indices alone."""
    varying: dict[UOp, Axes] = {}
    if not any(node.op is Op.GATHER for node in order):
        return varying
    for node in order:
        op = node.op
        if op in ELEMENTWISE:
            axes = join([varying[source] for source in node.src])
        elif op in MOVEMENT and op is not Op.PAD:
            axes = varying_axes(node, varying[node.operand])
        else:
            axes = long_axes(node)
        varying[node] = axes
    return varying
