"""Regions that differ only in the positions they read share one graph.

A loop over time that the user wrote in Python is a graph of equal pieces, each with its own row:

    before   ADD(SHRINK(PARAM 1, (3, 4)), PARAM 2), ADD(SHRINK(PARAM 1, (4, 5)), PARAM 2), ...
    after    ADD(SHRINK(PARAM 1, (#0, #0 + 1)), PARAM 2), launched with #0 = 3, #0 = 4, ...

The positions become variables of the compiler's own, whose values are fixed for each launch. They
cannot be bound by name, since a user's name cannot begin with `#`. Positions that are equal in all
the regions stay constants.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import as_length, split_argument
from ogive.compiler.ir.symbolic.variable import OWN
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region

LEAST_REGIONS = 3
"""The least number of different regions that are replaced by one with variables. It is compiled for
no position in particular, so its code may be slower."""

_MOVED = (Op.SHRINK, Op.PAD)


def reroll_regions(regions: Sequence[Region | HostRegion]) -> list[Region | HostRegion]:
    """The regions, those that are alike with a common graph."""
    graphs = dict.fromkeys([r.graph for r in regions if isinstance(r, Region)])
    if len(graphs) < LEAST_REGIONS:
        return list(regions)
    groups: dict[UOp, dict[UOp, _Positions]] = {}
    for graph in graphs:
        opened = _Positions(graph)
        if opened.values:
            groups.setdefault(opened.graph, {})[graph] = opened
    shared: dict[UOp, _Positions] = {}
    for group in groups.values():
        if len(group) >= LEAST_REGIONS:
            columns = zip(*[opened.values for opened in group.values()], strict=True)
            constant = frozenset(
                [number for number, column in enumerate(columns) if len(set(column)) == 1]
            )
            shared |= {graph: _Positions(graph, constant) for graph in group}
    return [_replaced(region, shared) for region in regions]


def _replaced(
    region: Region | HostRegion, shared: dict[UOp, _Positions]
) -> Region | HostRegion:
    if isinstance(region, HostRegion) or region.graph not in shared:
        return region
    opened = shared[region.graph]
    sources = {opened.done[node]: source for node, source in region.sources.items()}
    fixed = tuple([(name, value) for name, value in opened.fixed.items()])
    return dataclasses.replace(region, graph=opened.graph, sources=sources, fixed=fixed)


class _Positions:
    """A region's graph with variables for positions, except for `constant` ones, and their values.

    Positions are numbered in the order of the walk, so that equal numbers mean the same place in
    graphs that are alike.
    """

    def __init__(self, graph: UOp, constant: frozenset[int] = frozenset()) -> None:
        self.values: list[int] = []
        self.fixed: dict[str, int] = {}
        self.done: dict[UOp, UOp] = {}
        self._constant = constant
        for node in graph.walk():
            sources = tuple([self.done[source] for source in node.src])
            argument = node.arg
            if node.op in _MOVED and len(sources) == 1:
                argument, symbolic = split_argument(self._opened(node))
                sources = (*sources, *symbolic)
            is_same = sources == node.src and argument == node.arg
            self.done[node] = (
                node if is_same else UOp(node.op, node.dtype, sources, argument, node.tag)
            )
        self.graph = self.done[graph]

    def _opened(self, node: UOp) -> Any:
        shape = node.operand.shape
        if node.op is Op.SHRINK:
            return tuple(
                [
                    self._window(begin, end, size)
                    for (begin, end), size in zip(node.arg, shape, strict=True)
                ]
            )
        pads, fill = node.arg
        return tuple([self._padding(before, after) for before, after in pads]), fill

    def _window(self, begin: int, end: int, size: Any) -> tuple[Any, Any]:
        length = end - begin
        if not isinstance(size, int) or length == size:
            return begin, end
        first = self._position(begin, size - length)
        return first, as_length(first + length)

    def _padding(self, before: int, after: int) -> tuple[Any, Any]:
        total = before + after
        if not total:
            return before, after
        first = self._position(before, total)
        return first, as_length(total - first)

    def _position(self, value: int, greatest: int) -> Any:
        number = len(self.values)
        self.values.append(value)
        if number in self._constant:
            return value
        name = f"{OWN}{number}"
        self.fixed[name] = value
        return UOp(Op.VARIABLE, dtypes.index, (), (name, 0, greatest))
