"""Reductions over any axes.

`dim` is an axis, several, or None for all of them. `keepdim` leaves the axes with length 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.errors import DtypeError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType, to_dtype
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.registry import graph_lock, make
from ogive.ir.shape import Dim, element_count, least
from ogive.tensor import build
from ogive.tensor.arithmetic import any_dtype
from ogive.tensor.conversion import Conversion
from ogive.tensor.core import Core, to_axes, to_axis, to_tensor, wrap
from ogive.tensor.functions import Functions
from ogive.tensor.joining import count, where
from ogive.tensor.lengths import is_symbolic, span
from ogive.tensor.movement import Movement

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Axes = int | Sequence[int] | None


class Reduction(Functions, Movement, Conversion):
    """Sums, extremes, averages and searches."""

    __slots__ = ()

    def sum(self, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
        """The sum. Integers and bool add up in int64; float16 and bfloat16 inside in float32.

        Shapes: (a, b) → (a,) for `dim` -1; () for None. No elements sum to 0.

        >>> Tensor([[1, 2], [3, 4]]).sum(0).tolist()
        [4, 6]
        """
        return _accumulate(self, Op.ADD, dim, keepdim, dtype, "sum")

    def prod(self, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
        """The product, in the dtypes of `sum`.

        Shapes: (a, b) → (a,) for `dim` -1; () for None. No elements multiply to 1.

        >>> Tensor([[1, 2], [3, 4]]).prod().item()
        24
        """
        return _accumulate(self, Op.MUL, dim, keepdim, dtype, "prod")

    def max(self, dim: Axes = None, keepdim: bool = False) -> Tensor:
        """The greatest element; NaN if there is one.

        Shapes: (a, b) → (a,) for `dim` -1; () for None.

        >>> Tensor([[1, 2], [3, 4]]).max(-1).tolist()
        [2, 4]

        Raises `ShapeError` for no elements.
        """
        return _extreme(self, Op.MAXIMUM, dim, keepdim, "max")

    def min(self, dim: Axes = None, keepdim: bool = False) -> Tensor:
        """The least element; NaN if there is one.

        Shapes: (a, b) → (a,) for `dim` -1; () for None.

        >>> Tensor([[1, 2], [3, 4]]).min(-1).tolist()
        [1, 3]

        Raises `ShapeError` for no elements.
        """
        return _extreme(self, Op.MINIMUM, dim, keepdim, "min")

    def any(self, dim: Axes = None, keepdim: bool = False) -> Tensor:
        """Whether any element is other than zero; False for no elements.

        Shapes: (a, b) → (a,) for `dim` -1; () for None.

        >>> Tensor([[0, 1], [0, 0]]).any(-1).tolist()
        [True, False]
        """
        with graph_lock:
            return _finish(self, _truth(self.node), Op.OR, dim, keepdim, "any")

    def all(self, dim: Axes = None, keepdim: bool = False) -> Tensor:
        """Whether all elements are other than zero; True for no elements.

        Shapes: (a, b) → (a,) for `dim` -1; () for None.

        >>> Tensor([[1, 1], [1, 0]]).all(-1).tolist()
        [True, False]
        """
        with graph_lock:
            return _finish(self, _truth(self.node), Op.AND, dim, keepdim, "all")

    def mean(self, dim: Axes = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
        """The average of floats; NaN for no elements.

        Shapes: (a, b) → (a,) for `dim` -1; () for None.

        >>> Tensor([1.0, 2.0, 6.0]).mean().item()
        3.0

        Raises `DtypeError` for integers and bool, unless a float `dtype` is given.
        """
        x = _to_float(self, dtype, "mean")
        wide = x.cast(_accumulator(x.dtype))
        total = wide.sum(dim, keepdim).div(_number(self, dim, "mean"))
        return total.cast(x.dtype)

    def var(self, dim: Axes = None, correction: float = 1, keepdim: bool = False) -> Tensor:
        """The variance: squared distances from the mean, summed, over n - `correction`.

        Shapes: (a, b) → (a,) for `dim` -1; () for None. NaN where n - `correction` is 0 or less.

        >>> Tensor([1.0, 2.0, 3.0]).var().item()
        1.0

        Raises `DtypeError` for integers and bool.
        """
        x = _to_float(self, None, "var")
        wide = x.cast(_accumulator(x.dtype))
        distances = wide - wide.mean(dim, keepdim=True)
        number = _number(self, dim, "var")
        total = distances.square().sum(dim, keepdim)
        if isinstance(number, int):
            return total.div(max(number - correction, 0)).cast(x.dtype)
        freedom = (to_tensor(number).cast(wide.dtype) - correction).maximum(0)
        return total.div(freedom).cast(x.dtype)

    def std(self, dim: Axes = None, correction: float = 1, keepdim: bool = False) -> Tensor:
        """The square root of `var`.

        Shapes: (a, b) → (a,) for `dim` -1; () for None.

        >>> Tensor([1.0, 2.0, 3.0]).std().item()
        1.0
        """
        x = _to_float(self, None, "std")
        return x.cast(_accumulator(x.dtype)).var(dim, correction, keepdim).sqrt().cast(x.dtype)

    def argmax(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """The position of the first greatest element, as int64; NaN counts as the greatest.

        Shapes: (a, b) → (a,) for `dim` -1; for None, () and a position in row-major order.

        >>> Tensor([3, 9, 9]).argmax().item()
        1

        Raises `ShapeError` for no elements.
        """
        return _position(self, Op.MAXIMUM, dim, keepdim, "argmax")

    def argmin(self, dim: int | None = None, keepdim: bool = False) -> Tensor:
        """The position of the first least element, as int64; NaN counts as the least.

        Shapes: (a, b) → (a,) for `dim` -1; for None, () and a position in row-major order.

        >>> Tensor([3, 1, 1]).argmin().item()
        1

        Raises `ShapeError` for no elements.
        """
        return _position(self, Op.MINIMUM, dim, keepdim, "argmin")


def _resolve(node: UOp, dim: Axes, name: str) -> tuple[int, ...]:
    """The axes meant, in order. A scalar may be reduced over the axis 0 it does not have."""
    rank = len(node.shape)
    if dim is None or dim == () or dim == []:
        return tuple(range(rank))
    if rank == 0:
        to_axes(dim, 1, name)
        return ()
    return to_axes(dim, rank, name)


def _finish(x: Core, node: UOp, op: Op, dim: Axes, keepdim: bool, name: str) -> Tensor:
    axes = _resolve(node, dim, name)
    shape = node.shape
    node = build.reduce(node, op, axes)
    if not keepdim:
        kept = tuple([size for axis, size in enumerate(shape) if axis not in axes])
        node = build.reshape(node, kept)
    return wrap(node, x.device)


def _accumulate(x: Core, op: Op, dim: Axes, keepdim: bool, dtype: Any, name: str) -> Tensor:
    with graph_lock:
        node = x.node
        own = any_dtype(node.dtype, name)
        if dtype is not None:
            node = build.cast(node, any_dtype(to_dtype(dtype), name))
        elif not own.is_float:
            node = build.cast(node, dtypes.int64)
        return _finish(x, node, op, dim, keepdim, name)


_ON_BOOL = {Op.MAXIMUM: Op.OR, Op.MINIMUM: Op.AND}


def _extreme(x: Core, op: Op, dim: Axes, keepdim: bool, name: str) -> Tensor:
    with graph_lock:
        node = x.node
        any_dtype(node.dtype, name)
        for axis in _resolve(node, dim, name):
            size = node.shape[axis]
            if least(size) <= 0:
                has = "may have" if is_symbolic(size) else "has"
                raise ShapeError(
                    f"{name}: axis {axis} of shape {build.show(node.shape)} {has} no elements"
                    f"{span(size)}, and no elements have no {name}"
                )
        return _finish(x, node, _ON_BOOL[op] if node.dtype.is_bool else op, dim, keepdim, name)


def _truth(node: UOp) -> UOp:
    if node.dtype.is_bool:
        return node
    return make(Op.CMPNE, dtypes.bool_, (node, build.constant(node.dtype, 0)))


def _to_float(x: Core, dtype: Any, name: str) -> Tensor:
    with graph_lock:
        node = x.node
        if dtype is not None:
            node = build.cast(node, to_dtype(dtype))
        if not node.dtype.is_float:
            raise DtypeError(f"{name} does not take {node.dtype.name}: cast to a float dtype first")
        any_dtype(node.dtype, name)
        return wrap(node, x.device)


def _accumulator(dtype: DType) -> DType:
    return dtypes.float32 if dtype in build.WIDENED else dtype


def _number(x: Core, dim: Axes, name: str) -> Dim:
    """How many elements are reduced into one."""
    shape = x.node.shape
    return element_count([shape[axis] for axis in _resolve(x.node, dim, name)])


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
        found = _position_along(flat.flatten(), op, 0, keepdim, name)
        return found.reshape((1,) * rank if keepdim else ())
    return _position_along(flat, op, to_axis(dim, rank, name), keepdim, name)


def _position_along(x: Tensor, op: Op, axis: int, keepdim: bool, name: str) -> Tensor:
    peak = _extreme(x, op, axis, True, name)
    found = x == peak
    if x.dtype.is_float:
        found = found | x.isnan()
    with graph_lock:
        shape = x.node.shape
        line = tuple([size if other == axis else 1 for other, size in enumerate(shape)])
        position = wrap(build.expand(build.reshape(count(shape[axis]), line), shape), x.device)
    return where(found, position, shape[axis]).min(axis, keepdim)
