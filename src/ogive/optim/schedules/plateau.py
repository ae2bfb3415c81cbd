"""A rate that falls when a metric stops improving."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer


class ReduceLROnPlateau:
    """Multiplies the rate by `factor` when a metric has not improved for `patience` steps."""

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0.0,
        eps: float = 1e-8,
    ) -> None:
        if mode not in ("min", "max") or threshold_mode not in ("rel", "abs"):
            raise ArgumentError(
                "mode must be 'min' or 'max', and threshold_mode 'rel' or 'abs', got "
                f"{mode!r} and {threshold_mode!r}"
            )
        if factor >= 1:
            raise ArgumentError(f"factor must be below 1, got {factor}")
        self.optimizer = optimizer
        self.sign = 1.0 if mode == "min" else -1.0
        self.factor, self.patience, self.cooldown = factor, patience, cooldown
        self.threshold, self.is_relative = threshold, threshold_mode == "rel"
        self.min_lr, self.eps = min_lr, eps
        self.best = math.inf
        self.bad_steps = 0
        self.resting = 0

    def step(self, metrics: Any) -> None:
        """Record the metric of an epoch, and lower the rates if it has stopped improving."""
        current = self.sign * float(metrics)
        margin = self.threshold * (abs(self.best) if self.is_relative else 1.0)
        if current < self.best - (margin if math.isfinite(margin) else 0.0):
            self.best = current
            self.bad_steps = 0
        else:
            self.bad_steps += 1
        if self.resting:
            self.resting -= 1
            self.bad_steps = 0
        if self.bad_steps > self.patience:
            for group in self.optimizer.param_groups:
                lowered = max(group["lr"] * self.factor, self.min_lr)
                if group["lr"] - lowered > self.eps:
                    group["lr"] = lowered
            self.resting = self.cooldown
            self.bad_steps = 0

    def get_last_lr(self) -> list[float]:
        """The current rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The best metric, the counts of steps, and the rates."""
        return {
            "best": self.best, "bad_steps": self.bad_steps, "resting": self.resting,
            "rates": self.get_last_lr(),
        }  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` gave."""
        self.best, self.bad_steps = state["best"], state["bad_steps"]
        self.resting = state["resting"]
        for group, rate in zip(self.optimizer.param_groups, state["rates"], strict=True):
            group["lr"] = rate
