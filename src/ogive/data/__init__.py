"""Data sets, batches, and progress bars; see docs/data.md."""

from __future__ import annotations

from ogive.data.background import prefetch
from ogive.data.bar import Progress, progress
from ogive.data.batches import Batches, Dataset
from ogive.data.collation import collate, convert
from ogive.data.datasets import (
    ChainDataset,
    ConcatDataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from ogive.data.handwritten import digits
from ogive.data.loader import DataLoader, get_worker_info
from ogive.data.samplers import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

default_collate = collate
default_convert = convert

__all__ = [
    "BatchSampler",
    "Batches",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "Progress",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "collate",
    "default_collate",
    "default_convert",
    "digits",
    "get_worker_info",
    "prefetch",
    "progress",
    "random_split",
]
