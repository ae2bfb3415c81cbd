"""Training inside of a graph (ai.onnx.preview.training): gradients, and steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.autograd.transforms.function_gradients import grad
from ogive.onnx.call import Call, to_tensor
from ogive.onnx.table import Value, operator
from ogive.tensor.tensor import Tensor

DOMAIN = "ai.onnx.preview.training"


@operator("Gradient", domain=DOMAIN)
def differentiate(c: Call) -> Value:
    """The gradient of a value for others, through the nodes that lead from these to it."""
    names: list[str] = c.get("xs")
    walk = c.walk

    def value_at(*given: Tensor) -> Tensor:
        values = walk.again(dict(zip(names, given, strict=True)))
        return to_tensor(values[c.get("y")]).sum()

    places = tuple(range(len(names)))
    tensors = [to_tensor(walk.values[name]) for name in names]
    gradients: tuple[Tensor, ...] = grad(value_at, places)(*tensors)
    return gradients


def _each(c: Call, kinds: int, update: Callable[..., tuple[Tensor, ...]]) -> Value:
    """One update for each parameter; all inputs of a kind stand together, and so do results."""
    rate, step = c.tensor(0), c.tensor(1)
    count = (len(c) - 2) // kinds
    columns = [c.tensors()[2 + kind * count : 2 + (kind + 1) * count] for kind in range(kinds)]
    rows = [update(rate, step, *each) for each in zip(*columns, strict=True)]
    return tuple(value for column in zip(*rows, strict=True) for value in column)


@operator("Adagrad", domain=DOMAIN)
def adagrad(c: Call) -> Value:
    decay, epsilon = c.get("decay_factor", 0.0), c.get("epsilon", 0.0)
    norm = c.get("norm_coefficient", 0.0)

    def update(rate: Any, step: Any, x: Any, gradient: Any, sums: Any) -> tuple[Tensor, ...]:
        slope = x * norm + gradient
        total = sums + slope * slope
        slower = rate / (step * decay + 1)
        return (x - slope * slower / (total.sqrt() + epsilon)).cast(x.dtype), total

    return _each(c, 3, update)


@operator("Momentum", domain=DOMAIN)
def momentum(c: Call) -> Value:
    alpha, beta = c.get("alpha"), c.get("beta")
    norm, is_standard = c.get("norm_coefficient"), c.get("mode") == "standard"

    def update(rate: Any, step: Any, x: Any, gradient: Any, speed: Any) -> tuple[Tensor, ...]:
        slope = x * norm + gradient
        share = (rate * 0 + beta).where(step > 0, rate * 0 + 1)
        moved = speed * alpha + slope * share
        along = moved if is_standard else slope + moved * alpha
        return (x - along * rate).cast(x.dtype), moved.cast(speed.dtype)

    return _each(c, 3, update)


@operator("Adam", domain=DOMAIN)
def adam(c: Call) -> Value:
    alpha, beta = c.get("alpha", 0.9), c.get("beta", 0.999)
    epsilon, norm = c.get("epsilon", 0.0), c.get("norm_coefficient", 0.0)
    after = c.get("norm_coefficient_post", 0.0)

    def update(
        rate: Any, step: Any, x: Any, gradient: Any, mean: Any, square: Any
    ) -> tuple[Tensor, ...]:
        slope = x * norm + gradient
        mean = mean * alpha + slope * (1 - alpha)
        square = square * beta + slope * slope * (1 - beta)
        times = step.cast(x.dtype)
        first, second = (times * 0 + alpha).pow(times), (times * 0 + beta).pow(times)
        raised = (rate * (1 - second).sqrt() / (1 - first)).where(step > 0, rate)
        moved = x - mean / (square.sqrt() + epsilon) * raised
        return (moved * (1 - after)).cast(x.dtype), mean, square

    return _each(c, 4, update)
