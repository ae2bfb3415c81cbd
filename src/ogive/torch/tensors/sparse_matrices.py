"""Functions of `torch` itself for sparse tensors: construction and products."""

from __future__ import annotations

from typing import Any

from ogive.errors import ShapeError
from ogive.torch.tensors import creation
from ogive.torch.tensors.sparse import SparseTensor

__all__ = ["smm", "sparse_coo_tensor", "spmm"]


def sparse_coo_tensor(
    indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> SparseTensor:
    """A sparse tensor from positions and values. Without `size`, it has the least shape possible.

    Shapes: indices (axes, entries), values (entries, ...).

    >>> ogive.torch.sparse_coo_tensor([[0, 1]], [2.0, 3.0]).to_dense().tolist()
    [2.0, 3.0]

    Raises `ShapeError` if the shapes do not agree, or if a position is out of range.
    """
    positions = creation.as_tensor(indices).long()
    numbers = creation.as_tensor(values, dtype=dtype, device=device)
    if positions.ndim != 2 or not numbers.ndim or positions.shape[1] != numbers.shape[0]:
        raise ShapeError(
            f"sparse_coo_tensor: indices of shape {positions.shape} must be (axes, entries) for "
            f"values of shape {numbers.shape}, which are (entries, ...)"
        )
    places = positions.numpy()
    least = [int(row.max(initial=-1)) + 1 for row in places]
    shape = [*least, *numbers.shape[1:]] if size is None else list(size)
    fits = zip(least, shape, strict=False)
    if len(shape) != len(least) + numbers.ndim - 1 or any(most > count for most, count in fits):
        raise ShapeError(
            f"sparse_coo_tensor: size is {tuple(shape)}, but the positions need {tuple(least)}, "
            f"with values of shape {tuple(numbers.shape[1:])}"
        )
    if places.size and places.min() < 0:
        raise ShapeError(f"sparse_coo_tensor: a position is negative: {int(places.min())}")
    matrix = SparseTensor(positions, numbers, shape, bool(is_coalesced))
    return matrix.requires_grad_() if requires_grad else matrix


def spmm(input: Any, mat2: Any) -> Any:
    """The product of a sparse matrix with a dense or a sparse one, or of dense ones.

    >>> eye = ogive.torch.sparse_coo_tensor([[0, 1], [0, 1]], [1.0, 1.0])
    >>> ogive.torch.spmm(eye, ogive.torch.ones(2, 1)).tolist()
    [[1.0], [1.0]]
    """
    return input @ mat2


smm = spmm
