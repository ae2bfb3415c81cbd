"""Combine schedules: one after the other, or all at each step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.schedules.schedule import LRScheduler


class SequentialLR:
    """Runs one schedule after the other. Schedule i + 1 begins at step `milestones[i]`."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]
    ) -> None:
        if len(milestones) != len(schedulers) - 1:
            raise ArgumentError(
                f"{len(schedulers)} schedules need {len(schedulers) - 1} milestones, got "
                f"{len(milestones)}"
            )
        self.optimizer = optimizer
        self.schedulers = list(schedulers)
        self.milestones = list(milestones)
        self.last_epoch = 0
        for group, base in zip(optimizer.param_groups, schedulers[0].base_lrs, strict=True):
            group["lr"] = base
        for scheduler in self.schedulers:
            scheduler.base_lrs = list(schedulers[0].base_lrs)
        self.schedulers[0].restart()

    def step(self) -> None:
        """Set the rates of the next step."""
        self.last_epoch += 1
        number = bisect_right(self.milestones, self.last_epoch)
        if number and self.milestones[number - 1] == self.last_epoch:
            self.schedulers[number].restart()
        else:
            self.schedulers[number].step()

    def get_last_lr(self) -> list[float]:
        """The current rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The states of the schedules."""
        parts = [scheduler.state_dict() for scheduler in self.schedulers]
        return {"last_epoch": self.last_epoch, "schedulers": parts}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` gave."""
        self.last_epoch = state["last_epoch"]
        now = bisect_right(self.milestones, self.last_epoch)
        # Each schedule loads the rates, too. The present one comes last, so its rates remain.
        order = [*[n for n in range(len(self.schedulers)) if n != now], now]
        for number in order:
            self.schedulers[number].load_state_dict(state["schedulers"][number])


class ChainedScheduler:
    """Runs several schedules at each step, in order, so that their factors multiply."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        if not schedulers:
            raise ArgumentError("ChainedScheduler takes at least one schedule")
        self.schedulers = list(schedulers)
        self.optimizer = optimizer or self.schedulers[0].optimizer
        if any(scheduler.optimizer is not self.optimizer for scheduler in self.schedulers):
            raise ArgumentError("ChainedScheduler takes schedules of one optimizer")

    def step(self) -> None:
        """Set the rates of the next step."""
        for scheduler in self.schedulers:
            scheduler.step()

    def get_last_lr(self) -> list[float]:
        """The current rate of each group."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """The states of the schedules."""
        return {"schedulers": [scheduler.state_dict() for scheduler in self.schedulers]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` gave."""
        for scheduler, part in zip(self.schedulers, state["schedulers"], strict=True):
            scheduler.load_state_dict(part)
