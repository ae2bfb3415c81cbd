"""Products of Householder reflections I - τ v vᴴ, the form in which QR is computed.

They are multiplied all at once. With V the matrix of the vectors as columns, which have 1 on the
diagonal and 0 above it, and D the diagonal matrix of the τ,

    H₁ H₂ ··· Hₖ = I - V T Vᴴ,   T = (I + D · triu(Vᴴ V, 1))⁻¹ D
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ogive.errors import ShapeError
from ogive.named import NamedTuple
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device
from ogive.tensor.creation.constructors import eye
from ogive.tensor.linear_algebra.host_matrices import to_matrix
from ogive.tensor.linear_algebra.inverses import solve_triangular
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor


class Reflections(NamedTuple):
    """R, with the vectors below its diagonal, and their factors τ."""

    a: Tensor
    tau: Tensor


@widened
def geqrf(input: Tensor) -> Reflections:
    """QR in LAPACK's compact form: R, and below it the vectors whose reflections make Q.

    Shapes: (..., m, n) → (..., m, n), (..., min(m, n)). Without gradients; `linalg.qr` has them.

    >>> ogive.geqrf(Tensor([[2.0]])).a.tolist()
    [[2.0]]
    """
    rows, columns = to_matrix(input, "geqrf")
    shape = (*input.shape[:-2], min(rows, columns))
    outputs = [(input.shape, input.dtype), (shape, input.dtype)]
    return Reflections(*custom(_reflect, [input.detach()], outputs, "geqrf", batched=True))


def _reflect(matrix: Array, compact: Array, factors: Array) -> None:
    if matrix.size:
        turned, factors[...] = numpy.linalg.qr(matrix, mode="raw")
        compact[...] = numpy.swapaxes(turned, -1, -2)


@widened
def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of reflections along the columns of A.

    Shapes: (..., m, n) with m ≥ n, (..., k) with k ≤ n → (..., m, n).

    >>> ogive.linalg.householder_product(Tensor([[1.0], [1.0]]), Tensor([1.0])).tolist()
    [[0.0], [-1.0]]

    Raises `ShapeError` when they do not fit.
    """
    rows, columns = to_matrix(A, "linalg.householder_product")
    if rows < columns:
        raise ShapeError(f"linalg.householder_product: the shape is {A.shape}; there are too few "
                         "rows")  # fmt: skip
    start = eye(rows, columns, A.dtype, memory_device(A))
    return _apply(A, tau, start.expand(*A.shape[:-2], rows, columns), False)


@widened
def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Q C, or C Q unless `left`, or with Qᴴ, for the Q of `geqrf`, which is not materialized.

    Shapes: input (..., m, n), tau (..., k), other (..., m, c) → (..., m, c); (..., c, m) unless
    `left`.

    >>> a, tau = ogive.geqrf(Tensor([[3.0], [4.0]]))
    >>> ogive.ormqr(a, tau, Tensor([[3.0], [4.0]]), transpose=True).abs().tolist()
    [[5.0], [0.0]]

    Raises `ShapeError` when they do not fit.
    """
    rows, _ = to_matrix(input, "ormqr")
    if other.ndim < 2 or other.shape[-2 if left else -1] != rows:
        raise ShapeError(
            f"ormqr: input has the shape {input.shape} and other {other.shape}; expected {rows} "
            f"{'rows' if left else 'columns'}"
        )
    if left:
        return _apply(input, tau, other, transpose)
    return _apply(input, tau, other.mH, not transpose).mH


def _apply(A: Tensor, tau: Tensor, C: Tensor, adjoint: bool) -> Tensor:
    """The product of reflections, or its adjoint, times C."""
    count = tau.shape[-1]
    V = A[..., :count].tril(-1) + eye(A.shape[-2], count, A.dtype, memory_device(A))
    factor = tau.unsqueeze(-1)
    middle = (V.mH @ V).triu(1) * factor
    T = solve_triangular(middle, tau.diag_embed(), upper=True, unitriangular=True)
    return C - V @ ((T.mH if adjoint else T) @ (V.mH @ C))
