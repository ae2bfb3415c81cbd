"""`torch.utils.data.distributed`: the part of a dataset that belongs to a process."""

from __future__ import annotations

from ogive.distributed.training.rank_samplers import DistributedSampler

__all__ = ["DistributedSampler"]
