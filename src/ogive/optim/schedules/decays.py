"""Rates by a function of the step, in steps, as a power, or along a line."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.schedules.schedule import LRScheduler


class LambdaLR(LRScheduler):
    """base·function(step), with one function for all groups or one function per group."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = _functions_for(optimizer, lr_lambda, "LambdaLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        pairs = zip(self.base_lrs, self.lr_lambdas, strict=True)
        return [base * function(self.last_epoch) for base, function in pairs]


class MultiplicativeLR(LRScheduler):
    """The previous rate times function(step), with functions as in `LambdaLR`."""

    def __init__(
        self,
        optimizer: Optimizer,
        lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = _functions_for(optimizer, lr_lambda, "MultiplicativeLR")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates = self.current_rates()
        if self.last_epoch == 0:
            return rates
        return [rate * f(self.last_epoch) for rate, f in zip(rates, self.lr_lambdas, strict=True)]


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
    """A line from base·start_factor to base·end_factor in `total_iters` steps: a warm-up."""

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


def _functions_for(
    optimizer: Optimizer,
    given: Callable[[int], float] | Sequence[Callable[[int], float]],
    name: str,
) -> list[Callable[[int], float]]:
    """A function for each group, from one for all groups or a sequence of functions."""
    count = len(optimizer.param_groups)
    functions = list(given) if isinstance(given, Sequence) else [given] * count
    if len(functions) != count:
        raise ArgumentError(f"{name}: {len(functions)} functions for {count} groups of parameters")
    return functions
