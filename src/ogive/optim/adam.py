"""Adam, and AdamW, which applies weight decay beside the gradient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.optim.moments import averaged, decayed
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.outlined import outlined
from ogive.tensor.tensor import Tensor


class Adam(Optimizer):
    """m ← β₁·m + (1 - β₁)·g, v ← β₂·v + (1 - β₂)·g², p ← p - lr·m̂ / (√v̂ + eps).

    m̂ and v̂ are m and v, corrected for their start at zero. With `amsgrad`, v̂ never decreases.
    With `decoupled_weight_decay`, the optimizer is `AdamW`.
    """

    is_elementwise = True
    execution = ("foreach", "capturable", "differentiable", "fused")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        decoupled_weight_decay: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay,
            "amsgrad": amsgrad, "maximize": maximize,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        return {name: zeros_like(parameter) for name in names}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        first, second = group["betas"]
        parameter, gradient = decayed(
            parameter, gradient, group, group["decoupled_weight_decay"]
        )
        mean, square = averaged(gradient, state, group)
        if group["amsgrad"]:
            largest = state["max_exp_avg_sq"]
            square = largest.assign(largest.maximum(square))
        numbers = (float(first), float(second), float(group["eps"]))
        return _moved(parameter, mean, square, group.rate, state["step"], *numbers)


@outlined
def _moved(
    parameter: Tensor,
    mean: Tensor,
    square: Tensor,
    rate: Tensor,
    step: Tensor,
    first: float,
    second: float,
    eps: float,
) -> Tensor:
    """The parameter after the step, from the averages of gradient and squared gradient."""
    step_size = rate / (1 - first**step)
    deviation = square.sqrt() / (1 - second**step).sqrt() + eps
    stepped: Tensor = parameter - mean / deviation * step_size
    return stepped


class AdamW(Adam):
    """Adam with decoupled weight decay: each step also does p ← p - lr·weight_decay·p."""

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad,
            maximize=maximize, decoupled_weight_decay=True, **execution,
        )  # fmt: skip
