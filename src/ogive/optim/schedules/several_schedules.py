"""Combine schedules: one after the other, or all at each step."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.schedules.plateau import ReduceLROnPlateau
from ogive.optim.schedules.schedule import LRScheduler


class SeveralSchedules(LRScheduler):
    """The base of schedules that are made of others. Their states are in its own."""

    def __init__(self, optimizer: Optimizer | None, schedulers: Sequence[LRScheduler]) -> None:
        name = type(self).__name__
        if not schedulers:
            raise ArgumentError(f"{name} takes at least one schedule")
        self.optimizer = optimizer or schedulers[0].optimizer
        for scheduler in schedulers:
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ArgumentError(f"{name} cannot hold ReduceLROnPlateau: its step needs a value")
            if scheduler.optimizer is not self.optimizer:
                raise ArgumentError(f"{name} takes schedules of one optimizer")
        self._schedulers = list(schedulers)

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules are: the attributes, and the states of the schedules."""
        own = {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("optimizer", "_schedulers")
        }
        return {**own, "_schedulers": [part.state_dict() for part in self._schedulers]}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` gave."""
        self.__dict__.update({n: v for n, v in state_dict.items() if n != "_schedulers"})
        for scheduler, part in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(part)
        # Each schedule has loaded its own last rates. Those of the whole are what counts.
        for group, rate in zip(self.optimizer.param_groups, self._last_lr, strict=True):
            group["lr"] = rate


class SequentialLR(SeveralSchedules):
    """Runs one schedule after the other. Schedule i + 1 begins at step `milestones[i]`.

    `last_epoch` is the number of the last step, as in other schedules.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        schedulers: Sequence[LRScheduler],
        milestones: Sequence[int],
        last_epoch: int = -1,
    ) -> None:
        super().__init__(optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ArgumentError(
                f"{len(schedulers)} schedules need {len(schedulers) - 1} milestones, got "
                f"{len(milestones)}"
            )
        self._milestones = list(milestones)
        self.last_epoch = last_epoch + 1
        self._begin()

    def restart(self) -> None:
        """Begin again with the first schedule."""
        self.last_epoch = 0
        self._begin()

    def _begin(self) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]
        self._schedulers[bisect_right(self._milestones, 0)].restart()
        self._last_lr = self.current_rates()

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step."""
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        if number and self._milestones[number - 1] == self.last_epoch:
            self._schedulers[number].restart()
        else:
            self._schedulers[number].step()
        self._last_lr = self.current_rates()


class ChainedScheduler(SeveralSchedules):
    """Runs several schedules at each step, in order, so that their factors multiply."""

    def __init__(
        self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None
    ) -> None:
        super().__init__(optimizer, schedulers)
        self._last_lr = self.current_rates()

    def restart(self) -> None:
        """Begin again with all schedules."""
        for scheduler in self._schedulers:
            scheduler.restart()
        self._last_lr = self.current_rates()

    def step(self) -> None:  # type: ignore[override]
        """Set the rates of the next step."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.current_rates()
