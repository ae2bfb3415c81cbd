"""Searching functions. `where` and `searchsorted` are elsewhere: PyTorch has the same."""

from __future__ import annotations

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compat.array_api.statistical_functions import Axes, reduce
from ogive.errors import ShapeError
from ogive.tensor.tensor import Tensor


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The first position of the maximum, along an axis or in row-major order.

    >>> ogive.argmax(Tensor([3, 9, 9])).item()
    1
    """
    return to_array(x, "argmax").argmax(axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The first position of the minimum, along an axis or in row-major order.

    >>> ogive.argmin(Tensor([3, 1, 1])).item()
    1
    """
    return to_array(x, "argmin").argmin(axis, keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The number of nonzero elements. Shapes: the axes are removed, or kept with length 1.

    >>> ogive.count_nonzero(Tensor([[0, 1], [2, 3]]), axis=1).tolist()
    [1, 2]
    """
    return reduce("sum", to_array(x, "count_nonzero").bool(), axis, keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The positions of elements that are not zero, a vector per axis. Computes at once.

    Raises `ShapeError` for a scalar.

    >>> [each.tolist() for each in ogive.nonzero(Tensor([[0, 1], [2, 0]]))]
    [[0, 1], [1, 0]]
    """
    array = to_array(x, "nonzero")
    if not array.ndim:
        raise ShapeError("nonzero: a scalar has no axes, and so no positions")
    return tuple(array.nonzero(as_tuple=True))
