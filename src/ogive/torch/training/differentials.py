"""`torch.autograd.functional`: derivatives of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ogive
from ogive.tensor.tensor import Tensor

__all__ = [
    "hessian", "hvp", "jacobian", "jvp", "vhp", "vjp",
]  # fmt: skip

Function = Callable[..., Any]


def jacobian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivatives of each output by each input.

    Shapes: (o,), (i,) → (o, i).

    >>> ogive.torch.autograd.functional.jacobian(lambda x: x * x, Tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    single = isinstance(inputs, Tensor)
    points = (inputs,) if single else tuple(inputs)
    if not create_graph and _are_small(points):
        leaves = _to_leaves(points)
        rows = _row_by_row(func(*leaves), leaves)
        if rows is not None:
            return rows[0] if single else rows
    derivatives = ogive.jacrev(func, argnums=tuple(range(len(points))))(*points)
    if isinstance(func(*points), Tensor):
        return _kept(derivatives[0] if single else derivatives, create_graph)
    return _kept(tuple([each[0] for each in derivatives]) if single else derivatives, create_graph)


def hessian(
    func: Function,
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a scalar function.

    >>> ogive.torch.autograd.functional.hessian(lambda x: (x**3).sum(), Tensor([1.0])).tolist()
    [[6.0]]
    """
    single = isinstance(inputs, Tensor)
    points = (inputs,) if single else tuple(inputs)
    if not create_graph and _are_small(points):
        leaves = _to_leaves(points)
        derivatives = _all_rows(_slopes(func(*leaves), leaves), leaves)
        if derivatives:
            return derivatives[0][0] if single else derivatives
    derivatives = ogive.hessian(func, argnums=tuple(range(len(points))))(*points)
    return _kept(derivatives[0][0] if single else derivatives, create_graph)


MOST_ROWS = 1024
"""The most elements of an eager output that are differentiated one after the other."""


def _are_small(points: tuple[Any, ...]) -> bool:
    """Whether all inputs are eager tensors."""
    return all(
        isinstance(each, Tensor) and each.is_eager and each.is_floating_point() for each in points
    )


def _to_leaves(points: tuple[Any, ...]) -> tuple[Tensor, ...]:
    return tuple([each.detach().clone().requires_grad_() for each in points])


def _slopes(output: Any, leaves: tuple[Tensor, ...]) -> tuple[Any, ...]:
    """The differentiable gradients of an eager scalar; an empty tuple for other outputs."""
    if not isinstance(output, Tensor) or not output.is_eager or output.numel() != 1:
        return ()
    return ogive.autograd.grad(
        output.sum(), leaves, create_graph=True, allow_unused=True, materialize_grads=True
    )


def _row_by_row(output: Any, leaves: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
    """The derivatives of an output by each leaf, one element after the other.

    None unless the output is an eager tensor of at most `MOST_ROWS` elements.
    """
    if not isinstance(output, Tensor) or not output.is_eager or not 0 < output.numel() <= MOST_ROWS:
        return None
    if not output.requires_grad:
        return tuple([leaf.new_zeros((*output.shape, *leaf.shape)) for leaf in leaves])
    rows = [
        ogive.autograd.grad(
            part, leaves, retain_graph=True, allow_unused=True, materialize_grads=True
        )
        for part in output.reshape(-1)
    ]
    return tuple([
        ogive.stack(list(parts)).reshape(*output.shape, *leaf.shape)
        for parts, leaf in zip(zip(*rows, strict=True), leaves, strict=True)
    ])  # fmt: skip


def _all_rows(
    outputs: tuple[Any, ...], leaves: tuple[Tensor, ...]
) -> tuple[tuple[Tensor, ...], ...]:
    """The derivatives of several outputs; an empty tuple if `_row_by_row` refuses one of them."""
    all_rows = []
    for output in outputs:
        rows = _row_by_row(output, leaves)
        if rows is None:
            return ()
        all_rows.append(rows)
    return tuple(all_rows)


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs, and the gradient of them weighted by `v`."""
    single = isinstance(inputs, Tensor)
    points = (inputs,) if single else tuple(inputs)
    outputs, pull = ogive.vjp(func, *points)
    gradients = pull(ogive.ones_like(outputs) if v is None else v)
    return outputs, gradients[0] if single else gradients


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs, and their derivatives in the direction `v` of the inputs."""
    points = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    along = [ogive.ones_like(each) for each in points] if v is None else v
    along = (along,) if isinstance(along, Tensor) else tuple(along)
    return ogive.jvp(func, points, along)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of a scalar function, and its Hessian times `v`.

    >>> _, product = ogive.torch.autograd.functional.hvp(
    ...     lambda x: (x**3).sum(), Tensor([1.0, 2.0]), Tensor([1.0, 1.0])
    ... )
    >>> product.tolist()
    [6.0, 12.0]
    """
    single = isinstance(inputs, Tensor)
    points = (inputs,) if single else tuple(inputs)
    along = [ogive.ones_like(each) for each in points] if v is None else v
    along = (along,) if isinstance(along, Tensor) else tuple(along)
    slope = ogive.grad(func, argnums=tuple(range(len(points))))
    _, products = ogive.jvp(slope, points, along)
    return func(*points), _kept(products[0] if single else tuple(products), create_graph)


vhp = hvp  # the Hessian is symmetric


def _kept(results: Any, create_graph: bool) -> Any:
    """The results, detached unless `create_graph` is set."""
    if isinstance(results, tuple):
        return tuple([_kept(each, create_graph) for each in results])
    return results if create_graph else results.detach()
