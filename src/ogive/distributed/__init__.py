"""Programs of several processes, called ranks, that communicate by MPI; see docs/distributed.md."""

from __future__ import annotations

from ogive.distributed.collectives import (
    all_gather,
    all_reduce,
    all_to_all,
    barrier,
    broadcast,
    reduce_scatter,
)
from ogive.distributed.groups import Group, RankMesh, new_group
from ogive.distributed.pairs import recv, send
from ogive.distributed.training.data_parallel import average_gradients, broadcast_parameters
from ogive.distributed.training.fully_sharded import fully_shard
from ogive.distributed.training.parallel_regions import copy_to, reduce_from
from ogive.distributed.training.pipeline_stages import Pipeline
from ogive.distributed.training.rank_samplers import DistributedSampler
from ogive.distributed.training.whole_states import load_whole_state, whole_state
from ogive.distributed.world import init, rank, size

__all__ = [
    "DistributedSampler",
    "Group",
    "Pipeline",
    "RankMesh",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "average_gradients",
    "barrier",
    "broadcast",
    "broadcast_parameters",
    "copy_to",
    "fully_shard",
    "init",
    "load_whole_state",
    "new_group",
    "rank",
    "recv",
    "reduce_from",
    "reduce_scatter",
    "send",
    "size",
    "whole_state",
]
