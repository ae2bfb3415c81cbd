"""Carry out steps of optimizers over eager parameters at once.

The commonest updates are written for arrays, in float32 where these are in half precision; the
others are the optimizer's own, whose tensors are eager as well. If anything in a step is not eager
and cannot be, the whole step is compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy

from ogive.eager.forms import is_captured
from ogive.eager.from_plain import take_up
from ogive.eager.half_precision import widen
from ogive.eager.writing import replace
from ogive.optim.adagrad import Adagrad, RMSprop
from ogive.optim.adam import Adam
from ogive.optim.optimizer import Optimizer
from ogive.optim.sgd import SGD
from ogive.optim.steps.parameter_groups import Group
from ogive.optim.steps.state_parts import Whole
from ogive.tensor.core import Core
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.tensor import Tensor

Arrays = dict[str, Any]
Update = Callable[[Any, Any, Arrays, float, Group], Any]


def step_at_once(optimizer: Optimizer, skipped: Any, gradients: list[Any]) -> bool:
    """Change all parameters that have a gradient, unless `skipped` is true.

    Returns False, and changes nothing, if the step must be compiled.
    """
    if is_captured() or type(optimizer._parts) is not Whole:
        return False
    if skipped is not None and not (isinstance(skipped, Core) and skipped.is_eager):
        return False
    if not all(_is_ready(optimizer, *pair) for pair in _pairs(optimizer, gradients)):
        return False
    if skipped is not None and bool(skipped.value):
        return True
    update = UPDATES.get(type(optimizer).update)
    if update is None or not _has_grown(optimizer):
        changed = optimizer._assign(None, gradients)
        Tensor.realize_batch([tensor for tensor in changed if not tensor.is_eager])
    else:
        _change(optimizer, gradients, update)
    return True


def _pairs(optimizer: Optimizer, gradients: list[Any]) -> list[tuple[Any, Any]]:
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    pairs = zip(parameters, gradients, strict=True)
    return [(parameter, given) for parameter, given in pairs if given is not None]


def _is_ready(optimizer: Optimizer, parameter: Any, gradient: Any) -> bool:
    """Whether all tensors of a parameter's update are eager, or have become so."""
    if not parameter.is_eager or not gradient.is_eager or gradient.record is not None:
        return False
    own = parameter.value
    if own.dtype != gradient.value.dtype or allowance.is_beyond(own.size):
        return False
    rest = (optimizer.clocks.of(parameter), *optimizer.state[id(parameter)].values())
    return all(tensor.is_eager or take_up(tensor) for tensor in rest)


def _has_grown(optimizer: Optimizer) -> bool:
    """Whether the state is known to have every tensor that the settings need."""
    growth = type(optimizer).grow_state
    if growth is Optimizer.grow_state:
        return True
    states = [
        optimizer.state[id(parameter)]
        for group in optimizer.param_groups
        for parameter in group["params"]
        if growth is not SGD.grow_state or group["momentum"]
    ]
    return growth is SGD.grow_state and all("momentum_buffer" in own for own in states)


def _change(optimizer: Optimizer, gradients: list[Any], update: Update) -> None:
    remaining = iter(gradients)
    for group in optimizer.param_groups:
        pairs = [(parameter, next(remaining)) for parameter in group["params"]]
        moving = [(parameter, given) for parameter, given in pairs if given is not None]
        resting = [parameter for parameter, given in pairs if given is None]
        optimizer.clocks.advance([parameter for parameter, _ in moving], resting)
        for parameter, given in moving:
            own = optimizer.state[id(parameter)]
            state = {name: widen(tensor.value) for name, tensor in own.items()}
            arrays = dict(state)
            gradient = widen(given.value)
            if group.get("maximize"):
                gradient = -gradient
            step = float(optimizer.clocks.of(parameter).value)
            changed = update(widen(parameter.value), gradient, arrays, step, group)
            for name, tensor in own.items():
                if arrays[name] is not state[name]:
                    replace(tensor, arrays[name])
            replace(parameter, changed)


# Updates. Each gives the new value of a parameter, and replaces the arrays of its state.


def _sgd(p: Any, g: Any, state: Arrays, step: float, group: Group) -> Any:
    momentum, decay, dampening = group["momentum"], group["weight_decay"], group["dampening"]
    if decay:
        g = g + p * decay
    if momentum:
        is_first = dampening and step == 1
        moved = g.copy() if is_first else state["momentum_buffer"] * momentum + g * (1 - dampening)
        state["momentum_buffer"] = moved
        g = g + moved * momentum if group["nesterov"] else moved
    return p - g * group["lr"]


def _adam(p: Any, g: Any, state: Arrays, step: float, group: Group) -> Any:
    (first, second), lr, decay = group["betas"], group["lr"], group["weight_decay"]
    if decay and group["decoupled_weight_decay"]:
        p = p * (1 - lr * decay)
    elif decay:
        g = g + p * decay
    mean, square = state["exp_avg"], state["exp_avg_sq"]
    state["exp_avg"] = mean = mean + (g - mean) * (1 - first)
    state["exp_avg_sq"] = square = square * second + g * g * (1 - second)
    if group["amsgrad"]:
        state["max_exp_avg_sq"] = square = numpy.maximum(state["max_exp_avg_sq"], square)
    deviation = numpy.sqrt(square) / math.sqrt(1 - second**step) + group["eps"]
    return p - mean / deviation * (lr / (1 - first**step))


def _adagrad(p: Any, g: Any, state: Arrays, step: float, group: Group) -> Any:
    if group["weight_decay"]:
        g = g + p * group["weight_decay"]
    state["sum"] = total = state["sum"] + g * g
    rate = group["lr"] / (1 + (step - 1) * group["lr_decay"])
    return p - g / (numpy.sqrt(total) + group["eps"]) * rate


def _rmsprop(p: Any, g: Any, state: Arrays, step: float, group: Group) -> Any:
    alpha = group["alpha"]
    if group["weight_decay"]:
        g = g + p * group["weight_decay"]
    state["square_avg"] = variance = state["square_avg"] * alpha + g * g * (1 - alpha)
    if group["centered"]:
        mean = state["grad_avg"]
        state["grad_avg"] = mean = mean + (g - mean) * (1 - alpha)
        variance = variance - mean * mean
    move = g / (numpy.sqrt(variance) + group["eps"])
    if group["momentum"]:
        state["momentum_buffer"] = move = state["momentum_buffer"] * group["momentum"] + move
    return p - move * group["lr"]


UPDATES: dict[Any, Update] = {
    SGD.update: _sgd, Adam.update: _adam, Adagrad.update: _adagrad, RMSprop.update: _rmsprop,
}  # fmt: skip
"""The update of arrays for each optimizer's update of tensors."""

CALLS = {Optimizer.step_unless: step_at_once}
"""The eager versions of functions, which these call first."""
