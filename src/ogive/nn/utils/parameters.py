"""Operations on all parameters of a model: bounds for gradients, one vector for all values."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ogive.errors import ArgumentError, ShapeError
from ogive.tensor.creation.constructors import zeros
from ogive.tensor.memory.data_attribute import replace_value
from ogive.tensor.movement.joining import cat, stack
from ogive.tensor.tensor import Tensor


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of all tensors together, as one vector. `foreach` has no effect.

    >>> from ogive.nn import utils
    >>> utils.get_total_norm([Tensor([3.0]), Tensor([4.0])]).item()
    5.0

    With `error_if_nonfinite`, the norm is computed at once. Raises `ArgumentError` if it is then
    infinite or NaN.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return zeros()
    total = stack([tensor.norm(norm_type) for tensor in given]).norm(norm_type)
    if error_if_nonfinite and not math.isfinite(float(total)):
        raise ArgumentError(f"the norm of order {norm_type} of all gradients is {float(total)}")
    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale all gradients, whose norm is `total_norm`, so that their norm is at most `max_norm`.

    >>> from ogive.nn import utils
    >>> p = Tensor([3.0], requires_grad=True)
    >>> p.sum().backward()
    >>> utils.clip_grads_with_norm_([p], 1.0, Tensor(2.0))
    >>> round(p.grad.item(), 3)
    0.5
    """
    scale = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in _gradients(parameters):
        gradient.detach().mul_(scale)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale all gradients by one factor so that their common norm is at most `max_norm`.

    Returns the norm before scaling: √(Σ g²), or the norm of order `norm_type`. The other arguments
    are those of `get_total_norm`.

    >>> from ogive.nn import utils
    >>> p = Tensor([3.0, 4.0], requires_grad=True)
    >>> (p * p / 2).sum().backward()
    >>> utils.clip_grad_norm_([p], 1.0).item(), [round(x, 3) for x in p.grad.tolist()]
    (5.0, [0.6, 0.8])
    """
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(given, max_norm, total)
    return total


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Clip each entry of each gradient to ±`clip_value`."""
    if clip_value < 0:
        raise ArgumentError(f"clip_grad_value_: the bound must not be negative, got {clip_value}")
    for gradient in _gradients(parameters):
        gradient.detach().clamp_(-clip_value, clip_value)


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """The gradients of the parameters that have one."""
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [gradient for parameter in given if (gradient := parameter.grad) is not None]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate all parameters into one vector.

    >>> from ogive.nn import utils
    >>> utils.parameters_to_vector([ogive.ones(2, 2), ogive.zeros(3)]).shape
    (7,)
    """
    return cat([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vector: Tensor, parameters: Iterable[Tensor]) -> None:
    """Assign the values of a vector to parameters, one parameter after the other.

    Raises `ShapeError`, and changes nothing, if the vector has another number of values.
    """
    given = list(parameters)
    sizes = [math.prod(parameter.shape) for parameter in given]
    if vector.shape != (sum(sizes),):
        raise ShapeError(
            f"vector_to_parameters: the parameters have {sum(sizes)} values, but the vector has "
            f"the shape {vector.shape}"
        )
    for parameter, part in zip(given, vector.split(sizes), strict=True):
        replace_value(parameter, part.reshape(parameter.shape).cast(parameter.dtype))
