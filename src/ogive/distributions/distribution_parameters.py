"""Parameters of distributions: broadcasting, conversion, and bounds away from 0 and 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import ml_dtypes

from ogive.errors import ArgumentError
from ogive.tensor.method_functions import created
from ogive.tensor.movement.stacking import broadcast_tensors
from ogive.tensor.tensor import Tensor


class computed:
    """An attribute that is computed when it is first read, and kept: PyTorch's `lazy_property`."""

    def __init__(self, function: Callable[[Any], Tensor]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> computed: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Tensor: ...
    def __get__(self, instance: object | None, owner: type) -> computed | Tensor:
        if instance is None:
            return self
        value = instance.__dict__[self._function.__name__] = self._function(instance)
        return value


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Broadcast numbers and tensors to tensors of one shape. Numbers get the tensors' dtype."""
    for value in values:
        if not isinstance(value, Tensor | int | float):
            raise ArgumentError(
                "Input arguments must all be instances of Number or torch.Tensor, not "
                f"{type(value).__name__}"
            )
    given = [value for value in values if isinstance(value, Tensor)]
    dtype = given[0].dtype if given else None
    tensors = [
        value if isinstance(value, Tensor) else created(Tensor, float(value), dtype or "float32")
        for value in values
    ]
    return tuple(broadcast_tensors(*tensors))


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` axes."""
    return value.flatten(value.ndim - dim).sum(-1) if dim else value


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities from log-odds, or from logarithms along the last axis."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds, or logarithms, of probabilities, which are first clamped away from 0 and 1."""
    least = epsilon(probs)
    inside = probs.clamp(least, 1 - least)
    return inside.log() - (-inside).log1p() if is_binary else inside.log()


def epsilon(value: Tensor) -> float:
    """The distance from 1 to the next number, in a tensor's dtype."""
    return float(ml_dtypes.finfo(value.dtype.numpy).eps)


def smallest(value: Tensor) -> float:
    """The smallest normal number, in a tensor's dtype."""
    return float(ml_dtypes.finfo(value.dtype.numpy).smallest_normal)
