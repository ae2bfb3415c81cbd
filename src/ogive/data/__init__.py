"""Data: a small set that comes with the package, batches, and progress; see docs/data.md."""

from __future__ import annotations

from ogive.data.background import prefetch
from ogive.data.bar import Progress, progress
from ogive.data.batches import Batches, Dataset
from ogive.data.collation import collate
from ogive.data.handwritten import digits
from ogive.data.loader import DataLoader, Subset, TensorDataset, random_split

__all__ = [
    "Batches",
    "DataLoader",
    "Dataset",
    "Progress",
    "Subset",
    "TensorDataset",
    "collate",
    "digits",
    "prefetch",
    "progress",
    "random_split",
]
