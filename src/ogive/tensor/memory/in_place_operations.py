"""Operations that write their result to the tensor they are called on.

    x.add_(y)   →   x.assign(x.add(y))

The result must fit, as in PyTorch: its shape is that of the tensor, and its dtype is of no higher
category (bool < integer < float < complex). `x += y` is `x.add_(y)`. A view writes through to the
tensor that it is a view of: `x[0].add_(1)` changes `x`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec

from ogive.errors import ArgumentTypeError, DtypeError, ShapeError
from ogive.ir.dtype import DType
from ogive.live.registry import graph_lock
from ogive.tensor import build
from ogive.tensor.core import Core, to_operand
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
"""For each in-place method, the operation whose result it writes."""

turned_by: dict[Callable[..., Any], Callable[..., Any]] = {}
"""For each method that changes the axes of its tensor, the operation whose result it shows."""


def in_place(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[Any, Arguments], Tensor]:
    """Return the in-place method that assigns the result of `operation` to the tensor itself."""
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
                # If another thread has written meanwhile, repeat, so that its write is not lost.
                if self.node is seen:
                    part = fit(result, seen.dtype, seen.shape)
                    del result  # a live tensor on the result would read the values to overwrite
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
    perform.__doc__ = f"""Write the result of `{operation.__name__}` to the tensor, and return it.

        Raises `DtypeError` or `ShapeError` if the result does not fit; nothing changes then.
        """
    return perform


def in_shape(
    operation: Callable[Concatenate[Any, Arguments], Tensor],
) -> Callable[Concatenate[Any, Arguments], Tensor]:
    """Return the method that turns the tensor itself into the view that `operation` returns."""
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
    perform.__doc__ = f"""Apply `{operation.__name__}` to the tensor itself, and return it.

        Raises `GradientError` for a leaf, unless inside `no_grad()`.
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
            f"{name}: the result has the shape {build.show(shape)}, and the tensor has "
            f"{build.show(x.shape)}; use the operation that returns a new one"
        )


def copy_(self: Tensor, src: Any) -> Tensor:
    """Copy the values of `src`, which is broadcast and cast. Shapes: unchanged.

    >>> Tensor([1, 2]).copy_(Tensor([3.7])).tolist()
    [3, 3]

    Raises `ShapeError` when `src` does not broadcast.
    """
    return self.assign(src)


def fill_(self: Tensor, value: Any) -> Tensor:
    """Fill with one value: a number or a tensor without axes. Shapes: unchanged.

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
    """Fill with zeros. Shapes: unchanged.

    >>> Tensor([1, 2]).zero_().tolist()
    [0, 0]
    """
    return self.assign(0)


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Fill the diagonal, where all positions are equal, with one value.

    Shapes: (m, n), or more axes, all of one length; unchanged. With `wrap`, the diagonal of a
    matrix with more rows than columns begins again below its end, after one row.

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

    step = sum([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])
    positions = arange(math.prod(shape)).reshape(shape)
    return self.masked_fill_(positions % step == 0, value)
