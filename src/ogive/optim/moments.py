"""The parts that Adam and its relatives share: the averages of the gradient and of its square, and
weight decay, coupled or decoupled."""

from __future__ import annotations

from ogive.optim.steps.parameter_groups import Group, State
from ogive.tensor.outlined import outlined
from ogive.tensor.tensor import Tensor


def decayed(
    parameter: Tensor, gradient: Tensor, group: Group, decoupled: bool
) -> tuple[Tensor, Tensor]:
    """The parameter and the gradient after weight decay.

    `decoupled`: the decay scales the parameter. Otherwise it is added to the gradient.
    """
    if decoupled:
        return parameter * (1 - group.rate * group["weight_decay"]), gradient
    if group["weight_decay"]:
        return parameter, gradient + parameter * group["weight_decay"]
    return parameter, gradient


def averaged(gradient: Tensor, state: State, group: Group) -> tuple[Tensor, Tensor]:
    """The averages of the gradient and of its square, after this gradient is added to them."""
    first, second = group["betas"]
    mean, square = state["exp_avg"], state["exp_avg_sq"]
    mean.assign(_average(mean, gradient, float(1 - first)))
    square.assign(_average_square(square, gradient, float(second)))
    return mean, square


@outlined
def _average(mean: Tensor, gradient: Tensor, weight: float) -> Tensor:
    return mean.lerp(gradient, weight)


@outlined
def _average_square(square: Tensor, gradient: Tensor, decay: float) -> Tensor:
    average: Tensor = square * decay + gradient * gradient * (1 - decay)
    return average
