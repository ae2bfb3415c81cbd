"""Rates that go up and down: cosines, cycles, one cycle."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.schedules.schedule import LRScheduler


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
