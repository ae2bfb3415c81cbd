"""Values over several devices become values of each device, and copies between them.

    before   SINK(MSELECT 0(s), MSELECT 1(s))              s = the sum of MULTI(PARAM 0, PARAM 1)
             with a part on CPU and one on CPU:1           along the axis that is divided

    after    SINK(t, COPY(t, "CPU:1"))                     t = ADD(sum of PARAM 0,
                                                                   COPY(sum of PARAM 1, "CPU"))

Nodes after `SHARD` and `MULTI` have the shapes of whole values. This pass makes each of them one
node per device, by the rule of its op (`shard_rules.py`), up to an `MSELECT` or a `COPY`, which
gives the value of one device. A value that no rule can keep divided is gathered, and
`OGIVE_LOG=shard` reports it. Afterwards no node has values over several devices.
"""

from __future__ import annotations

from ogive.compiler.ir.memory import keep_roots_apart
from ogive.compiler.passes.capture.normalize import Normalized
from ogive.compiler.passes.shards.placing import Placing
from ogive.config import Config


def place_shards(normalized: Normalized, config: Config) -> Normalized:
    """The graph without values over several devices."""
    sink = normalized.sink
    order = sink.walk()
    placing = Placing(config)
    for node in order[:-1]:
        placing.place(node)
    roots = [placing.plain(root) for root in sink.src]
    callers, within = normalized.sources, dict(normalized.within)
    for node in order[:-1]:
        for part in placing.parts(node):
            within.setdefault(part, callers.get(node, node))
    parametric = {
        node: parts[0]
        for node, old in normalized.parametric.items()
        if len(parts := placing.parts(old)) == 1
    }
    new = sink.replace(src=keep_roots_apart(sink.src, roots))
    return normalized._replace(sink=new, parametric=parametric, within=within)
