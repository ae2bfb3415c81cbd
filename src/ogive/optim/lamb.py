"""LAMB: Adam's step for large batches, scaled layer by layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.optim.moments import averaged
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class LAMB(Optimizer):
    """u = m̂ / (√v̂ + eps) + weight_decay·p, p ← p - lr·(‖p‖ / ‖u‖)·u.

    If a norm is zero, the ratio is 1.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-6,
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
        return {"exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        first, second = group["betas"]
        mean, square = averaged(gradient, state, group)
        unbiased_mean = mean / (1 - first**state["step"])
        unbiased_square = square / (1 - second**state["step"])
        step = unbiased_mean / (unbiased_square.sqrt() + group["eps"])
        step = step + parameter * group["weight_decay"]
        own, other = parameter.square().sum().sqrt(), step.square().sum().sqrt()
        ratio = where(own.gt(0) & other.gt(0), own / other, 1.0)
        stepped: Tensor = parameter - step * ratio * group.rate
        return stepped
