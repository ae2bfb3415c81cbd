"""Rates that go up and down: cosines, cycles, one cycle."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.schedules.schedule import LRScheduler


class CosineAnnealingLR(LRScheduler):
    """Half a cosine of `T_max` steps, from the base rate down to `eta_min`."""

    def __init__(
        self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        self.floor = eta_min
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        return _cosine(base, self.eta_min, step / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Repeated half cosines from the base rate to `eta_min`.

    The first one takes `T_0` steps, and each later one `T_mult` times as many as the one before.
    Raises `ArgumentError` if `T_0` or `T_mult` is below 1.
    """

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
            raise ArgumentError(f"T_0 and T_mult must be at least 1, got {T_0} and {T_mult}")
        self.T_0, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def rate_at(self, step: int, base: float) -> float:
        length = self.T_0
        while step >= length:
            step -= length
            length *= self.T_mult
        return _cosine(base, self.eta_min, step / length)


class CyclicLR(LRScheduler):
    """Cycles of straight lines, from `base_lr` up to `max_lr` and down again.

    `mode` scales the height of a cycle: always 1 ("triangular"), half of the cycle before
    ("triangular2"), or gamma^step ("exp_range"). `scale_fn` scales it in another way; it is a
    function of the cycle's number, or of the step if `scale_mode` is "iterations". With
    `cycle_momentum`, momentum moves the other way, from `max_momentum` down to `base_momentum`.

    Raises `ArgumentError` for an unknown mode, and for `cycle_momentum` if the optimizer has no
    momentum.
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
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.8,
        max_momentum: float | Sequence[float] = 0.9,
        last_epoch: int = -1,
    ) -> None:
        scales: dict[str, tuple[str, Callable[[float], float]]] = {
            "triangular": ("cycle", lambda cycle: 1.0),
            "triangular2": ("cycle", lambda cycle: 2.0 ** (1 - cycle)),
            "exp_range": ("iterations", lambda step: gamma**step),
        }
        if mode not in scales and scale_fn is None:
            raise ArgumentError(f"CyclicLR: mode must be one of {', '.join(scales)}, not {mode!r}")
        momenta = (base_momentum, max_momentum)
        self.momenta = _momenta_for(optimizer, *momenta) if cycle_momentum else None
        counted, self.scale = scales[mode] if scale_fn is None else (scale_mode, scale_fn)
        self.by_cycle = counted == "cycle"
        self.up = step_size_up
        self.length = step_size_up + (step_size_up if step_size_down is None else step_size_down)
        self.max_lrs = _rates_for(optimizer, max_lr)
        if last_epoch == -1:
            _start(optimizer, _rates_for(optimizer, base_lr))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        cycle, place = divmod(self.last_epoch, self.length)
        down = self.length - self.up
        part = place / self.up if place <= self.up else (self.length - place) / down
        part *= self.scale(cycle + 1 if self.by_cycle else self.last_epoch)
        if self.momenta is not None:
            _set_momenta(self.optimizer, self.momenta, _straight, 0, 1, part)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [_straight(base, peak, part) for base, peak in pairs]


class OneCycleLR(LRScheduler):
    """One cycle: from `max_lr / div_factor` up to `max_lr`, then down to a fraction of the start.

    The cycle has `total_steps` steps, or `epochs * steps_per_epoch`. With `cycle_momentum`,
    momentum moves the other way, from `max_momentum` down to `base_momentum` and back. A captured
    step is traced anew for each momentum; `cycle_momentum=False` avoids that.

    Raises `ArgumentError` without a number of steps, for an unknown strategy, and for
    `cycle_momentum` if the optimizer has no momentum.
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
        cycle_momentum: bool = True,
        base_momentum: float | Sequence[float] = 0.85,
        max_momentum: float | Sequence[float] = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentError(
                f"anneal_strategy must be 'cos' or 'linear', not {anneal_strategy!r}"
            )
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ArgumentError("OneCycleLR needs total_steps, or epochs and steps_per_epoch")
            total_steps = epochs * steps_per_epoch
        momenta = (base_momentum, max_momentum)
        self.momenta = _momenta_for(optimizer, *momenta) if cycle_momentum else None
        if last_epoch == -1:
            _start(optimizer, _rates_for(optimizer, max_lr))
        up = pct_start * total_steps - 1
        end = total_steps - 1
        start, low = 1 / div_factor, 1 / div_factor / final_div_factor
        if three_phase:
            back = 2 * pct_start * total_steps - 2
            self.phases = [
                _Phase(up, start, 1.0, 0, 1), _Phase(back, 1.0, start, 1, 0),
                _Phase(end, start, low, 0, 0),
            ]  # fmt: skip
        else:
            self.phases = [_Phase(up, start, 1.0, 0, 1), _Phase(end, 1.0, low, 1, 0)]
        self.total_steps = total_steps
        self.anneal = _cosine if anneal_strategy == "cos" else _straight
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self.last_epoch > self.total_steps:
            raise ArgumentError(
                f"the cycle has {self.total_steps} steps, and all of them are done"
            )
        phase, part = self._place()
        if self.momenta is not None:
            ends = phase.momentum, phase.last_momentum
            _set_momenta(self.optimizer, self.momenta, self.anneal, *ends, part)
        return [
            self.anneal(base * phase.rate, base * phase.last_rate, part) for base in self.base_lrs
        ]

    def _place(self) -> tuple[_Phase, float]:
        """The phase of this step, and the share of the phase that is over."""
        begin = 0.0
        for phase in self.phases:
            if self.last_epoch <= phase.end or phase is self.phases[-1]:
                return phase, (self.last_epoch - begin) / (phase.end - begin)
            begin = phase.end
        raise AssertionError("the last phase covers the rest")


class _Phase(NamedTuple):
    """A part of a cycle, up to the step `end`.

    The rates at its two ends are shares of the highest rate. The momenta there are 0 for the
    largest one and 1 for the smallest.
    """

    end: float
    rate: float
    last_rate: float
    momentum: int
    last_momentum: int


def _momenta_for(
    optimizer: Optimizer, base: float | Sequence[float], largest: float | Sequence[float]
) -> list[tuple[float, float]]:
    """The largest and the smallest momentum of each group (or first of its `betas`)."""
    if not {"momentum", "betas"} & optimizer.defaults.keys():
        raise ArgumentError(
            f"{type(optimizer).__name__} has no momentum to change with the rate; "
            "give cycle_momentum=False"
        )
    return list(zip(_rates_for(optimizer, largest), _rates_for(optimizer, base), strict=True))


def _set_momenta(
    optimizer: Optimizer,
    momenta: Sequence[tuple[float, float]],
    between: Callable[[float, float, float], float],
    first: int,
    last: int,
    part: float,
) -> None:
    """Set the momentum of every group to the value at `part` of the way from `first` to `last`."""
    for group, ends in zip(optimizer.param_groups, momenta, strict=True):
        value = between(ends[first], ends[last], part)
        if "betas" in group:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


def _rates_for(optimizer: Optimizer, rates: float | Sequence[float]) -> list[float]:
    """A rate for each group, from one rate for all groups or a sequence of rates."""
    count = len(optimizer.param_groups)
    given = list(rates) if isinstance(rates, Sequence) else [rates] * count
    if len(given) != count:
        raise ArgumentError(f"got {len(given)} rates for {count} groups of parameters")
    return given


def _start(optimizer: Optimizer, rates: Sequence[float]) -> None:
    """Set the first rates of the groups."""
    for group, rate in zip(optimizer.param_groups, rates, strict=True):
        group["lr"] = group["initial_lr"] = rate


def _cosine(first: float, last: float, part: float) -> float:
    return last + (first - last) * (1 + math.cos(math.pi * part)) / 2


def _straight(first: float, last: float, part: float) -> float:
    return first + (last - first) * part
