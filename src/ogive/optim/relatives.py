"""Relatives of Adam: Adamax, NAdam and RAdam."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.compiler.ir import dtype as dtypes
from ogive.optim.moments import averaged, decayed
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import ones, zeros_like
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class Adamax(Optimizer):
    """m ← β₁·m + (1 - β₁)·g, u ← max(β₂·u, |g| + eps), p ← p - lr / (1 - β₁ᵗ)·m / u."""

    is_elementwise = True
    execution = ("foreach", "differentiable", "capturable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {"exp_avg": zeros_like(parameter), "exp_inf": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        first, second = group["betas"]
        parameter, gradient = decayed(parameter, gradient, group, decoupled=False)
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.assign(mean.lerp(gradient, 1 - first))
        largest.assign((largest * second).maximum(gradient.abs() + group["eps"]))
        rate = group.rate / (1 - first ** state["step"])
        stepped: Tensor = parameter - mean / largest * rate
        return stepped


class NAdam(Optimizer):
    """Adam with Nesterov momentum: this step already uses the momentum μ of the next one.

    p ← p - lr·((1 - μₜ) / (1 - Πμ)·g + μₜ₊₁ / (1 - μₜ₊₁·Πμ)·m) / (√v̂ + eps).
    """

    is_elementwise = True
    execution = ("foreach", "capturable", "differentiable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "momentum_decay": momentum_decay, "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        averages = {name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}
        return {**averages, "mu_product": created(ones, dtype=dtypes.float64)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        first, second = group["betas"]
        decoupled = group["decoupled_weight_decay"]
        parameter, gradient = decayed(parameter, gradient, group, decoupled)
        mean, square = averaged(gradient, state, group)
        step, product = state["step"], state["mu_product"]
        now, after = [
            (1 - 0.96 ** (time * group["momentum_decay"]) * 0.5) * first
            for time in (step, step + 1)
        ]
        product.assign(product * now)
        deviation = (square / (1 - second**step)).sqrt() + group["eps"]
        by_gradient = group.rate * (1 - now) / (1 - product)
        by_mean = group.rate * after / (1 - product * after)
        stepped: Tensor = parameter - (gradient * by_gradient + mean * by_mean) / deviation
        return stepped


class RAdam(Optimizer):
    """Adam whose first steps do not divide by √v̂, because v is still a poor estimate."""

    is_elementwise = True
    execution = ("foreach", "capturable", "differentiable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {name: zeros_like(parameter) for name in ("exp_avg", "exp_avg_sq")}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        first, second = group["betas"]
        decoupled = group["decoupled_weight_decay"]
        parameter, gradient = decayed(parameter, gradient, group, decoupled)
        mean, square = averaged(gradient, state, group)
        step = state["step"]
        most = 2 / (1 - second) - 1
        known = most - step * 2 * second**step / (1 - second**step)
        scale = (known - 4) * (known - 2) / known * (most / ((most - 4) * (most - 2)))
        rate = group.rate / (1 - first**step)
        by_deviation = (scale * (1 - second**step)).clamp(min=0).sqrt() * rate
        adaptive = mean / (square.sqrt() + group["eps"]) * by_deviation
        stepped: Tensor = parameter - where(known > 5, adaptive, mean * rate)
        return stepped
