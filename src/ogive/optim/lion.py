"""Lion: steps of equal size, by the sign of an average of gradients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.tensor import Tensor


class Lion(Optimizer):
    """p ← (1 - lr·weight_decay)·p - lr·sign(β₁·m + (1 - β₁)·g), m ← β₂·m + (1 - β₂)·g."""

    is_elementwise = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.99),
        weight_decay: float = 0,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "betas": betas, "weight_decay": weight_decay, "maximize": maximize
        }
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {"exp_avg": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        first, second = group["betas"]
        mean = state["exp_avg"]
        direction: Tensor = (mean * first + gradient * (1 - first)).sign()
        mean.assign(mean * second + gradient * (1 - second))
        kept: Tensor = parameter * (1 - group.rate * group["weight_decay"])
        return kept - direction * group.rate
