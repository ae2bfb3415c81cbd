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
    found = ogive.jacrev(func, argnums=tuple(range(len(points))))(*points)
    if isinstance(func(*points), Tensor):
        return _kept(found[0] if single else found, create_graph)
    return _kept(tuple([each[0] for each in found]) if single else found, create_graph)


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
    found = ogive.hessian(func, argnums=tuple(range(len(points))))(*points)
    return _kept(found[0][0] if single else found, create_graph)


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs, and the gradient of them weighted by `v`."""
    single = isinstance(inputs, Tensor)
    points = (inputs,) if single else tuple(inputs)
    outputs, pull = ogive.vjp(func, *points)
    found = pull(ogive.ones_like(outputs) if v is None else v)
    return outputs, found[0] if single else found


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The outputs, and how they change as the inputs change along `v`."""
    points = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    along = [ogive.ones_like(each) for each in points] if v is None else v
    along = (along,) if isinstance(along, Tensor) else tuple(along)
    return ogive.jvp(func, points, along)


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """The output of a scalar function, and its second derivatives times `v`.

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
    _, found = ogive.jvp(slope, points, along)
    return func(*points), _kept(found[0] if single else tuple(found), create_graph)


vhp = hvp  # second derivatives are symmetric


def _kept(found: Any, create_graph: bool) -> Any:
    """Results through which gradients flow only if they are wanted."""
    if isinstance(found, tuple):
        return tuple([_kept(each, create_graph) for each in found])
    return found if create_graph else found.detach()
