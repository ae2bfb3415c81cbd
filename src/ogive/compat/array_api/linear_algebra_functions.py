"""The linear algebra of the standard's core; `ogive.linalg` has its extension."""

from __future__ import annotations

from ogive.compat.array_api.elementwise_functions import to_array
from ogive.errors import ShapeError
from ogive.tensor.core import to_axis
from ogive.tensor.tensor import Tensor


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product. Shapes: (..., m, k) @ (..., k, n) → (..., m, n); see `Tensor.matmul`.

    >>> ogive.matmul(Tensor([[1, 2]]), Tensor([[3], [4]])).tolist()
    [[11]]
    """
    return to_array(x1, "matmul").matmul(to_array(x2, "matmul"))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The last two axes exchanged. Shapes: (..., m, n) → (..., n, m).

    >>> ogive.matrix_transpose(Tensor([[1, 2]])).tolist()
    [[1], [2]]
    """
    return to_array(x, "matrix_transpose").mT


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The sum of conj(x1) · x2 along an axis that both have. Shapes: the other axes broadcast.

    >>> ogive.vecdot(Tensor([1, 2]), Tensor([3, 4])).item()
    11

    Raises `ShapeError` when the axis has different lengths.
    """
    first, second = to_array(x1, "vecdot"), to_array(x2, "vecdot")
    lines = [x.movedim(to_axis(axis, x.ndim, "vecdot"), -1) for x in (first, second)]
    lengths = [line.shape[-1] for line in lines]
    if lengths[0] != lengths[1]:
        raise ShapeError(f"vecdot: axis {axis} has the lengths {lengths[0]} and {lengths[1]}")
    row, column = lines[0].conj().unsqueeze(-2), lines[1].unsqueeze(-1)
    return row.matmul(column).squeeze((-2, -1))
