"""Elementwise regions over whole buffers become one axis of symbolic length.

    before   ASSIGN(RESHAPE(PARAM 0, (3, 4)), EXP(RESHAPE(PARAM 1, (3, 4))))
    after    ASSIGN(SHRINK(PARAM 0, (0, #n)), EXP(SHRINK(PARAM 1, (0, #n))))         with #n = 12

`#n` is a variable of the compiler's own, whose value is fixed for each launch. So one kernel serves
every shape, and an optimizer's step over all parameters is many launches of it. In fact there are
two kernels: for more elements than caches hold, the bounds of `#n` say so.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import LONGEST, shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.symbolic.variable import OWN
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.targets.target import Target

LENGTH = f"{OWN}n"
"""The name of the variable for the number of elements."""

LEAST_WIDTH = 4
"""The assumed bytes of an element in deciding whether a length is more than caches hold."""


def flatten_regions(
    regions: Sequence[Region | HostRegion], target: Target
) -> list[Region | HostRegion]:
    """The regions, flattened where possible."""
    return [_flatten(region, target) for region in regions]


def _flatten(region: Region | HostRegion, target: Target) -> Region | HostRegion:
    """The region over one axis whose length is given at launch, if it is elementwise."""
    if isinstance(region, HostRegion):
        return region
    count = _common_count(region.graph)
    if count is None:
        return region
    done = _flattened(region.graph, count, _least_length(count, target))
    sources: dict[UOp, UOp] = {}
    for node, source in region.sources.items():
        sources.setdefault(done[node], source)
    return dataclasses.replace(
        region, graph=done[region.graph], sources=sources, fixed=((LENGTH, count),)
    )


def _common_count(graph: UOp) -> int | None:
    """The number of elements of each value, if all have this number or one, in memory order."""
    shape = graph.roots[0].target.shape
    if not all(isinstance(size, int) for size in shape):
        return None
    count: int = math.prod(shape)
    if count < 2:
        return None
    for node in graph.walk():
        if node.op is Op.ASSIGN and node.indices:
            return None  # a scatter
        if node.op in (Op.SINK, Op.ASSIGN, Op.CONST) or node.dtype is dtypes.index:
            continue
        if not all(isinstance(size, int) for size in node.shape):
            return None
        if math.prod(node.shape) not in (1, count):
            return None
        if node.op is Op.EXPAND:
            if math.prod(node.operand.shape) != 1:
                return None
        elif node.op is Op.IOTA:
            if node.arg != count:
                return None
        elif node.op not in ELEMENTWISE and node.op not in (Op.PARAM, Op.RESHAPE):
            return None
    return count


def spread(scalar: UOp, length: UOp) -> UOp:
    """One value in all of `length` elements."""
    one = UOp(Op.RESHAPE, scalar.dtype, (scalar,), (1,))
    return UOp(Op.EXPAND, scalar.dtype, (one, length), (None,))


def _least_length(count: int, target: Target) -> int:
    """The least length that the kernel may assume: 0, or more than caches hold."""
    if target.streamed_bytes is None:
        return 0
    many = target.streamed_bytes // LEAST_WIDTH
    return many if count >= many else 0


def _flattened(graph: UOp, count: int, least: int) -> dict[UOp, UOp]:
    length = UOp(Op.VARIABLE, dtypes.index, (), (LENGTH, least, LONGEST))
    done: dict[UOp, UOp] = {}
    for node in graph.walk():
        sources = tuple([done[source] for source in node.src])
        is_whole = math.prod(node.shape) == count if node.shape else False
        if node.op is Op.PARAM:
            slot = node.slot
            flat = shaped(UOp(Op.PARAM, node.dtype, (), (slot, LONGEST)), (length,))
            done[node] = flat if is_whole else UOp(Op.RESHAPE, node.dtype, (node,), ())
        elif node.op is Op.RESHAPE:
            done[node] = sources[0]
        elif node.op is Op.EXPAND:
            done[node] = spread(sources[0], length) if is_whole else sources[0]
        elif node.op is Op.IOTA:
            done[node] = UOp(Op.IOTA, node.dtype, (length,), None)
        else:
            done[node] = UOp(node.op, node.dtype, sources, node.arg, node.tag)
    return done
