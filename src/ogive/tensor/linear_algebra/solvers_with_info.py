"""Solvers that report singular matrices by a number instead of an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from numpy.linalg import LinAlgError

from ogive.compiler.ir import dtype as dtypes
from ogive.named import NamedTuple
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device
from ogive.tensor.creation.constructors import eye
from ogive.tensor.linear_algebra.decompositions import cholesky
from ogive.tensor.linear_algebra.host_matrices import to_matrix
from ogive.tensor.linear_algebra.inverses import inv, solve
from ogive.tensor.linear_algebra.lu_factors import lu_factor_ex, refuse_failed
from ogive.tensor.movement.joining import where
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor


class Inverse(NamedTuple):
    """Inverses, and for each the first column without a pivot, from 1 on; 0 for none."""

    inverse: Tensor
    info: Tensor


class Solution(NamedTuple):
    """Solutions, and for each the first column without a pivot, from 1 on; 0 for none."""

    result: Tensor
    info: Tensor


class Triangle(NamedTuple):
    """Triangles, and for each the first minor that is not positive, from 1 on; 0 for none."""

    L: Tensor
    info: Tensor


@widened
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Inverse:
    """The inverse, and whether it exists. Shapes: (..., n, n) → (..., n, n), (...) of int32.

    Matrices without a result are NaN.

    >>> ogive.linalg.inv_ex(Tensor([[2.0]])).inverse.tolist()
    [[0.5]]
    >>> ogive.linalg.inv_ex(Tensor([[0.0]])).info.item()
    1

    Raises `LinearAlgebraError` if it is singular and `check_errors` is set; computes at once then.
    """
    to_matrix(A, "linalg.inv_ex", square=True)
    info = lu_factor_ex(A.detach()).info
    if check_errors:
        refuse_failed(info, "linalg.inv_ex: a matrix is singular, by its column {}")
    regular, failed = _regular(A, info)
    return Inverse(where(failed, float("nan"), inv(regular)), info)


@widened
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Solution:
    """`solve`, and whether a solution exists. Shapes: as `solve`; (...) of int32.

    >>> ogive.linalg.solve_ex(Tensor([[2.0]]), Tensor([4.0])).result.tolist()
    [2.0]

    Raises `LinearAlgebraError` if A is singular and `check_errors` is set; computes at once then.
    """
    to_matrix(A, "linalg.solve_ex", square=True)
    info = lu_factor_ex(A.detach()).info
    if check_errors:
        refuse_failed(info, "linalg.solve_ex: a matrix is singular, by its column {}")
    regular, failed = _regular(A, info)
    result = solve(regular, B, left=left)
    shown = failed if result.ndim >= A.ndim else failed.squeeze(-1)
    return Solution(where(shown, float("nan"), result), info)


def _regular(A: Tensor, info: Tensor) -> tuple[Tensor, Tensor]:
    """The matrices with identities in place of singular ones, and a mask of these: (..., 1, 1)."""
    failed = info.ne(0).unsqueeze(-1).unsqueeze(-1)
    one = eye(A.shape[-1], dtype=A.dtype, device=memory_device(A))
    return where(failed, one, A), failed


@widened
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Triangle:
    """`cholesky`, and whether it exists. Shapes: (..., n, n) → (..., n, n), (...) of int32.

    Matrices without a result are NaN.

    >>> ogive.linalg.cholesky_ex(Tensor([[4.0]])).L.tolist()
    [[2.0]]
    >>> ogive.linalg.cholesky_ex(Tensor([[1.0, 0.0], [0.0, -1.0]])).info.item()
    2

    Raises `LinearAlgebraError` if it is not positive definite and `check_errors` is set; computes
    at once then.
    """
    to_matrix(A, "linalg.cholesky_ex", square=True)
    batch = A.shape[:-2]
    info: Tensor = custom(_minors, [A.detach()], (batch, dtypes.int32), "minors", batched=True)
    if check_errors:
        refuse_failed(info, "linalg.cholesky_ex: minor {} of a matrix is not positive")
    regular, failed = _regular(A, info)
    return Triangle(where(failed, float("nan"), cholesky(regular, upper=upper)), info)


def _minors(matrix: Array, info: Array) -> None:
    """Find the smallest leading minor of each matrix that is not positive definite."""
    size = matrix.shape[-1]
    minors = numpy.zeros(info.size, numpy.int32)
    for number, one in enumerate(matrix.reshape(info.size, size, size)):
        minors[number] = 0 if _is_definite(one) else _first_indefinite(one)
    info[...] = minors.reshape(info.shape)


def _first_indefinite(matrix: Array) -> int:
    low, high = 0, len(matrix)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_definite(matrix[:middle, :middle]) else (low, middle)
    return high


def _is_definite(matrix: Array) -> bool:
    try:
        numpy.linalg.cholesky(matrix)
    except LinAlgError:
        return False
    return True
