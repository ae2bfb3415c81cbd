"""`torch.func`: transforms of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ogive
from ogive.autograd import hessian as hessian
from ogive.autograd import jacfwd as jacfwd
from ogive.autograd import jacrev as jacrev
from ogive.autograd import jvp as jvp
from ogive.autograd import vjp as vjp
from ogive.autograd import vmap as vmap
from ogive.autograd.transforms.function_gradients import grad as grad
from ogive.nn import functional_call as functional_call
from ogive.nn.module import AnyModule

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "stack_module_state", "vjp", "vmap",
]  # fmt: skip


def grad_and_value(
    func: Callable[..., Any], argnums: Any = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """A function that returns the gradient and the value of `func`, in this order."""
    both = ogive.value_and_grad(func, argnums=argnums, has_aux=has_aux)

    def turned(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    return turned


def stack_module_state(models: Sequence[AnyModule]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of models of one class, each stacked along a new first axis."""
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    stacked = {
        name: ogive.stack([each[name].detach() for each in parameters]).requires_grad_()
        for name in parameters[0]
    }
    return stacked, {name: ogive.stack([each[name] for each in buffers]) for name in buffers[0]}
