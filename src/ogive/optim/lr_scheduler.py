"""Learning rates that change from step to step. `scheduler.step()` goes after `optimizer.step()`.

A schedule is a function from the number of steps taken to a rate, given the rate the group started
with.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ogive.errors import ArgumentError, ArgumentTypeError
from ogive.optim.optimizer import Optimizer


class LRScheduler:
    """The base of all schedules: define `rate_at`, or `get_lr`, as PyTorch has it.

    Where somebody else has changed a rate as well, another schedule perhaps, it is changed from
    what it is, in proportion to what is above `floor`. Those that are not `chained` set the rate
    whatever it is. `_own` has the rates of this schedule alone, None where it is not alone.

    `last_epoch` is the number of the last step, -1 before the first. With another, it goes on where
    the optimizer is, whose state was loaded: its rates are those of the step after `last_epoch`.
    """

    chained = True
    floor = 0.0

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise ArgumentTypeError(
                f"{type(self).__name__} takes an optimizer first, not {type(optimizer).__name__}"
            )
        self.optimizer = optimizer
        self.base_lrs: list[float] = [
            group.setdefault("initial_lr", group["lr"]) for group in optimizer.param_groups
        ]
        self.last_epoch = last_epoch
        self._own: list[float | None] = list(self.base_lrs)
        if last_epoch == -1:
            self.step()
        else:
            self.last_epoch += 1
            self._own = [*self.get_last_lr()]

    def rate_at(self, step: int, base: float) -> float:
        """The rate after `step` steps of a group that started with `base`."""
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        """The rates after `last_epoch` steps, one for each group."""
        rates = []
        pairs = zip(self.optimizer.param_groups, self.base_lrs, strict=True)
        for number, (group, base) in enumerate(pairs):
            rate = self.rate_at(self.last_epoch, base)
            is_alone = not self.chained or group["lr"] == self._own[number]
            self._own[number] = rate if is_alone else None
            rates.append(rate if is_alone else self._moved(group["lr"], rate, base))
        return rates

    def step(self) -> None:
        """Go one step on."""
        self.last_epoch += 1
        for group, rate in zip(self.optimizer.param_groups, self.get_lr(), strict=True):
            group["lr"] = rate

    def _moved(self, found: float, rate: float, base: float) -> float:
        """What a rate that was found becomes, where ours would have become `rate`."""
        before = self.rate_at(self.last_epoch - 1, base) if self.last_epoch else base
        if before == self.floor:
            return rate
        return self.floor + (found - self.floor) * (rate - self.floor) / (before - self.floor)

    def restart(self) -> None:
        """Begin again, whatever the rates are."""
        self.last_epoch = -1
        self._own = [*self.get_last_lr()]
        self.step()

    def get_last_lr(self) -> list[float]:
        """The rate of each group now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedule is."""
        return {
            "last_epoch": self.last_epoch, "base_lrs": list(self.base_lrs),
            "_last_lr": self.get_last_lr(), "_own": list(self._own),
        }  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        self.base_lrs = list(state["base_lrs"])
        self.last_epoch = state["last_epoch"]
        self._own = list(state.get("_own", state["_last_lr"]))
        for group, rate in zip(self.optimizer.param_groups, state["_last_lr"], strict=True):
            group["lr"] = rate


class LambdaLR(LRScheduler):
    """base·function(step), with one function for all groups or one for each."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        count = len(optimizer.param_groups)
        self.functions = list(lr_lambda) if isinstance(lr_lambda, Sequence) else [lr_lambda] * count
        if len(self.functions) != count:
            raise ArgumentError(
                f"LambdaLR: {len(self.functions)} functions for {count} groups of parameters"
            )
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        pairs = zip(self.base_lrs, self.functions, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]


class MultiplicativeLR(LRScheduler):
    """The rate before times function(step)."""

    def __init__(
        self, optimizer: Optimizer, lr_lambda: Callable[[int], float], last_epoch: int = -1
    ) -> None:
        self.function = lr_lambda
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        return base * math.prod([self.function(each) for each in range(1, step + 1)])


class StepLR(LRScheduler):
    """base·gamma^(step // step_size)."""

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        return base * self.gamma ** (step // self.step_size)


class MultiStepLR(LRScheduler):
    """base·gamma^(number of milestones reached)."""

    def __init__(
        self,
        optimizer: Optimizer,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
    ) -> None:
        self.milestones, self.gamma = sorted(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        return base * self.gamma ** bisect_right(self.milestones, step)


class ExponentialLR(LRScheduler):
    """base·gamma^step."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        return base * self.gamma**step


class ConstantLR(LRScheduler):
    """base·factor for `total_iters` steps, then base."""

    def __init__(
        self,
        optimizer: Optimizer,
        factor: float = 1 / 3,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        return base * (self.factor if step < self.total_iters else 1.0)


class LinearLR(LRScheduler):
    """From base·start_factor to base·end_factor in `total_iters` steps: a warm-up."""

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        part = min(step, self.total_iters) / self.total_iters
        return base * (self.start_factor + (self.end_factor - self.start_factor) * part)


class PolynomialLR(LRScheduler):
    """base·(1 - step / total_iters)^power."""

    def __init__(
        self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        left = 1 - min(step, self.total_iters) / self.total_iters
        return base * math.pow(left, self.power)


class CosineAnnealingLR(LRScheduler):
    """From base down to `eta_min` along half a cosine of `T_max` steps."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.length, self.eta_min = T_max, eta_min
        self.floor = eta_min
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        return _cosine(base, self.eta_min, step / self.length)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Half cosines one after the other, each `T_mult` times as long as the one before."""

    chained = False

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 < 1 or T_mult < 1:
            raise ArgumentError(f"T_0 and T_mult are at least 1, got {T_0} and {T_mult}")
        self.first, self.growth, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        length = self.first
        while step >= length:
            step -= length
            length *= self.growth
        return _cosine(base, self.eta_min, step / length)


class CyclicLR(LRScheduler):
    """Up from `base_lr` to `max_lr` and down again, in straight lines, over and over.

    How high a cycle goes depends on `mode`: always to the top ("triangular"), half as high each
    time ("triangular2"), or as high as gamma^step ("exp_range"); or on `scale_fn`, a function of
    the number of the cycle, or of the step if `scale_mode` is "iterations". Momentum stays as it
    is: it is compiled into the step.

    Raises `ArgumentError` for `cycle_momentum` and for unknown modes.
    """

    chained = False

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | Sequence[float],
        max_lr: float | Sequence[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = False,
        last_epoch: int = -1,
    ) -> None:
        scales: dict[str, tuple[str, Callable[[float], float]]] = {
            "triangular": ("cycle", lambda cycle: 1.0),
            "triangular2": ("cycle", lambda cycle: 2.0 ** (1 - cycle)),
            "exp_range": ("iterations", lambda step: gamma**step),
        }
        if mode not in scales and scale_fn is None:
            raise ArgumentError(f"CyclicLR: mode is one of {', '.join(scales)}, not {mode!r}")
        _refuse_momentum("CyclicLR", cycle_momentum)
        counted, self.scale = scales[mode] if scale_fn is None else (scale_mode, scale_fn)
        self.by_cycle = counted == "cycle"
        self.up = step_size_up
        self.length = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.peaks = _rates_for(optimizer, max_lr)
        if last_epoch == -1:
            _start(optimizer, _rates_for(optimizer, base_lr))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        cycle, place = divmod(self.last_epoch, self.length)
        down = self.length - self.up
        part = place / self.up if place <= self.up else (self.length - place) / down
        part *= self.scale(cycle + 1 if self.by_cycle else self.last_epoch)
        pairs = zip(self.base_lrs, self.peaks, strict=True)
        return [_straight(base, peak, part) for base, peak in pairs]


class OneCycleLR(LRScheduler):
    """Up from max_lr / div_factor to `max_lr`, then down to a fraction of where it began.

    There are `total_steps`, or `epochs`·`steps_per_epoch`. Momentum stays as it is: it is compiled
    into the step.

    Raises `ArgumentError` for `cycle_momentum`, for no number of steps and unknown strategies.
    """

    chained = False

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: float | Sequence[float],
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = False,
        *,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(
                f"anneal_strategy is 'cos' or 'linear', not {anneal_strategy!r}"
            )
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ArgumentError("OneCycleLR needs total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        _refuse_momentum("OneCycleLR", cycle_momentum)
        if last_epoch == -1:
            _start(optimizer, _rates_for(optimizer, max_lr))
        up = pct_start * total_steps - 1
        end = total_steps - 1
        start, low = 1 / div_factor, 1 / div_factor / final_div_factor
        if three_phase:
            back = 2 * pct_start * total_steps - 2
            self.phases = [(up, start, 1.0), (back, 1.0, start), (end, start, low)]
        else:
            self.phases = [(up, start, 1.0), (end, 1.0, low)]
        self.total_steps = total_steps
        self.anneal = _cosine if anneal_strategy == "cos" else _straight
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        if step >= self.total_steps:
            raise ArgumentError(
                f"the cycle has {self.total_steps} steps, and this would be one more"
            )
        begin = 0.0
        for end, first, last in self.phases:
            if step <= end or end == self.phases[-1][0]:
                return self.anneal(base * first, base * last, (step - begin) / (end - begin))
            begin = end
        raise AssertionError("the last phase covers the rest")


class SequentialLR:
    """One schedule after the other, changing over at the milestones."""

    def __init__(
        self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: Sequence[int]
    ) -> None:
        if len(milestones) != len(schedulers) - 1:
            raise ArgumentError(
                f"{len(schedulers)} schedules change over {len(schedulers) - 1} times, "
                f"and there are {len(milestones)} milestones"
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
        """Go one step on."""
        self.last_epoch += 1
        number = bisect_right(self.milestones, self.last_epoch)
        if number and self.milestones[number - 1] == self.last_epoch:
            self.schedulers[number].restart()
        else:
            self.schedulers[number].step()

    def get_last_lr(self) -> list[float]:
        """The rate of each group now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules are."""
        parts = [scheduler.state_dict() for scheduler in self.schedulers]
        return {"last_epoch": self.last_epoch, "schedulers": parts}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        self.last_epoch = state["last_epoch"]
        now = bisect_right(self.milestones, self.last_epoch)
        order = [*[n for n in range(len(self.schedulers)) if n != now], now]  # the last one rules
        for number in order:
            self.schedulers[number].load_state_dict(state["schedulers"][number])


class ChainedScheduler:
    """Schedules that all take each step, one after the other: what they do is multiplied."""

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
        """Go one step on."""
        for scheduler in self.schedulers:
            scheduler.step()

    def get_last_lr(self) -> list[float]:
        """The rate of each group now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """Where the schedules are."""
        return {"schedulers": [scheduler.state_dict() for scheduler in self.schedulers]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        for scheduler, part in zip(self.schedulers, state["schedulers"], strict=True):
            scheduler.load_state_dict(part)


class ReduceLROnPlateau:
    """The rate times `factor` whenever a measure has not got better for `patience` steps."""

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
                "mode is 'min' or 'max' and threshold_mode 'rel' or 'abs', got "
                f"{mode!r} and {threshold_mode!r}"
            )
        if factor >= 1:
            raise ArgumentError(f"factor must lie below 1, got {factor}")
        self.optimizer = optimizer
        self.sign = 1.0 if mode == "min" else -1.0
        self.factor, self.patience, self.cooldown = factor, patience, cooldown
        self.threshold, self.is_relative = threshold, threshold_mode == "rel"
        self.min_lr, self.eps = min_lr, eps
        self.best = math.inf
        self.bad_steps = 0
        self.resting = 0

    def step(self, metrics: Any) -> None:
        """Take note of the measure."""
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
        """The rate of each group now."""
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self) -> dict[str, Any]:
        """What has been seen of the measure, and the rates."""
        return {
            "best": self.best, "bad_steps": self.bad_steps, "resting": self.resting,
            "rates": self.get_last_lr(),
        }  # fmt: skip

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state_dict` gave."""
        self.best, self.bad_steps = state["best"], state["bad_steps"]
        self.resting = state["resting"]
        for group, rate in zip(self.optimizer.param_groups, state["rates"], strict=True):
            group["lr"] = rate


def _rates_for(optimizer: Optimizer, rates: float | Sequence[float]) -> list[float]:
    """A rate for each group, of one for all or one each."""
    count = len(optimizer.param_groups)
    given = list(rates) if isinstance(rates, Sequence) else [rates] * count
    if len(given) != count:
        raise ArgumentError(f"{len(given)} rates are given for {count} groups of parameters")
    return given


def _start(optimizer: Optimizer, rates: Sequence[float]) -> None:
    """Let groups start with other rates than they have."""
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = group["initial_lr"] = rate


def _refuse_momentum(name: str, cycle_momentum: bool) -> None:
    if cycle_momentum:
        raise ArgumentError(
            f"{name} changes the learning rate alone: momentum is compiled into the step; give "
            "cycle_momentum=False"
        )


def _cosine(first: float, last: float, part: float) -> float:
    return last + (first - last) * (1 + math.cos(math.pi * part)) / 2


def _straight(first: float, last: float, part: float) -> float:
    return first + (last - first) * part
