"""Utility functions."""

from __future__ import annotations

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compat.array_api.statistical_functions import Axes, reduce
from ogive.tensor.tensor import Tensor


def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether all elements over axes are nonzero.

    >>> ogive.all(Tensor([[True, False], [True, True]]), axis=1).tolist()
    [False, True]
    """
    return reduce("all", to_array(x, "all"), axis, keepdims)


def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether any element over axes is nonzero.

    >>> ogive.any(Tensor([[True, False], [False, False]]), axis=1).tolist()
    [True, False]
    """
    return reduce("any", to_array(x, "any"), axis, keepdims)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """The differences of neighbours along an axis, taken `n` times.

    Shapes: (a, b) → (a, b - n) for `axis` -1; what is prepended and appended counts.

    >>> ogive.diff(Tensor([1, 4, 9])).tolist()
    [3, 5]
    """
    return to_array(x, "diff").diff(n, axis, prepend, append)
