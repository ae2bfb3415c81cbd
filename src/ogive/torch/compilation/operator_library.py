"""`torch.library` and `torch.ops`: operators that a program defines by name.

>>> @custom_op("example::double", mutates_args=())
... def double(x: ogive.Tensor) -> ogive.Tensor:
...     return x * 2
>>> ops.example.double(ogive.tensor([1, 2])).tolist()
[2, 4]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.torch.compilation.named_operators import CustomOpDef, ops, registered

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "impl", "impl_abstract", "ops",
    "register_autograd", "register_fake", "register_kernel", "triton_op", "wrap_triton",
]  # fmt: skip


OTHER_LAYERS = ("Meta", "Autograd", "Autocast")
"""Dispatch keys of PyTorch for shapes, gradients and casts, whose functions are not kernels."""


def custom_op(
    name: str, fn: Any = None, /, *, mutates_args: Any = (), device_types: Any = None,
    schema: str | None = None, tags: Any = None,
) -> Any:  # fmt: skip
    """Define an operator with a function as its kernel. A decorator if `fn` is not given."""

    def make(function: Callable[..., Any]) -> CustomOpDef:
        operator = ops.find(name, make=True)
        operator.set_compute(function)
        return operator

    return make if fn is None else make(fn)


triton_op = custom_op


def wrap_triton(kernel: Any, /) -> Any:
    """Return the kernel itself."""
    return kernel


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Define an operator. `impl` registers its kernel later."""
    ops.find(qualname, make=True)


def impl(qualname: str, types: Any, func: Any = None, *, lib: Any = None) -> Any:
    """Register a function as an operator's kernel, unless it is for shapes or gradients only."""
    if isinstance(types, str) and types.startswith(OTHER_LAYERS):
        return registered(lambda given: given, func)
    return registered(ops.find(qualname).set_compute, func)


register_kernel = impl


def register_fake(op: Any, func: Any = None, /, **options: Any) -> Any:
    """Do nothing: shapes are known from the kernel itself."""
    return registered(lambda given: given, func)


impl_abstract = register_fake


def register_autograd(
    op: Any, backward: Any, /, *, setup_context: Any = None, lib: Any = None
) -> None:
    """Register the gradient of an operator."""
    operator = op if isinstance(op, CustomOpDef) else ops.find(op, make=True)
    operator.register_autograd(backward, setup_context=setup_context)


class Library:
    """The operators of a namespace, defined and implemented by name."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator by its schema: `add(Tensor a, Tensor b) -> Tensor`."""
        return ops.find(f"{self.ns}::{schema}", make=True).qualname.partition("::")[2]

    def impl(
        self, op_name: Any, fn: Any, dispatch_key: str = "", *, with_keyset: bool = False,
        allow_override: bool = False,
    ) -> None:  # fmt: skip
        """Register `fn` as an operator's kernel, unless it is for shapes or gradients only."""
        key = dispatch_key or self.dispatch_key
        if key.startswith(OTHER_LAYERS):
            return
        name = op_name if isinstance(op_name, str) else op_name.qualname
        full = name if "::" in name else f"{self.ns}::{name}"
        ops.find(full, make=True).set_compute(fn)
