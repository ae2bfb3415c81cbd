"""Flattened regions get the length of their launch back.

    before   ASSIGN(SHRINK(PARAM 0, (0, #n)), EXP(SHRINK(PARAM 1, (0, #n))))         with #n = 12
    after    ASSIGN(PARAM 0, EXP(PARAM 1)), each of 12 elements

Beam search times a kernel over memory of its size, so it needs a fixed length. This pass runs after
`merge_regions`, which needs flattened regions, so that the search times the kernels that will run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.regions.cut_regions import HostRegion, Region
from ogive.compiler.passes.regions.flatten_regions import LENGTH


def fix_lengths(regions: Sequence[Region | HostRegion]) -> list[Region | HostRegion]:
    """The regions, each over the number of elements of its launch."""
    return [_fix(region) if isinstance(region, Region) else region for region in regions]


def _fix(region: Region) -> Region:
    fixed = dict(region.fixed)
    count = fixed.pop(LENGTH, None)
    if count is None:
        return region
    done: dict[UOp, UOp] = {}
    for node in region.graph.walk():
        sources = tuple([done[source] for source in node.src])
        is_long = any(each.op is Op.VARIABLE and each.name == LENGTH for each in node.src)
        if is_long and node.op is Op.SHRINK:
            done[node] = UOp(Op.PARAM, node.dtype, (), (node.operand.slot, count))
        elif is_long and node.op is Op.EXPAND:
            done[node] = UOp(Op.EXPAND, node.dtype, sources[:1], (count,))
        elif is_long:
            assert node.op is Op.IOTA, f"a length in {node!r}"
            done[node] = UOp(Op.IOTA, node.dtype, (), count)
        else:
            done[node] = node.with_sources(sources)
    sources_of = {done[node]: source for node, source in region.sources.items() if node in done}
    return dataclasses.replace(
        region, graph=done[region.graph], sources=sources_of, fixed=tuple(fixed.items())
    )
