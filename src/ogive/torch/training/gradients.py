"""`torch.autograd`: what there is besides gradients themselves."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from ogive.autograd import grad, gradcheck
from ogive.tensor.tensor import Tensor

__all__ = [
    "Variable", "backward", "detect_anomaly", "gradgradcheck", "set_detect_anomaly",
    "set_multithreading_enabled",
]  # fmt: skip


def Variable(data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """A tensor over the same values: PyTorch's name from before version 0.4."""
    return data.detach().requires_grad_() if requires_grad else data


def backward(
    tensors: Tensor | Sequence[Tensor],
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """The gradients of the sum of tensors, added to those of the leaves, or of the `inputs`."""
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    seeds = [grad_tensors] if isinstance(grad_tensors, Tensor) else grad_tensors
    for number, each in enumerate(given):
        seed = None if seeds is None else seeds[number]
        each.backward(seed, retain_graph, create_graph, inputs)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    **_: Any,
) -> bool:
    """Whether the gradients of a function's gradients are those that differences give.

    >>> x = ogive.torch.ones(2, dtype=ogive.torch.float64, requires_grad=True)
    >>> ogive.torch.autograd.gradgradcheck(lambda x: x ** 3, x)
    True
    """
    points = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    wanted = [number for number, each in enumerate(points) if each.requires_grad]

    def gradients(*given: Tensor) -> tuple[Tensor, ...]:
        made = func(*given)
        outputs = [made] if isinstance(made, Tensor) else list(made)
        seeds = [each * 0 + 1 for each in outputs] if grad_outputs is None else grad_outputs
        found = grad(
            outputs, [given[number] for number in wanted], seeds, create_graph=True,
            materialize_grads=True,
        )  # fmt: skip
        return tuple([each for each in found if each is not None])

    return gradcheck(gradients, points, eps=eps, atol=atol, rtol=rtol)


class detect_anomaly(contextlib.ContextDecorator):
    """Changes nothing: errors name the line of the forward by themselves."""

    def __init__(self, check_nan: bool = True) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


class set_detect_anomaly(detect_anomaly):
    """Likewise, also when called alone."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        pass


class set_multithreading_enabled(set_detect_anomaly):
    """Likewise: a backward pass is one computation."""
