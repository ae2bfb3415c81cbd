"""Learning-rate schedules, under PyTorch's names. Call `scheduler.step()` after `optimizer.step()`.

A schedule is a function from the number of steps taken, and a group's first rate, to a rate.
"""

from __future__ import annotations

from ogive.optim.schedules.cycles import (
    CosineAnnealingLR,
    CosineAnnealingWarmRestarts,
    CyclicLR,
    OneCycleLR,
)
from ogive.optim.schedules.decays import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from ogive.optim.schedules.plateau import ReduceLROnPlateau
from ogive.optim.schedules.schedule import LRScheduler
from ogive.optim.schedules.several_schedules import ChainedScheduler, SequentialLR

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
