"""In which order a kernel's loops go through the axes of its result.

What is reduced along an axis that is not the last, and then spread along it again, would be worked
out anew for each element of the axis: the loop over it is outside of those that the reduction
varies with. With that loop inside, the reduction is computed once, and its row is at hand:

    before   n, c, p:   out[n, c, p] = exp(x[n, c, p] - max over c of x[n, c, p])
    after    n, p, c:   the same; one maximum for all c
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.shape import greatest
from ogive.compiler.targets.target import Target

MOST_NODES = 64
"""How many nodes above a reduction are looked at."""


def loop_order(root: UOp, target: Target) -> tuple[int, ...] | None:
    """The axes of a kept value with those last along which it is spread after a reduction; None
    if their own order will do."""
    value = root.operand if root.op is Op.CONTIGUOUS else root
    reduced = {axes for node in _spread(value) for axes in _reduced_axes(node, value)}
    if len(reduced) != 1:
        return None
    (axes,) = reduced
    order = (*[axis for axis in range(len(root.shape)) if axis not in axes], *axes)
    long = [axis for axis in order if root.shape[axis] != 1]
    length = math.prod(greatest(root.shape[axis]) for axis in axes)
    is_far = length > target.costs.fusion.inner_rows
    return None if is_far or long == sorted(long) else order


def _spread(value: UOp) -> list[UOp]:
    """The values that are expanded to the shape of a value in its elementwise work."""
    spread: list[UOp] = []
    stack, seen = [value], {value}
    while stack and len(seen) < MOST_NODES:
        node = stack.pop()
        if node.op is Op.EXPAND:
            spread.append(node)
        elif node.op in ELEMENTWISE:
            below = [s for s in node.src if s not in seen and s.shape == value.shape]
            seen.update(below)
            stack.extend(below)
    return spread


def _reduced_axes(spread: UOp, value: UOp) -> set[tuple[int, ...]]:
    """The axes of reductions of as many elements as `value` has that are spread."""
    reduced = set()
    stack, seen = [spread.operand], {spread.operand}
    while stack and len(seen) < MOST_NODES:
        node = stack.pop()
        if node.op is Op.REDUCE_AXES and node.operand.shape == value.shape:
            reduced.add(node.axes)
        elif node.op in ELEMENTWISE:
            below = [source for source in node.src if source not in seen]
            seen.update(below)
            stack.extend(below)
    return reduced
