"""The cost model of a target: what things take there, and from where on a choice pays.

It belongs to the target (`Target.costs`) and is part of its key: equal targets decide alike, and so
give equal bits. A pass that needs a cost asks here and has no numbers of its own. Times are cycles
or nanoseconds, and every number says which; how large caches, vectors and register files are, the
target itself says.

    >>> from dataclasses import replace
    >>> from ogive.targets.target import describe_cpu
    >>> target = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
    >>> costs = replace(target.costs, fusion=replace(target.costs.fusion, shared_work=0))
    >>> replace(target, costs=costs).key == target.key
    False
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from ogive.targets.fusion_costs import Fusion, ScoreGradients, Staging
from ogive.targets.graph_costs import Packing, Reductions, Sorting
from ogive.targets.loop_costs import Accesses, Loops
from ogive.targets.operation_costs import Memory, Operations
from ogive.targets.sharing_costs import Sharing
from ogive.targets.thread_costs import Threads
from ogive.targets.tile_costs import Lanes, Tiles


@dataclass(frozen=True)
class Costs:
    """What things take on a target. The defaults are those of a CPU with vector instructions."""

    operations: Operations = field(default_factory=Operations)
    memory: Memory = field(default_factory=Memory)
    reductions: Reductions = field(default_factory=Reductions)
    sorting: Sorting = field(default_factory=Sorting)
    packing: Packing = field(default_factory=Packing)
    fusion: Fusion = field(default_factory=Fusion)
    staging: Staging = field(default_factory=Staging)
    score_gradients: ScoreGradients = field(default_factory=ScoreGradients)
    loops: Loops = field(default_factory=Loops)
    accesses: Accesses = field(default_factory=Accesses)
    lanes: Lanes = field(default_factory=Lanes)
    tiles: Tiles = field(default_factory=Tiles)
    sharing: Sharing = field(default_factory=Sharing)
    threads: Threads = field(default_factory=Threads)

    def with_changes(self, **groups: dict[str, Any]) -> Costs:
        """The same with some numbers of some groups changed.

        >>> Costs().with_changes(fusion={"shared_work": 0}).fusion.shared_work
        0
        """
        changed = {
            name: dataclasses.replace(getattr(self, name), **changes)
            for name, changes in groups.items()
        }
        return dataclasses.replace(self, **changed)


CPU_COSTS = Costs()
"""Those of every CPU that has no table of its own."""

NEVER = 1 << 62
"""More than there is of anything."""

GPU_COSTS = CPU_COSTS.with_changes(
    packing={"least_work": NEVER},
    reductions={
        "few_tiles": 1024, "few_scan_rows": 1 << 12, "few_scan_tiles": 1 << 12,
        "scan_chunk_bytes": 1 << 14,
    },
    fusion={"least_outer": 128},
    staging={
        "rows_at_once": 3, "score_bytes": NEVER, "shared_score_bytes": NEVER,
        "most_score_bytes": NEVER,
    },
    score_gradients={"narrow_again": True},
    loops={"cheap_work": -1, "sharing_sums": 1 << 20},
)  # fmt: skip
"""Those of a graphics processor. Operands are read where they lie, reductions are split until every
multiprocessor has several, rows are staged where a block has memory for them, scores are kept but
for those that tensor cores work out."""
