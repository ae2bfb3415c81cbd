"""Reductions over any axes.

`dim` is an axis, several, or None for all of them. `keepdim` keeps the axes with length 1. Both
also have their names of NumPy, `axis` and `keepdims`, as in PyTorch.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from ogive.compat.methods.keywords import numpy_names
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, element_count, greatest, least
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentTypeError, DtypeError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, to_axes, to_axis, to_entries, to_tensor, wrap
from ogive.tensor.elementwise.binary_operations import (
    MAXIMUM,
    MINIMUM,
    any_dtype,
    combine,
    field_dtype,
)
from ogive.tensor.gradients.known_gradients import with_gradient
from ogive.tensor.lengths import is_symbolic, span
from ogive.tensor.movement.joining import where
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Axes = int | Sequence[int] | None


class Extremes(NamedTuple):
    """The extreme elements along an axis, and their positions."""

    values: Tensor
    indices: Tensor


@outlined
@numpy_names
def sum(self: Tensor, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The sum. Integers and bool are added in int64; float16 and bfloat16 in float32 inside.

    Shapes: (a, b) → (a,) for `dim` -1; () for None. No elements sum to 0.

    >>> Tensor([[1, 2], [3, 4]]).sum(0).tolist()
    [4, 6]
    """
    return _accumulate(self, Op.ADD, dim, keepdim, dtype, "sum")


@outlined
@numpy_names
@widened
def prod(self: Tensor, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The product, in the dtypes of `sum`.

    Shapes: (a, b) → (a,) for `dim` -1; () for None. No elements multiply to 1.

    >>> Tensor([[1, 2], [3, 4]]).prod().item()
    24
    """
    return _accumulate(self, Op.MUL, dim, keepdim, dtype, "prod")


@outlined
@numpy_names
def amax(self: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """The greatest element; NaN if there is one.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([[1, 2], [3, 4]]).amax(-1).tolist()
    [2, 4]

    Raises `ShapeError` for no elements.
    """
    return _extreme(self, Op.MAXIMUM, dim, keepdim, "amax")


@outlined
@numpy_names
def amin(self: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """The least element; NaN if there is one.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([[1, 2], [3, 4]]).amin(-1).tolist()
    [1, 3]

    Raises `ShapeError` for no elements.
    """
    return _extreme(self, Op.MINIMUM, dim, keepdim, "amin")


@overload
def max(self: Tensor) -> Tensor: ...
@overload
def max(self: Tensor, dim: int, keepdim: bool = False) -> Extremes: ...
@overload
def max(self: Tensor, dim: Core) -> Tensor: ...
@numpy_names
def max(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor | Extremes:
    """The greatest element; along an axis, with its position; with a tensor, `maximum`.

    Shapes: () without arguments; for `dim` -1, `values` and `indices` of (a, b) → (a,).
    NaN counts as the greatest. `amax` gives the values alone, over any axes.

    >>> Tensor([[1, 2], [3, 4]]).max().item()
    4
    >>> Tensor([[1, 2], [4, 3]]).max(-1).indices.tolist()
    [1, 0]

    Raises `ShapeError` for no elements.
    """
    return _extremes(self, Op.MAXIMUM, dim, keepdim, "max")


@overload
def min(self: Tensor) -> Tensor: ...
@overload
def min(self: Tensor, dim: int, keepdim: bool = False) -> Extremes: ...
@overload
def min(self: Tensor, dim: Core) -> Tensor: ...
@numpy_names
def min(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor | Extremes:
    """The least element; along an axis, with its position; with a tensor, `minimum`.

    Shapes: () without arguments; for `dim` -1, `values` and `indices` of (a, b) → (a,).
    NaN counts as the least. `amin` gives the values alone, over any axes.

    >>> Tensor([[1, 2], [3, 4]]).min().item()
    1
    >>> Tensor([[1, 2], [4, 3]]).min(-1).values.tolist()
    [1, 3]

    Raises `ShapeError` for no elements.
    """
    return _extremes(self, Op.MINIMUM, dim, keepdim, "min")


@outlined
@numpy_names
def any(self: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """Whether any element is other than zero; False for no elements.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([[0, 1], [0, 0]]).any(-1).tolist()
    [True, False]
    """
    with graph_lock:
        return _finish(self, _truth(self.node), Op.OR, dim, keepdim, "any")


@outlined
@numpy_names
def all(self: Tensor, dim: Axes = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are other than zero; True for no elements.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([[1, 1], [1, 0]]).all(-1).tolist()
    [True, False]
    """
    with graph_lock:
        return _finish(self, _truth(self.node), Op.AND, dim, keepdim, "all")


@outlined
@numpy_names
def mean(self: Tensor, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The average of floats; NaN for no elements.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([1.0, 2.0, 6.0]).mean().item()
    3.0

    Raises `DtypeError` for integers and bool, unless a float `dtype` is given.
    """
    x = _to_averaged(self, dtype)
    wide = x.cast(accumulator(x.dtype))
    total = wide.sum(dim, keepdim).div(reduced_count(self, dim, "mean"))
    return total.cast(x.dtype)


@outlined
@numpy_names
def var(
    self: Tensor,
    dim: Axes = None,
    correction: float | None = 1,
    keepdim: bool = False,
    *,
    unbiased: bool | None = None,
) -> Tensor:
    """The variance: squared distances from the mean, summed, over n - `correction`.

    Shapes: (a, b) → (a,) for `dim` -1; () for None. NaN where n - `correction` is 0 or less.
    `unbiased` is PyTorch's older name: True for a correction of 1, False for 0.

    >>> Tensor([1.0, 2.0, 3.0]).var().item()
    1.0

    The variance of complex numbers is real: it uses the squares of distances from the mean.

    Raises `DtypeError` for integers and bool.
    """
    if self.dtype.is_complex:
        from ogive.tensor.elementwise.complex_numbers import view_as_real

        real, imaginary = [
            part.var(dim, correction, keepdim, unbiased=unbiased)
            for part in view_as_real(self).unbind(-1)
        ]
        return real + imaginary
    x = to_float(self, None, "var")
    if isinstance(dim, bool):  # PyTorch's var(unbiased)
        dim, unbiased = None, dim
    if unbiased is not None or correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    wide = x.cast(accumulator(x.dtype))
    distances = wide - wide.mean(dim, keepdim=True)
    number = reduced_count(self, dim, "var")
    total = distances.square().sum(dim, keepdim)
    if isinstance(number, int):
        return total.div(builtins.max(number - correction, 0)).cast(x.dtype)
    freedom = (to_tensor(number).cast(wide.dtype) - correction).maximum(0)
    return total.div(freedom).cast(x.dtype)


@outlined
@numpy_names
def std(
    self: Tensor,
    dim: Axes = None,
    correction: float | None = 1,
    keepdim: bool = False,
    *,
    unbiased: bool | None = None,
) -> Tensor:
    """The square root of `var`, which takes the same arguments.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> Tensor([1.0, 2.0, 3.0]).std().item()
    1.0
    """
    x = self if self.dtype.is_complex else to_float(self, None, "std")
    wide = x.cast(accumulator(x.dtype))
    square = wide.var(dim, correction, keepdim, unbiased=unbiased)
    dtype = x.dtype.part if x.dtype.is_complex else x.dtype
    return with_gradient(square.sqrt(), square, _under_root, is_fixed=True).cast(dtype)


@outlined
@numpy_names
def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The position of the first greatest element, as int64; NaN counts as the greatest.

    Shapes: (a, b) → (a,) for `dim` -1; for None, () and a position in row-major order.

    >>> Tensor([3, 9, 9]).argmax().item()
    1

    Raises `ShapeError` for no elements.
    """
    return _position(self, Op.MAXIMUM, dim, keepdim, "argmax")


@outlined
@numpy_names
def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The position of the first least element, as int64; NaN counts as the least.

    Shapes: (a, b) → (a,) for `dim` -1; for None, () and a position in row-major order.

    >>> Tensor([3, 1, 1]).argmin().item()
    1

    Raises `ShapeError` for no elements.
    """
    return _position(self, Op.MINIMUM, dim, keepdim, "argmin")


def resolve_axes(node: UOp, dim: Axes, name: str) -> tuple[int, ...]:
    """The axes to reduce, in order. A scalar may be reduced over axis 0, which it does not have."""
    rank = len(node.shape)
    if dim is None or not to_entries(dim):
        return tuple(range(rank))
    if rank == 0:
        to_axes(dim, 1, name)
        return ()
    return to_axes(dim, rank, name)


def _finish(x: Core, node: UOp, op: Op, dim: Axes, keepdim: bool, name: str) -> Tensor:
    axes = resolve_axes(node, dim, name)
    shape = node.shape
    node = build.reduce(node, op, axes)
    if not keepdim:
        kept = tuple([size for axis, size in enumerate(shape) if axis not in axes])
        node = build.reshape(node, kept)
    return wrap(node, x.device)


def _accumulate(x: Core, op: Op, dim: Axes, keepdim: bool, dtype: Any, name: str) -> Tensor:
    with graph_lock:
        node = to_summand(x.node, dtype, name)
        if op is Op.MUL and node.dtype.is_complex:
            from ogive.tensor.elementwise import complex_numbers

            node = complex_numbers.product(wrap(node, x.device), resolve_axes(node, dim, name)).node
        return _finish(x, node, op, dim, keepdim, name)


def to_summand(node: UOp, dtype: Any, name: str) -> UOp:
    """Cast to `dtype`, or else to the dtype in which sums and products are computed."""
    own = field_dtype(node.dtype, name)
    if dtype is not None:
        return build.cast(node, field_dtype(to_dtype(dtype), name))
    return node if own.is_inexact else build.cast(node, dtypes.int64)


_ON_BOOL = {Op.MAXIMUM: Op.OR, Op.MINIMUM: Op.AND}


def _extreme(x: Core, op: Op, dim: Axes, keepdim: bool, name: str) -> Tensor:
    with graph_lock:
        node = x.node
        any_dtype(node.dtype, name)
        for axis in resolve_axes(node, dim, name):
            size = node.shape[axis]
            if least(size) <= 0:
                has = "may have" if is_symbolic(size) else "has"
                raise ShapeError(
                    f"{name}: axis {axis} of shape {build.show(node.shape)} {has} no elements"
                    f"{span(size)}, and no elements have no {name}"
                )
        return _finish(x, node, _ON_BOOL[op] if node.dtype.is_bool else op, dim, keepdim, name)


def _extremes(x: Tensor, op: Op, dim: Any, keepdim: bool, name: str) -> Tensor | Extremes:
    """`max` and `min`, by the kind of their argument `dim`."""
    if dim is None:
        return _extreme(x, op, None, keepdim, name)
    if isinstance(dim, Core):
        return combine(MAXIMUM if op is Op.MAXIMUM else MINIMUM, x, dim)
    if isinstance(dim, tuple | list):
        raise ArgumentTypeError(f"{name} takes one axis, got {dim!r}; a{name} takes several")
    values = _extreme(x, op, dim, keepdim, name)
    if x.dtype.is_float and x.ndim:
        axis = to_axis(dim, x.ndim, name)
        values = with_gradient(values, x, _at_position(op, axis, keepdim, name))
    return Extremes(values, _position(x, op, dim, keepdim, name))


def _at_position(op: Op, axis: int, keepdim: bool, name: str) -> Callable[[Any, Any], Tensor]:
    """The backward function of an extreme: of equal elements, the one at the position returned
    gets the whole gradient."""

    def back(x: Tensor, upstream: Any) -> Tensor:
        chosen = _position(x, op, axis, True, name)
        gradient = upstream if keepdim else upstream.unsqueeze(axis)
        with graph_lock:
            places = wrap(build.count_along(axis, x.shape), x.device)
            zero = wrap(build.constant(x.dtype, 0), x.device)
        return where(places.eq(chosen), gradient, zero)

    return back


def _under_root(square: Any, upstream: Any) -> Tensor:
    """The gradient of √square, defined as 0 where the square is 0."""
    return where(square.eq(0), 0, upstream / (square.sqrt() * 2))


def _truth(node: UOp) -> UOp:
    if node.dtype.is_bool:
        return node
    return make(Op.CMPNE, dtypes.bool_, (node, build.constant(node.dtype, 0)))


def _to_averaged(x: Core, dtype: Any) -> Tensor:
    """Cast to a dtype that has a mean: floats and complex numbers."""
    if (x.dtype if dtype is None else to_dtype(dtype)).is_complex:
        with graph_lock:
            return wrap(to_summand(x.node, dtype, "mean"), x.device)
    return to_float(x, dtype, "mean")


def to_float(x: Core, dtype: Any, name: str) -> Tensor:
    with graph_lock:
        node = x.node
        if dtype is not None:
            node = build.cast(node, to_dtype(dtype))
        if not node.dtype.is_float:
            raise DtypeError(f"{name} does not take {node.dtype.name}: cast to a float dtype first")
        any_dtype(node.dtype, name)
        return wrap(node, x.device)


def accumulator(dtype: DType) -> DType:
    return dtypes.float32 if dtype in build.WIDENED else dtype


def reduced_count(x: Core, dim: Axes, name: str) -> Dim:
    """The number of elements that are reduced to one."""
    shape = x.node.shape
    return element_count([shape[axis] for axis in resolve_axes(x.node, dim, name)])


def _position(x: Core, op: Op, dim: int | None, keepdim: bool, name: str) -> Tensor:
    """The least position among those that hold the extreme.

    x ── max ── == ── where(·, position, n) ── min
    └───────────┘
    """
    with graph_lock:
        node = x.node
        if node.dtype.is_bool:
            node = build.cast(node, dtypes.uint8)
        rank = len(node.shape)
        flat = wrap(node, x.device)
    if dim is None or rank == 0:
        if dim is not None:
            to_axis(dim, 1, name)
        position = _position_along(flat.flatten(), op, 0, keepdim, name)
        return position.reshape((1,) * rank if keepdim else ())
    return _position_along(flat, op, to_axis(dim, rank, name), keepdim, name)


def _position_along(x: Tensor, op: Op, axis: int, keepdim: bool, name: str) -> Tensor:
    peak = _extreme(x, op, axis, True, name)
    is_extreme = x == peak
    if x.dtype.is_float:
        is_extreme = is_extreme | x.isnan()
    with graph_lock:
        shape = x.node.shape
        position = wrap(build.count_along(axis, shape), x.device)
    if greatest(shape[axis]) < 1 << 31:
        position = position.cast(dtypes.int32)  # twice as many lanes
    return where(is_extreme, position, shape[axis]).amin(axis, keepdim).cast(dtypes.int64)
