"""Programs of several processes, the ranks, over MPI; see docs/distributed.md."""

from __future__ import annotations

from ogive.distributed.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
    reduce_scatter,
)
from ogive.distributed.data_parallel import average_gradients, broadcast_parameters
from ogive.distributed.groups import Group, RankMesh, new_group
from ogive.distributed.pairs import recv, send
from ogive.distributed.sampling import DistributedSampler
from ogive.distributed.world import init, rank, size

__all__ = [
    "DistributedSampler",
    "Group",
    "RankMesh",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "average_gradients",
    "barrier",
    "broadcast",
    "broadcast_parameters",
    "init",
    "new_group",
    "rank",
    "recv",
    "reduce_scatter",
    "send",
    "size",
]
