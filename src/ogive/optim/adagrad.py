"""Optimizers that divide by the size of past gradients: Adagrad, RMSprop and Adadelta."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import full_like, zeros_like
from ogive.tensor.tensor import Tensor


class Adagrad(Optimizer):
    """s ← s + g², p ← p - lr / (1 + (t - 1)·lr_decay)·g / (√s + eps)."""

    is_elementwise = True
    execution = ("foreach", "differentiable", "fused")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "eps": eps,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {"sum": full_like(parameter, group["initial_accumulator_value"])}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        if group["weight_decay"]:
            gradient = gradient + parameter * group["weight_decay"]
        total = state["sum"]
        total.assign(total + gradient * gradient)
        rate = group.rate / (1 + (state["step"] - 1) * group["lr_decay"])
        stepped: Tensor = parameter - gradient / (total.sqrt() + group["eps"]) * rate
        return stepped


class RMSprop(Optimizer):
    """v ← α·v + (1 - α)·g², p ← p - lr·g / (√v + eps).

    `centered` subtracts the square of the mean gradient from v. `momentum` accumulates the steps.
    """

    is_elementwise = True
    execution = ("capturable", "foreach", "differentiable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay,
            "momentum": momentum, "centered": centered, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        names = ["square_avg"]
        names += ["momentum_buffer"] if group["momentum"] else []
        names += ["grad_avg"] if group["centered"] else []
        return {name: zeros_like(parameter) for name in names}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        alpha = group["alpha"]
        if group["weight_decay"]:
            gradient = gradient + parameter * group["weight_decay"]
        square = state["square_avg"]
        square.assign(square * alpha + gradient * gradient * (1 - alpha))
        variance = square
        if group["centered"]:
            mean = state["grad_avg"]
            mean.assign(mean.lerp(gradient, 1 - alpha))
            variance = square - mean * mean
        step = gradient / (variance.sqrt() + group["eps"])
        if group["momentum"]:
            buffer = state["momentum_buffer"]
            step = buffer.assign(buffer * group["momentum"] + step)
        stepped: Tensor = parameter - step * group.rate
        return stepped


class Adadelta(Optimizer):
    """v ← ρ·v + (1 - ρ)·g², δ ← √(d + eps) / √(v + eps)·g, d ← ρ·d + (1 - ρ)·δ², p ← p - lr·δ."""

    is_elementwise = True
    execution = ("capturable", "foreach", "differentiable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {"square_avg": zeros_like(parameter), "acc_delta": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        rho, eps = group["rho"], group["eps"]
        if group["weight_decay"]:
            gradient = gradient + parameter * group["weight_decay"]
        square, changes = state["square_avg"], state["acc_delta"]
        square.assign(square * rho + gradient * gradient * (1 - rho))
        delta = (changes + eps).sqrt() / (square + eps).sqrt() * gradient
        changes.assign(changes * rho + delta * delta * (1 - rho))
        stepped: Tensor = parameter - delta * group.rate
        return stepped
