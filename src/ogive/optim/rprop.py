"""Rprop: steps whose size depends only on the signs of gradients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import full_like, zeros_like
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class Rprop(Optimizer):
    """p ← p - s·sign(g), where each s grows while its gradient keeps its sign.

    Where the gradient has the same sign as before, s ← s·η⁺. Where the sign has changed, s ← s·η⁻
    and the element makes no step. `lr` is the first s, and `step_sizes` are its bounds. Rprop is
    meant for gradients of all data, not of batches.

    >>> p = Tensor([1.0, -2.0], requires_grad=True)
    >>> optimizer = ogive.optim.Rprop([p], lr=0.5)
    >>> p.square().sum().backward()
    >>> optimizer.step()
    >>> p.tolist()
    [0.5, -1.5]

    Raises `ArgumentError` unless 0 < η⁻ < 1 < η⁺.
    """

    is_elementwise = True
    execution = ("foreach", "differentiable", "capturable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        if not 0 < etas[0] < 1 < etas[1]:
            raise ArgumentError(f"Rprop: etas must be 0 < η⁻ < 1 < η⁺, got {etas}")
        defaults = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {"prev": zeros_like(parameter), "step_size": full_like(parameter, group["lr"])}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        shrink, grow = group["etas"]
        before, size = state["prev"], state["step_size"]
        # Before the first step, a schedule may have changed the rate.
        size.assign(where(state["step"] == 1, group.rate, size))
        agreement = gradient * before
        changed = where(agreement > 0, size * grow, where(agreement < 0, size * shrink, size))
        size.assign(changed.clamp(*group["step_sizes"]))
        followed = where(agreement < 0, 0.0, gradient)
        before.assign(followed)
        stepped: Tensor = parameter - followed.sign() * size
        return stepped
