"""The cost of computing a value where it is read, if some values are kept in memory.

In goes the graph, sources first, with the choice that is assumed to hold; out comes the
`InPlaceCost` of each node. With `m` kept,

    m = max(x, 1);   e = exp(x - m);   s = sum(e, 1);   y = e / s

`e` costs an exponential and a subtraction and reads memory alone; `y` costs that and a division,
and holds a reduction whose results vary along axis 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.passes.fuse.choice import Choice
from ogive.compiler.passes.fuse.reads.axis_relations import long_axes, varying_axes
from ogive.compiler.passes.fuse.reads.bit_sets import Axes, has, join, single
from ogive.compiler.targets.estimates import operation_cycles
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

COST_LIMIT = 1 << 20
"""Work is counted up to this. What is read twice counts twice, and doubles with each such step."""


class InPlaceCost(NamedTuple):
    """The cost of computing one element of a value in place, if some values are kept in memory.

    `work` is what is done outside of reductions, in cycles of a vector. `reduces` says whether
    there is a reduction in it, and `varying` along which axes the results of those reductions vary;
    `loads` says whether memory is read. `spread_work` is the work without that on reductions before
    they are spread out.
    """

    work: float
    reduces: bool
    varying: Axes
    loads: bool = True
    spread_work: float = 0


_MEMORY = InPlaceCost(0, False, 0)
_CONSTANT = InPlaceCost(0, False, 0, loads=False)


def find_costs(
    order: Sequence[UOp], assumed: Choice, axes_of: Mapping[UOp, Axes], target: Target
) -> dict[UOp, InPlaceCost]:
    """The cost of each node, of which those below a kept one count as read from memory.

    What is staged is there along its row, and varies along its other axes as a reduction does.
    `axes_of` has the axes along which values vary, where there are indices.
    """
    kept, staged = assumed.kept_set, assumed.staged
    costs: dict[UOp, InPlaceCost] = {}
    below: dict[UOp, InPlaceCost] = {}  # to what reads it
    for node in order:
        op = node.op
        if op in ELEMENTWISE or op is Op.GATHER:
            cost = _cost_of_element(node, below, axes_of, target)
        elif op in MOVEMENT:
            cost = _cost_of_moved(node, below[node.operand])
        elif op is Op.REDUCE_AXES:
            cost = InPlaceCost(0, True, long_axes(node))
        elif op is Op.SORT:
            cost = InPlaceCost(0, True, long_axes(node) & ~single(len(node.shape) - 1))
        else:
            cost = _CONSTANT if op in (Op.CONST, Op.IOTA, Op.VARIABLE) else _MEMORY
        costs[node] = cost
        if node in staged:
            below[node] = InPlaceCost(0, True, long_axes(node) & ~single(staged[node]))
        else:
            below[node] = _MEMORY if node in kept else cost
    return costs


def _cost_of_moved(node: UOp, part: InPlaceCost) -> InPlaceCost:
    """The cost of a value that is movement of one that costs `part`."""
    if not part.varying:
        return part
    spread_work = 0 if node.op is Op.EXPAND else part.spread_work
    varying = varying_axes(node, part.varying)
    return InPlaceCost(part.work, part.reduces, varying, part.loads, spread_work)


def _cost_of_element(
    node: UOp, below: Mapping[UOp, InPlaceCost], axes_of: Mapping[UOp, Axes], target: Target
) -> InPlaceCost:
    """The cost of an element that is computed from one element of each source."""
    cost = spread_work = operation_cycles(node, target)
    reduces = False
    varying = 0
    loads = False
    for number, source in enumerate(node.src):
        part = below[source]
        cost += part.work
        spread_work += part.spread_work
        reduces |= part.reduces
        if node.op is Op.GATHER and number == 0:
            varying |= _selected_axes(node, part.varying, axes_of)
        else:
            varying |= part.varying
        loads |= part.loads
    spread_work = min(spread_work, COST_LIMIT)
    return InPlaceCost(min(cost, COST_LIMIT), reduces, varying, loads, spread_work)


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
