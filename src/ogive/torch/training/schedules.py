"""`torch.optim.lr_scheduler`: the base of schedules by its old name."""

from __future__ import annotations

from ogive.optim.lr_scheduler import LRScheduler as _LRScheduler

__all__ = ["_LRScheduler"]
