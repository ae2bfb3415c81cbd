"""Functions whose tensors must have one dtype under `ogive.torch`, as in PyTorch.

`ogive` follows the array API, which promotes float32 and float64: `x @ y` is float64 there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ogive.errors import DtypeError
from ogive.tensor import autocast_dtypes
from ogive.tensor.core import Core
from ogive.tensor.elementwise import arithmetic
from ogive.tensor.linear_algebra import einsum, inverses, matrix_product, named_products
from ogive.tensor.losses import classification
from ogive.tensor.method_functions import eager_calls, plain_functions
from ogive.tensor.neural import activations
from ogive.tensor.reduction import distances

METHODS: dict[str, Callable[..., Any]] = {
    "matmul": matrix_product.matmul, "__matmul__": matrix_product.matmul,
    "mm": named_products.mm, "bmm": named_products.bmm, "mv": named_products.mv,
    "dot": named_products.dot, "vdot": named_products.vdot, "inner": named_products.inner,
    "addmm": named_products.addmm, "addmv": named_products.addmv,
    "baddbmm": named_products.baddbmm, "addbmm": named_products.addbmm,
    "linear": named_products.linear, "bilinear": named_products.bilinear,
    "lerp": arithmetic.lerp, "prelu": activations.prelu,
    "binary_cross_entropy": classification.binary_cross_entropy,
}  # fmt: skip
"""Methods of tensors, by their names."""

_ALL: list[Callable[..., Any]] = [
    *METHODS.values(), einsum.einsum, distances.cdist, inverses.solve
]  # fmt: skip
FUNCTIONS = frozenset([plain_functions.get(function, function) for function in _ALL])
"""All functions whose tensors must have one dtype."""


def check(function: Callable[..., Any], args: Iterable[Any], kwargs: dict[str, Any]) -> None:
    """Raise `DtypeError` if the tensors among the arguments have several dtypes."""
    tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Core)]
    if not tensors or autocast_dtypes.current() is not None:
        return
    first = tensors[0].dtype
    for tensor in tensors[1:]:
        if tensor.dtype is not first:
            raise DtypeError(
                f"{function.__name__}: tensors are {first.name} and {tensor.dtype.name}; they must "
                "have one dtype, cast one of them with to()"
            )


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function raise `DtypeError` for tensors of several dtypes."""

    def call(*args: Any, **kwargs: Any) -> Any:
        check(function, args, kwargs)
        return function(*args, **kwargs)

    call.__name__, call.__qualname__ = function.__name__, function.__qualname__
    call.__doc__, call.__module__ = function.__doc__, function.__module__
    if function in eager_calls:
        eager_calls[call] = eager_calls[function]
    return call
