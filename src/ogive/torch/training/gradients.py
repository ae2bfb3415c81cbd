"""`torch.autograd`: further functions around gradients."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from ogive import autograd
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor

__all__ = [
    "Variable",
    "backward",
    "detect_anomaly",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "set_detect_anomaly",
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


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """The gradients of the sum of `outputs`, weighted with `grad_outputs`, for each of `inputs`.

    With `is_grads_batched` the weights have a leading axis, and so have the results.
    """
    settings: tuple[Any, ...] = (
        retain_graph, create_graph, only_inputs, bool(allow_unused or materialize_grads),
        materialize_grads,
    )  # fmt: skip
    if not is_grads_batched:
        return autograd.grad(outputs, inputs, grad_outputs, *settings)
    is_single = isinstance(grad_outputs, Tensor)
    weights = [grad_outputs] if is_single else list(grad_outputs)
    rows = [
        autograd.grad(outputs, inputs, list(row), *settings)
        for row in zip(*weights, strict=True)
    ]
    return tuple([None if part[0] is None else stack(part) for part in zip(*rows, strict=True)])


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **_: Any,
) -> bool:
    """Whether the gradients of a function are those that differences give. What else PyTorch
    checks, by options that are taken, is nothing here."""
    return autograd.gradcheck(
        func, inputs, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception
    )


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
        results = func(*given)
        outputs = [results] if isinstance(results, Tensor) else list(results)
        seeds = [each * 0 + 1 for each in outputs] if grad_outputs is None else grad_outputs
        slopes = autograd.grad(
            outputs, [given[number] for number in wanted], seeds, create_graph=True,
            materialize_grads=True,
        )  # fmt: skip
        return tuple([each for each in slopes if each is not None])

    return autograd.gradcheck(gradients, points, eps=eps, atol=atol, rtol=rtol)


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
