"""In-place operations, which write their result to their first operand.

    x.add_(y)   →   x.assign(x.add(y))

The result must fit: it has the tensor's shape, and a dtype of no higher category (bool < integer <
float), as in PyTorch. `x += y` is `x.add_(y)`. A view writes through: `x[0].add_(1)` changes `x`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from ogive.compiler.ir.dtype import DType
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentTypeError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, memory_device, to_operand
from ogive.tensor.late_methods import LateMethod
from ogive.tensor.memory.assignment import fit
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.memory.shared_arrays import settle
from ogive.tensor.memory.views import show_otherwise, write

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Arguments = ParamSpec("Arguments")

_CATEGORY = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}

written_by: dict[Callable[..., Any], Callable[..., Any]] = {}
"""For each method that writes to its tensor, the operation whose result it writes."""

turned_by: dict[Callable[..., Any], Callable[..., Any]] = {}
"""For each method that changes the axes of its tensor, the operation whose result it shows."""


def in_place(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[Any, Arguments], Tensor]:
    """The method that assigns the result of `operation` to the tensor itself."""
    if isinstance(operation, LateMethod):
        late: Any = operation.then(in_place)
        return late
    name = f"{operation.__name__}_"

    def perform(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Tensor:
        while True:
            seen = self.node
            result = operation(self, *args, **kwargs)
            _check(self, result.dtype, result.shape, name)
            with graph_lock:
                # Repeated if another thread has written meanwhile, so that no write is lost.
                if self.node is seen:
                    part = fit(result, seen.dtype, seen.shape)
                    del result  # otherwise it would count as a reader of the old values
                    write(self, View(seen.shape), part, is_anew=False)
                else:
                    continue
            settle()
            changed: Tensor = self
            return changed

    written_by[perform] = operation
    perform.__module__ = "ogive.tensor.tensor"
    perform.__name__ = name
    perform.__qualname__ = f"Tensor.{name}"
    perform.__doc__ = f"""`{operation.__name__}` written to the tensor itself, which is returned.

        Raises `DtypeError` and `ShapeError` when the result does not fit, and changes nothing then.
        """
    return perform


def in_shape(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[Any, Arguments], Tensor]:
    """The method that gives the tensor itself the axes of the result of `operation`."""
    name = f"{operation.__name__}_"

    def perform(self: Any, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Tensor:
        with graph_lock:
            show_otherwise(self, operation(self, *args, **kwargs))
        changed: Tensor = self
        return changed

    turned_by[perform] = operation
    perform.__module__ = "ogive.tensor.tensor"
    perform.__name__ = name
    perform.__qualname__ = f"Tensor.{name}"
    perform.__doc__ = f"""`{operation.__name__}` of the tensor itself, which is returned.

        Raises `GradientError` for a leaf while gradients flow.
        """
    return perform


def _check(x: Core, dtype: DType, shape: tuple[Any, ...], name: str) -> None:
    if _CATEGORY[dtype.kind] > _CATEGORY[x.dtype.kind]:
        raise DtypeError(
            f"{name}: the result is of {dtype.name}, which a tensor of {x.dtype.name} cannot hold; "
            "cast the tensor first, or use the operation that returns a new one"
        )
    if shape != x.shape:
        raise ShapeError(
            f"{name}: the result has the shape {build.show(shape)}, and the tensor "
            f"{build.show(x.shape)}; use the operation that returns a new one"
        )


def copy_(self: Tensor, src: Any) -> Tensor:
    """Copy the values of `src`, which broadcasts and is cast. Shapes: unchanged.

    >>> Tensor([1, 2]).copy_(Tensor([3.7])).tolist()
    [3, 3]

    Raises `ShapeError` if `src` does not broadcast.
    """
    return self.assign(src)


def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill with one value: a number or a scalar tensor. Shapes: unchanged.

    >>> Tensor([1, 2]).fill_(7).tolist()
    [7, 7]

    Raises `ArgumentTypeError` for a tensor with axes.
    """
    operand = to_operand(value, "fill_")
    if isinstance(operand, Core) and operand.ndim:
        raise ArgumentTypeError(
            f"fill_ takes a number or a scalar, not the shape {build.show(operand.shape)}; "
            "copy_ takes tensors"
        )
    if not isinstance(operand, Core):
        with graph_lock:
            build.fitting(self.dtype, operand)
    return self.assign(operand)


def zero_(self: Tensor) -> Tensor:
    """Fill with 0. Shapes: unchanged.

    >>> Tensor([1, 2]).zero_().tolist()
    [0, 0]
    """
    return self.assign(0)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Fill the diagonal, where all positions are equal, with one value. Shapes: (m, n), or any
    number of axes of one length; unchanged. With `wrap`, the diagonal of a matrix with more rows
    than columns starts again, one row below its end.

    >>> Tensor([[1, 2], [3, 4]]).fill_diagonal_(0).tolist()
    [[0, 2], [3, 0]]

    Raises `ShapeError` for other shapes.
    """
    shape = self.shape
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ShapeError(
            "fill_diagonal_ takes a matrix, or axes that are all of one length, not "
            f"{build.show(shape)}"
        )
    with graph_lock:
        value = build.fitting(self.dtype, fill_value).arg
    if not wrap and len(shape) == 2:
        self.diagonal().fill_(value)
        return self
    from ogive.tensor.creation.constructors import arange

    apart = sum([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])
    places = arange(math.prod(shape), device=memory_device(self)).reshape(shape)
    return self.masked_fill_(places % apart == 0, value)
