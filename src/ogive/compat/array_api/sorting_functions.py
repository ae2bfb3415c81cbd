"""Sorting functions."""

from __future__ import annotations

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.tensor.tensor import Tensor


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """The positions that sort the elements along an axis. Equal elements keep their order.

    >>> ogive.argsort(Tensor([3, 1, 2])).tolist()
    [1, 2, 0]
    """
    return to_array(x, "argsort").argsort(axis, descending, stable)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements along an axis in order.

    >>> ogive.sort(Tensor([3, 1, 2]), descending=True).tolist()
    [3, 2, 1]
    """
    return to_array(x, "sort").sort(axis, descending, stable).values
