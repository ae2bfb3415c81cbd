"""Gradients kept within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ogive.tensor.creation import zeros
from ogive.tensor.joining import stack
from ogive.tensor.tensor import Tensor


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scale all gradients by one factor so that their common norm is at most `max_norm`.

    Returns the norm as it was: √(Σ g²) over all of them, or the `norm_type`-th.

    >>> p = Tensor([3.0, 4.0], requires_grad=True)
    >>> (p * p / 2).sum().backward()
    >>> clip_grad_norm_([p], 1.0).item(), [round(x, 3) for x in p.grad.tolist()]
    (5.0, [0.6, 0.8])
    """
    chosen = _with_gradients(parameters)
    if not chosen:
        return zeros()
    total = stack([gradient.norm(norm_type) for _, gradient in chosen]).norm(norm_type)
    scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
    for parameter, gradient in chosen:
        parameter.grad = gradient * scale
    return total


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float) -> None:
    """Keep each entry of each gradient within ±`clip_value`."""
    bound = math.fabs(clip_value)
    for parameter, gradient in _with_gradients(parameters):
        parameter.grad = gradient.clamp(-bound, bound)


def _with_gradients(parameters: Tensor | Iterable[Tensor]) -> list[tuple[Tensor, Tensor]]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [(p, gradient) for p in given if (gradient := p.grad) is not None]
