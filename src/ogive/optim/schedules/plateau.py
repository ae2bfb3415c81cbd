"""A rate that falls when a metric stops improving."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ogive.errors import ArgumentError, ArgumentTypeError, StateError
from ogive.optim.optimizer import Optimizer
from ogive.optim.schedules.schedule import LRScheduler


class ReduceLROnPlateau(LRScheduler):
    """Multiplies the rate by `factor` when a metric has not improved for `patience` steps.

    A metric improves on the best one so far if it is below best·(1 - threshold) with the
    `threshold_mode` "rel", or below best - threshold with "abs"; with the `mode` "max", if it is
    above best·(1 + threshold) or best + threshold. `min_lr` is a number, or one for each group.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float | Sequence[float] = 0.0,
        eps: float = 1e-8,
        verbose: Any = None,
    ) -> None:
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ArgumentError(
                "mode must be 'min' or 'max', and threshold_mode 'rel' or 'abs', got "
                f"{mode!r} and {threshold_mode!r}"
            )
        if factor >= 1:
            raise ArgumentError(f"factor must be below 1, got {factor}")
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(
                "the first argument of ReduceLROnPlateau must be an optimizer, not "
                f"{type(optimizer).__name__}"
            )
        groups = len(optimizer.param_groups)
        if isinstance(min_lr, Sequence) and len(min_lr) != groups:
            raise ArgumentError(f"min_lr has {len(min_lr)} rates for {groups} groups")
        self.optimizer = optimizer
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.factor, self.patience, self.cooldown, self.eps = factor, patience, cooldown, eps
        self.default_min_lr = None if isinstance(min_lr, Sequence) else min_lr
        self.min_lrs = [*min_lr] if isinstance(min_lr, Sequence) else [min_lr] * groups
        self.last_epoch = 0
        self._last_lr = self.current_rates()
        self.best = math.inf if mode == "min" else -math.inf
        self.num_bad_epochs = 0
        self.cooldown_counter = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether steps are not counted yet, after a rate was lowered."""
        return self.cooldown_counter > 0

    def _is_better(self, current: float) -> bool:
        sign = -1 if self.mode == "min" else 1
        if self.threshold_mode == "rel":
            bound = self.best * (1 + sign * self.threshold)
        else:
            bound = self.best + sign * self.threshold
        return current < bound if self.mode == "min" else current > bound

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Record the metric of an epoch, and lower the rates if it has stopped improving."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        current = float(metrics)
        if self._is_better(current):
            self.best = current
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._lower()
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
        self._last_lr = self.current_rates()

    def _lower(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise StateError(
                    f"min_lr has {len(self.min_lrs)} rates, but the optimizer has {len(groups)} "
                    "groups now; set min_lrs"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            lowered = max(group["lr"] * self.factor, least)
            if group["lr"] - lowered > self.eps:
                group["lr"] = lowered
