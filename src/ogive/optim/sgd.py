"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class SGD(Optimizer):
    """p ← p - lr·g; with momentum, b ← momentum·b + (1 - dampening)·g takes the place of g.

    In the first step, b is g. With `nesterov`, g + momentum·b takes the place of g.
    """

    is_elementwise = True
    execution = ("foreach", "differentiable", "fused")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        if nesterov and (momentum <= 0 or dampening):
            raise ArgumentError(
                "SGD: nesterov needs a momentum and no dampening, got "
                f"momentum={momentum}, dampening={dampening}"
            )
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening,
            "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {"momentum_buffer": zeros_like(parameter)} if group["momentum"] else {}

    def grow_state(
        self, parameter: Tensor, gradient: Tensor, state: State, group: Mapping[str, Any]
    ) -> State:
        """The momentum buffer, if momentum was turned on after the first step.

        Its value makes this step like a first one, whose b is g.
        """
        if not group["momentum"] or "momentum_buffer" in state:
            return {}
        if not group["dampening"]:
            return {"momentum_buffer": zeros_like(parameter)}
        decayed = gradient + parameter * group["weight_decay"]
        return {"momentum_buffer": decayed * (group["dampening"] / group["momentum"])}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        momentum = group["momentum"]
        if group["weight_decay"]:
            gradient = gradient + parameter * group["weight_decay"]
        if momentum:
            buffer = state["momentum_buffer"]
            moved = buffer * momentum + gradient * (1 - group["dampening"])
            if group["dampening"]:
                moved = where(state["step"].eq(1), gradient, moved)
            buffer.assign(moved)
            gradient = gradient + buffer * momentum if group["nesterov"] else buffer
        return parameter - gradient * group.rate
