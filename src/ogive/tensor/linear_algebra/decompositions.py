"""Decompositions of matrices, with gradients.

NumPy computes them (`host_matrices.py`). All take batches of matrices of float32, float64 or
complex numbers of these. Vectors of complex matrices are unique only up to their phase; as in
PyTorch, gradients are right for functions that do not depend on the phase.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from numpy.linalg import LinAlgError

from ogive.errors import ArgumentError
from ogive.named import NamedTuple
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.elementwise.complex_numbers import complex as complex_of
from ogive.tensor.linear_algebra.host_matrices import is_diagonal, on_host, to_matrix, with_gradient
from ogive.tensor.linear_algebra.inverses import solve_from_left
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import cat, where

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor

class QR(NamedTuple):
    """A matrix with orthonormal columns, and an upper triangle."""

    Q: Tensor
    R: Tensor


class SVD(NamedTuple):
    """Left vectors as columns, singular values in descending order, right vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class Eigen(NamedTuple):
    """Eigenvalues in ascending order, and their eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@open_to_eager
@widened
def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower triangle L with L Lᵀ = A, for symmetric positive definite matrices; or its
    transpose.

    Shapes: (..., n, n) → (..., n, n). Only the lower triangle of A is read.

    >>> ogive.linalg.cholesky(Tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]

    Raises `LinearAlgebraError` when computed, if a matrix is not positive definite.
    """
    to_matrix(A, "linalg.cholesky", square=True)
    result: Tensor = on_host(_lower_triangle, [A], [A.shape], "linalg.cholesky")

    def backward(upstream: Tensor) -> Tensor:
        lower = cholesky(A)
        middle = _mirrored(lower.mH @ upstream) * 0.5
        return solve_from_left(lower.mH, solve_from_left(lower.mH, middle).mH)

    lower = with_gradient([A], result, backward)
    return lower.mH if upper else lower


def _lower_triangle(matrix: Array, result: Array) -> None:
    try:
        result[...] = numpy.linalg.cholesky(matrix)
    except LinAlgError:
        raise LinAlgError("a matrix is not positive definite") from None


def _mirrored(matrix: Tensor) -> Tensor:
    """The Hermitian matrix with this lower triangle."""
    below = matrix.tril(-1)
    return below + below.mH + matrix.diagonal(0, -2, -1).real.diag_embed()


@open_to_eager
@widened
def qr(A: Tensor, mode: str = "reduced") -> QR:
    """Q with orthonormal columns and an upper triangle R, with Q R = A.

    Shapes: (..., m, n) → (..., m, k), (..., k, n) with k = min(m, n); k = m for the mode
    "complete". The mode "r" leaves Q empty.

    >>> q, r = ogive.linalg.qr(Tensor([[3.0], [4.0]]))
    >>> abs(r.item())
    5.0

    Raises `ArgumentError` for another mode. Gradients need columns that are independent, and no
    "complete" Q of more rows than columns.
    """
    rows, columns = to_matrix(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(f"linalg.qr: mode is 'reduced', 'complete' or 'r', got {mode!r}")
    if rows < columns:
        square, rest = A[..., :rows], A[..., rows:]
        Q, R = qr(square)
        R = cat([R, Q.mH @ rest], -1)
    elif mode == "complete" and rows > columns:
        shapes = [(*A.shape[:-2], rows, rows), A.shape]
        Q, R = on_host(_complete_factors, [A], shapes, "linalg.qr")
    else:
        Q, R = _qr(A)
    return QR(Q.reshape(-1)[:0] if mode == "r" else Q, R)


def _qr(A: Tensor) -> tuple[Tensor, Tensor]:
    size = A.shape[-1]
    shapes = [A.shape, (*A.shape[:-2], size, size)]
    q, r = on_host(_factors, [A], shapes, "linalg.qr")

    def backward(to_q: Tensor, to_r: Tensor) -> Tensor:
        Q, R = _qr(A)
        middle = _mirrored(R @ to_r.mH - to_q.mH @ Q)
        return solve_from_left(R, (to_q + Q @ middle).mH).mH

    factors: tuple[Tensor, Tensor] = with_gradient([A], (q, r), backward)
    return factors


def _factors(matrix: Array, q: Array, r: Array) -> None:
    q[...], r[...] = numpy.linalg.qr(matrix)


def _complete_factors(matrix: Array, q: Array, r: Array) -> None:
    q[...], r[...] = numpy.linalg.qr(matrix, mode="complete")


@open_to_eager
@widened
def svd(A: Tensor, full_matrices: bool = True) -> SVD:
    """U, S and Vᵀ with U diag(S) Vᵀ = A, the columns of U and V orthonormal.

    Shapes: (..., m, n) → (..., m, k), (..., k), (..., k, n) with k = min(m, n); U is (..., m, m)
    and Vᵀ (..., n, n) with `full_matrices`.

    >>> ogive.linalg.svd(Tensor([[3.0, 0.0], [0.0, 4.0]])).S.tolist()
    [4.0, 3.0]

    Gradients need singular values that are distinct and not 0, and no more than k vectors.
    """
    rows, columns = to_matrix(A, "linalg.svd")
    batch, k = A.shape[:-2], min(rows, columns)
    left, right = (rows, columns) if full_matrices else (k, k)
    shapes = [(*batch, rows, left), (*batch, k), (*batch, right, columns)]
    parts = tuple(on_host(_singular_parts, [A], shapes, "linalg.svd", 1))

    def backward(to_u: Tensor, to_s: Tensor, to_vh: Tensor) -> Tensor:
        return _svd_gradient(svd(A, False), to_u[..., :k], to_s, to_vh[..., :k, :])

    return SVD(*with_gradient([A], parts, backward))


def _singular_parts(matrix: Array, u: Array, s: Array, vh: Array) -> None:
    full = u.shape[-1] == u.shape[-2] and vh.shape[-1] == vh.shape[-2]
    u[...], s[...], vh[...] = numpy.linalg.svd(matrix, full_matrices=full)


def _svd_gradient(parts: SVD, to_u: Tensor, to_s: Tensor, to_vh: Tensor) -> Tensor:
    U, S, Vh = parts
    squares = S * S
    near = _reciprocals(squares.unsqueeze(-2) - squares.unsqueeze(-1))
    along = U.mH @ to_u
    turn_left = along * near
    turn_right = (Vh @ to_vh.mH) * near
    middle = (turn_left + turn_left.mH) * S.unsqueeze(-2)
    middle = middle + S.unsqueeze(-1) * (turn_right + turn_right.mH) + to_s.diag_embed()
    if U.dtype.is_complex:  # a vector of U and that of V have the same free phase
        angle = along.diagonal(0, -2, -1).imag / S
        middle = middle + complex_of(angle * 0, angle).diag_embed()
    result = U @ middle @ Vh
    if U.shape[-2] > U.shape[-1]:
        result = result + ((to_u - U @ along) / S.unsqueeze(-2)) @ Vh
    if Vh.shape[-1] > Vh.shape[-2]:
        result = result + U @ ((to_vh - (to_vh @ Vh.mH) @ Vh) / S.unsqueeze(-1))
    return result


def _reciprocals(gap: Tensor) -> Tensor:
    """Reciprocals of differences, with 0 on the diagonal, where the differences are 0."""
    return where(is_diagonal(gap), float("inf"), gap).reciprocal()


@open_to_eager
@widened
def svdvals(A: Tensor) -> Tensor:
    """The singular values in descending order. Shapes: (..., m, n) → (..., min(m, n)).

    >>> ogive.linalg.svdvals(Tensor([[3.0, 0.0], [0.0, 4.0]])).tolist()
    [4.0, 3.0]
    """

    def backward(upstream: Tensor) -> Tensor:
        U, _, Vh = svd(A, full_matrices=False)
        return (U * upstream.unsqueeze(-2)) @ Vh

    return with_gradient([A], svd(A.detach(), full_matrices=False).S, backward)


@open_to_eager
@widened
def eigh(A: Tensor, UPLO: str = "L") -> Eigen:
    """The eigenvalues of symmetric matrices, ascending, and their orthonormal eigenvectors.

    Shapes: (..., n, n) → (..., n), (..., n, n). Only the lower triangle is read, or the upper one
    for `UPLO` "U".

    >>> ogive.linalg.eigh(Tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues.tolist()
    [1.0, 2.0]

    Raises `ArgumentError` for another `UPLO`. Gradients of the vectors need distinct eigenvalues.
    """
    to_matrix(A, "linalg.eigh", square=True)
    if UPLO not in ("L", "U"):
        raise ArgumentError(f"linalg.eigh: UPLO is 'L' or 'U', got {UPLO!r}")
    function = _eigen_lower if UPLO == "L" else _eigen_upper
    parts = tuple(on_host(function, [A], [A.shape[:-1], A.shape], "linalg.eigh", 0))

    def backward(to_values: Tensor, to_vectors: Tensor) -> Tensor:
        values, vectors = eigh(A, UPLO)
        near = _reciprocals(values.unsqueeze(-2) - values.unsqueeze(-1))
        middle = (vectors.mH @ to_vectors) * near + to_values.diag_embed()
        gradient = vectors @ middle @ vectors.mH
        return (gradient + gradient.mH) * 0.5

    return Eigen(*with_gradient([A], parts, backward))


def _eigen_lower(matrix: Array, values: Array, vectors: Array) -> None:
    values[...], vectors[...] = numpy.linalg.eigh(matrix, "L")


def _eigen_upper(matrix: Array, values: Array, vectors: Array) -> None:
    values[...], vectors[...] = numpy.linalg.eigh(matrix, "U")


@open_to_eager
@widened
def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, ascending. Shapes: (..., n, n) → (..., n).

    >>> ogive.linalg.eigvalsh(Tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 2.0]
    """

    def backward(upstream: Tensor) -> Tensor:
        vectors = eigh(A, UPLO).eigenvectors
        return (vectors * upstream.unsqueeze(-2)) @ vectors.mH

    return with_gradient([A], eigh(A.detach(), UPLO).eigenvalues, backward)


