"""Set functions. The length of a result depends on the values, so they compute at once."""

from __future__ import annotations

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.compiler.ir import dtype as dtypes
from ogive.named import NamedTuple
from ogive.tensor.core import Core
from ogive.tensor.creation.constructors import arange, full
from ogive.tensor.tensor import Tensor


class UniqueAll(NamedTuple):
    """The distinct values, their first positions, the value of each element, and the counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The distinct values, and how often each occurs."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The distinct values, and for each element the index of its value."""

    values: Tensor
    inverse_indices: Tensor


def unique_all(x: Tensor, /) -> UniqueAll:
    """The distinct values in ascending order, with first positions, inverse indices and counts.

    Shapes: (n,) each, and `inverse_indices` that of x.

    >>> [each.tolist() for each in ogive.unique_all(Tensor([3, 1, 3]))]
    [[1, 3], [1, 0], [1, 0, 1], [1, 2]]
    """
    values, inverse, counts = to_array(x, "unique_all").unique(
        return_inverse=True, return_counts=True
    )
    size = x.numel()
    first = full(values.shape, size, dtypes.int64)
    if values.numel():
        first = first.scatter_reduce(0, inverse.flatten(), arange(size), "amin")
    return UniqueAll(values, first, inverse.reshape(_shape(x)), counts)


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The distinct values in ascending order, and how often each occurs. Shapes: (n,) each.

    >>> [each.tolist() for each in ogive.unique_counts(Tensor([3, 1, 3]))]
    [[1, 3], [1, 2]]
    """
    return UniqueCounts(*to_array(x, "unique_counts").unique(return_counts=True))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The distinct values in ascending order, and for each element of x the index of its value.

    >>> [each.tolist() for each in ogive.unique_inverse(Tensor([3, 1, 3]))]
    [[1, 3], [1, 0, 1]]
    """
    values, inverse = to_array(x, "unique_inverse").unique(return_inverse=True)
    return UniqueInverse(values, inverse.reshape(_shape(x)))


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct values in ascending order. Shapes: (n,).

    >>> ogive.unique_values(Tensor([3, 1, 3])).tolist()
    [1, 3]
    """
    values: Tensor = to_array(x, "unique_values").unique()
    return values


def _shape(x: Core) -> tuple[int, ...]:
    return tuple(x.shape)
