"""Statistical functions.

The differences from the methods of `Tensor`: the empty tuple `()` reduces no axis; sums of unsigned
integers are unsigned; `std` and `var` divide by n unless a correction is given.
"""

from __future__ import annotations

from typing import Any

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import to_dtype
from ogive.errors import AxisError
from ogive.tensor.core import to_axis, to_entries
from ogive.tensor.creation.constructors import full
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor

Axes = int | tuple[int, ...] | None


def reduce(method: str, x: Tensor, axis: Axes, keepdims: bool, **options: Any) -> Tensor:
    """Reduce by a method of `Tensor`. Over no axes, each element is reduced by itself."""
    alone = axis is not None and not to_entries(axis)
    result: Tensor = getattr(x.unsqueeze(-1) if alone else x, method)(
        -1 if alone else axis, keepdim=keepdims and not alone, **options
    )
    return result


def _sum_dtype(x: Tensor, dtype: Any) -> Any:
    """The dtype of sums and products: unsigned integers add up in uint64."""
    if dtype is None and x.dtype.kind == "uint":
        return dtypes.uint64
    return None if dtype is None else to_dtype(dtype)


def sum(x: Tensor, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum over axes, all for None.

    >>> ogive.sum(Tensor([[1, 2], [3, 4]]), axis=0, keepdims=True).tolist()
    [[4, 6]]
    """
    own = to_array(x, "sum")
    return reduce("sum", own, axis, keepdims, dtype=_sum_dtype(own, dtype))


def prod(x: Tensor, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product over axes, all for None.

    >>> ogive.prod(Tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [2, 12]
    """
    own = to_array(x, "prod")
    return reduce("prod", own, axis, keepdims, dtype=_sum_dtype(own, dtype))


def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The maximum over axes, all for None; NaN if an element is NaN.

    >>> ogive.max(Tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [2, 4]
    """
    return reduce("amax", to_array(x, "max"), axis, keepdims)


def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The minimum over axes, all for None; NaN if an element is NaN.

    >>> ogive.min(Tensor([[1, 2], [3, 4]]), axis=1).tolist()
    [1, 3]
    """
    return reduce("amin", to_array(x, "min"), axis, keepdims)


def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The average over axes, all for None.

    >>> ogive.mean(Tensor([1.0, 2.0, 6.0])).item()
    3.0
    """
    return reduce("mean", to_array(x, "mean"), axis, keepdims)


def var(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance over axes: the squared distances from the mean, over n - `correction`.

    >>> ogive.var(Tensor([1.0, 3.0])).item()
    1.0
    """
    return reduce("var", to_array(x, "var"), axis, keepdims, correction=correction)


def std(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The square root of `var`.

    >>> ogive.std(Tensor([1.0, 3.0])).item()
    1.0
    """
    return reduce("std", to_array(x, "std"), axis, keepdims, correction=correction)


def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> Tensor:
    """The sum up to each element along an axis. A vector needs no `axis`.

    Shapes: unchanged, or one element more, with 0 in front, for `include_initial`.

    >>> ogive.cumulative_sum(Tensor([1, 2, 3]), include_initial=True).tolist()
    [0, 1, 3, 6]
    """
    return _cumulate("cumsum", x, axis, dtype, 0 if include_initial else None)


def cumulative_prod(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
) -> Tensor:
    """The product up to each element along an axis. A vector needs no `axis`.

    Shapes: unchanged, or one element more, with 1 in front, for `include_initial`.

    >>> ogive.cumulative_prod(Tensor([1, 2, 3])).tolist()
    [1, 2, 6]
    """
    return _cumulate("cumprod", x, axis, dtype, 1 if include_initial else None)


def _cumulate(method: str, x: Tensor, axis: int | None, dtype: Any, first: int | None) -> Tensor:
    own = to_array(x, method)
    if axis is None and own.ndim != 1:
        raise AxisError(f"{method}: shape {own.shape} has {own.ndim} axes; say which with axis")
    place = to_axis(0 if axis is None else axis, own.ndim, method)
    result: Tensor = getattr(own, method)(place, _sum_dtype(own, dtype))
    if first is None:
        return result
    shape = [1 if each == place else size for each, size in enumerate(result.shape)]
    return cat([full(shape, first, result.dtype), result], place)
