"""The cost model of a target: how long things take, and the thresholds at which choices pay.

It belongs to the target (`Target.costs`) and is part of its key: equal targets make equal choices,
and so give equal bits. A pass reads its costs here and has no numbers of its own. Times are in
cycles or nanoseconds, and every number says which. Sizes of caches, vectors and register files are
fields of the target itself. Groups are named tuples, because every process makes them when it
starts, and a dataclass of twenty numbers takes a millisecond.

    >>> from dataclasses import replace
    >>> from ogive.compiler.targets.target import describe_cpu
    >>> target = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")
    >>> costs = target.costs.with_changes(fusion={"shared_work": 0})
    >>> replace(target, costs=costs).key == target.key
    False
"""

from __future__ import annotations

import functools
from typing import Any

from ogive.compiler.targets.graph_costs import (
    Fusion,
    Packing,
    Reductions,
    ScoreGradients,
    Sorting,
    Staging,
)
from ogive.compiler.targets.kernel_costs import Accesses, Lanes, Loops, Tiles
from ogive.compiler.targets.operation_costs import Memory, Operations
from ogive.compiler.targets.thread_costs import Sharing, Threads
from ogive.named import NamedTuple


class Costs(NamedTuple):
    """The cost model of a target. The defaults are those of a CPU with vector instructions."""

    operations: Operations = Operations()
    memory: Memory = Memory()
    reductions: Reductions = Reductions()
    sorting: Sorting = Sorting()
    packing: Packing = Packing()
    fusion: Fusion = Fusion()
    staging: Staging = Staging()
    score_gradients: ScoreGradients = ScoreGradients()
    loops: Loops = Loops()
    accesses: Accesses = Accesses()
    lanes: Lanes = Lanes()
    tiles: Tiles = Tiles()
    sharing: Sharing = Sharing()
    threads: Threads = Threads()

    def with_changes(self, **groups: dict[str, Any]) -> Costs:
        """The costs with some numbers of some groups changed.

        >>> Costs().with_changes(fusion={"shared_work": 0}).fusion.shared_work
        0
        """
        changed = {
            name: getattr(self, name)._replace(**changes)
            for name, changes in groups.items()
        }
        return self._replace(**changed)


CPU_COSTS = Costs()
"""The costs of CPUs."""

NEVER = 1 << 62
"""A threshold that nothing reaches."""


@functools.lru_cache(maxsize=1)
def gpu_costs() -> Costs:
    """The costs of a graphics processor.

    Operands are read in place. Reductions are split until every multiprocessor has several. Rows
    are staged if a block has memory for them. Scores are kept, except those that tensor cores
    compute.
    """
    return CPU_COSTS.with_changes(
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
