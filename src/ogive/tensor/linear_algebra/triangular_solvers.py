"""Solvers with given triangular factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ogive.named import NamedTuple
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device
from ogive.tensor.creation.constructors import eye
from ogive.tensor.linear_algebra.host_matrices import to_matrix
from ogive.tensor.linear_algebra.inverses import solve_triangular

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class TriangularSolution(NamedTuple):
    """A solution, and the matrix of its system."""

    solution: Tensor
    cloned_coefficient: Tensor


@widened
def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """The X for which L Lᵀ X = B with a lower triangle L, or LᵀL X = B with an upper one.

    Shapes: (..., n, k) with (..., n, n) → (..., n, k).

    >>> ogive.cholesky_solve(Tensor([[8.0]]), Tensor([[2.0]])).tolist()
    [[2.0]]
    """
    to_matrix(L, "cholesky_solve", square=True)
    lower = L.mH if upper else L
    return solve_triangular(lower.mH, solve_triangular(lower, B, upper=False), upper=True)


@widened
def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of L Lᵀ with a lower triangle L, or of LᵀL with an upper one.

    Shapes: (..., n, n) → (..., n, n).

    >>> ogive.cholesky_inverse(Tensor([[2.0]])).tolist()
    [[0.25]]
    """
    size, _ = to_matrix(L, "cholesky_inverse", square=True)
    one = eye(size, dtype=L.dtype, device=memory_device(L))
    return cholesky_solve(one.expand(L.shape), L, upper)


@widened
def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> TriangularSolution:
    """`linalg.solve_triangular` under its former name: A X = b, or Aᵀ X = b.

    Shapes: (..., n, k) with (..., n, n) → (..., n, k), (..., n, n).

    >>> ogive.triangular_solve(Tensor([[4.0]]), Tensor([[2.0]])).solution.tolist()
    [[2.0]]
    """
    to_matrix(A, "triangular_solve", square=True)
    matrix, above = (A.mT, not upper) if transpose else (A, upper)
    solution = solve_triangular(matrix, b, upper=above, unitriangular=unitriangular)
    return TriangularSolution(solution, A.clone())
