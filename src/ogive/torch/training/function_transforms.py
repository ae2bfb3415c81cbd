"""`torch.func`: transforms of functions, by PyTorch's names of arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import ogive
from ogive import autograd
from ogive.nn import functional_call as functional_call_of_ours
from ogive.nn.module import AnyModule
from ogive.nn.module_parts.module_tree import ModuleTree
from ogive.torch.networks.layers import _NormBase
from ogive.torch.training.vectorizing import vmap as vmap

__all__ = [
    "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev",
    "jvp", "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip

Function = Callable[..., Any]


def functional_call(
    module: AnyModule,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Any = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """`module(*args, **kwargs)` with other tensors in place of its own, by name."""
    given = () if args is None else args
    return functional_call_of_ours(
        module, parameter_and_buffer_dicts, given, kwargs, tie_weights=tie_weights, strict=strict
    )


def grad(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of `func`."""
    return ogive.grad(func, argnums, has_aux)


def grad_and_value(func: Function, argnums: Any = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient and the value of `func`, in this order."""
    both = ogive.value_and_grad(func, argnums=argnums, has_aux=has_aux)

    def turned(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return gradient, value

    return turned


def jacrev(
    func: Function, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Function:
    """A function that gives the derivatives of all results of `func`, row by row."""
    return _with_aux(autograd.jacrev, func, argnums, has_aux)


def jacfwd(
    func: Function, argnums: Any = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Function:
    """The same, column by column."""
    return _with_aux(autograd.jacfwd, func, argnums, has_aux)


def hessian(func: Function, argnums: Any = 0) -> Function:
    """A function that gives the second derivatives of `func`."""
    return autograd.hessian(func, argnums)


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """The results of `func`, and a function from their gradients to those of the arguments."""
    if not has_aux:
        return autograd.vjp(func, *primals)
    return (*autograd.vjp(_first_of(func), *primals), func(*primals)[1])


def jvp(
    func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """The results of `func`, and how they change where the arguments change by `tangents`."""
    if not has_aux:
        return autograd.jvp(func, primals, tangents)
    return (*autograd.jvp(_first_of(func), primals, tangents), func(*primals)[1])


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """The results of `func`, and a function from changes of the arguments to those of the results.

    >>> value, change = ogive.torch.func.linearize(ogive.torch.sin, ogive.torch.zeros(2))
    >>> change(ogive.torch.ones(2))
    tensor([1., 1.])
    """
    return func(*primals), lambda *tangents: autograd.jvp(func, primals, tangents)[1]


def functionalize(func: Function, *, remove: str = "mutations") -> Function:
    """The function: what is written to tensors is part of the graph by itself."""
    return func


def stack_module_state(models: Sequence[AnyModule]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters and buffers of models of one class, each stacked along a new first axis."""
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    stacked = {
        name: ogive.stack([each[name].detach() for each in parameters]).requires_grad_()
        for name in parameters[0]
    }
    return stacked, {name: ogive.stack([each[name] for each in buffers]) for name in buffers[0]}


def replace_all_batch_norm_modules_(root: ModuleTree) -> ModuleTree:
    """Let no batch normalization of a module keep running statistics. Returns the module."""
    for module in root.modules():
        if isinstance(module, _NormBase):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


def _first_of(func: Function) -> Function:
    """The function whose result is the first of the two that `func` gives."""

    @functools.wraps(func)
    def first(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)[0]

    return first


def _with_aux(transform: Function, func: Function, argnums: Any, has_aux: bool) -> Function:
    """A transform of a function whose second result is only handed on."""
    if not has_aux:
        transformed: Function = transform(func, argnums)
        return transformed
    derivative = transform(_first_of(func), argnums)

    def both(*args: Any, **kwargs: Any) -> Any:
        return derivative(*args, **kwargs), func(*args, **kwargs)[1]

    return both
