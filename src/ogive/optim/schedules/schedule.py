"""The base class of schedules: a rate for each number of steps and each group's first rate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ogive.errors import ArgumentTypeError
from ogive.optim.optimizer import Optimizer


class LRScheduler:
    """The base of all schedules. A schedule defines `rate_at`, or `get_lr` as in PyTorch.

    Something else may change a rate as well, such as another schedule. A `chained` schedule then
    scales the rate that it finds, by the part above `floor`; other schedules overwrite it. `_own`
    holds the last rates that this schedule set, and None for a rate that something else changed.

    `last_epoch` is the number of the last step, -1 before the first. Another number continues a
    loaded optimizer: its rates are those of the step after `last_epoch`.
    `verbose`, which old programs pass, changes nothing.
    """

    chained = True
    floor = 0.0

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1, verbose: Any = None) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(
                f"the first argument of {type(self).__name__} must be an optimizer, not "
                f"{type(optimizer).__name__}"
            )
        self.optimizer = optimizer
        self.base_lrs: list[float] = [
            group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups
        ]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._last_lr = self.current_rates()
        self._own: list[float | None] = list(self.base_lrs)
        if last_epoch == -1:
            self.step()
        else:
            self.last_epoch += 1
            self._own = [*self.current_rates()]

    def rate_at(self, step: int, base: float) -> float:
        """The rate after `step` steps, for a group whose first rate is `base`."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The rates after `last_epoch` steps, one for each group.

        Groups that were added later change in proportion to the first group.
        """
        rates = []
        groups = self.optimizer.param_groups
        for number, (group, base) in enumerate(zip(groups, self.base_lrs, strict=False)):
            rate = self.rate_at(self.last_epoch, base)
            is_alone = not self.chained or group["lr"] == self._own[number]
            self._own[number] = rate if is_alone else None
            rates.append(rate if is_alone else self._moved(group["lr"], rate, base))
        for group in groups[len(self.base_lrs) :]:
            base = self.base_lrs[0]
            rates.append(self._moved(group["lr"], self.rate_at(self.last_epoch, base), base))
        return rates

    def step(self, epoch: int | None = None) -> None:
        """Go one step on, or to the step `epoch`."""
        self._step_count += 1
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if epoch is None or type(self).get_lr is not LRScheduler.get_lr:
            rates = self.get_lr()
        else:
            rates = [self.rate_at(self.last_epoch, base) for base in self.base_lrs]
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        self._last_lr = self.current_rates()

    def _moved(self, wanted: float, rate: float, base: float) -> float:
        """The rate that follows `wanted`, which something else has set, where this schedule by
        itself would set `rate`."""
        before = self.rate_at(self.last_epoch - 1, base) if self.last_epoch else base
        if before == self.floor:  # the bottom of a cosine, or past its end: add, as PyTorch does
            return wanted + rate - self.floor
        return self.floor + (wanted - self.floor) * (rate - self.floor) / (before - self.floor)

    def restart(self) -> None:
        """Begin again from step 0, whatever the rates are."""
        self.last_epoch = -1
        self._own = [*self.current_rates()]
        self.step()

    def current_rates(self) -> list[float]:
        """The current rate of each group of the optimizer."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def get_last_lr(self) -> list[float]:
        """The rates that this schedule has set last, one for each group."""
        return self._last_lr

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is: its attributes, but for the optimizer and functions."""
        kept = {
            name: value
            for name, value in self.__dict__.items()
            if name != "optimizer" and not callable(value) and not _has_functions(value)
        }
        return kept

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        self.__dict__.update(state)
        self._own = list(state.get("_own", state["_last_lr"]))
        for group, rate in zip(self.optimizer.param_groups, state["_last_lr"], strict=True):
            group["lr"] = rate


def _has_functions(value: Any) -> bool:
    return isinstance(value, list) and any(map(callable, value))
