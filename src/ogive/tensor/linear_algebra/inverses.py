"""Inverses, solutions of linear systems, and determinants, with gradients.

NumPy computes them (`host_matrices.py`). All take batches of matrices of float32, float64 or
complex numbers of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy
from numpy.linalg import LinAlgError

from ogive.compat.methods.keywords import also
from ogive.compiler.ir.dtype import promote
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ShapeError
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.complex_numbers import complex as complex_of
from ogive.tensor.linear_algebra.host_matrices import is_diagonal, on_host, to_matrix, with_gradient
from ogive.tensor.method_functions import open_to_eager

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor

class SignedLogarithm(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


@open_to_eager
@widened
def inv(A: Tensor) -> Tensor:
    """The inverse. Shapes: (..., n, n) → (..., n, n).

    >>> ogive.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]

    Raises `ShapeError` unless the matrices are square; `LinearAlgebraError` when computed, if one
    is singular.
    """
    to_matrix(A, "linalg.inv", square=True)
    result: Tensor = on_host(_inverse, [A], [A.shape], "linalg.inv")

    def backward(upstream: Tensor) -> Tensor:
        inverse = inv(A).mH
        return -(inverse @ upstream @ inverse)

    return with_gradient([A], result, backward)


def _inverse(matrix: Array, result: Array) -> None:
    try:
        result[...] = numpy.linalg.inv(matrix)
    except LinAlgError:
        raise LinAlgError("a matrix is singular and has no inverse; pinv takes any") from None


@open_to_eager
@also(rcond="rtol")
def pinv(A: Tensor, rtol: float | Tensor | None = None, hermitian: bool = False) -> Tensor:
    """The pseudo-inverse V S⁺ Uᵀ. Singular values up to rtol · the greatest one count as 0.

    Shapes: (..., m, n) → (..., n, m). `rtol` is max(m, n) · ε by default. With `hermitian`, the
    matrices are Hermitian, and only the lower triangle and the real part of the diagonal are read.

    >>> ogive.linalg.pinv(Tensor([[2.0], [0.0]])).tolist()
    [[0.5, 0.0]]
    """
    rows, columns = to_matrix(A, "linalg.pinv", hermitian)
    bound = max(rows, columns) * float(numpy.finfo(A.dtype.numpy).eps) if rtol is None else rtol
    if hermitian:
        half = A.tril(-1) + A.tril().triu() / 2
        return pinv(half + half.mH, bound)

    bounds = [bound] if isinstance(bound, Core) else []

    def pseudo_inverse(matrix: Array, *limit_and_result: Array) -> None:
        *limit, result = limit_and_result
        if result.size:
            result[...] = numpy.linalg.pinv(matrix, rcond=limit[0] if limit else bound)

    shape = (*A.shape[:-2], columns, rows)
    result: Tensor = on_host(pseudo_inverse, [A, *bounds], [shape], "linalg.pinv")

    def backward(upstream: Tensor) -> Tensor:
        inverse, turned = pinv(A, bound), upstream.mH
        across, back = inverse.mH, A @ inverse
        left = turned - back @ turned
        right = turned - turned @ (inverse @ A)
        return left @ inverse @ across + across @ inverse @ right - across @ upstream @ across

    return with_gradient([A], result, backward)


@open_to_eager
@widened
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The X for which A X = B, or X A = B unless `left`.

    Shapes: (..., n, n) with (..., n, k) → (..., n, k), or with (..., n) → (..., n); the axes in
    front broadcast. Dtypes are promoted.

    >>> ogive.linalg.solve(Tensor([[2.0, 0.0], [0.0, 4.0]]), Tensor([2.0, 2.0])).tolist()
    [1.0, 0.5]

    Raises `ShapeError` when they do not fit; `LinearAlgebraError` when computed, if A is singular.
    """
    size, _ = to_matrix(A, "linalg.solve", square=True)
    if A.dtype is not B.dtype:
        dtype = promote(A.dtype, B.dtype)
        A, B = A.cast(dtype), B.cast(dtype)
    is_vector = B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1])
    if not left:
        if is_vector:
            raise ShapeError("linalg.solve: left=False takes matrices B, not vectors")
        return solve(A.mT, B.mT).mT
    right = B.unsqueeze(-1) if is_vector else B
    if right.shape[-2] != size:
        raise ShapeError(
            f"linalg.solve: A has the shape {build.show(A.shape)}, B {build.show(B.shape)}; "
            f"expected B of shape (..., {size}, k)"
        )
    batch = build.broadcast_shapes(A.shape[:-2], right.shape[:-2], "linalg.solve")
    X = solve_from_left(A.expand(*batch, size, size), right.expand(*batch, *right.shape[-2:]))
    return X.squeeze(-1) if is_vector else X


def solve_from_left(A: Tensor, B: Tensor) -> Tensor:
    """The X for which A X = B, for checked matrices."""
    result: Tensor = on_host(_solution, [A, B], [B.shape], "linalg.solve")

    def backward(upstream: Tensor) -> tuple[Tensor, Tensor]:
        to_right = solve_from_left(A.mH, upstream)
        return -(to_right @ solve_from_left(A, B).mH), to_right

    return with_gradient([A, B], result, backward)


def _solution(matrix: Array, right: Array, result: Array) -> None:
    try:
        result[...] = numpy.linalg.solve(matrix, right)
    except LinAlgError:
        raise LinAlgError("a matrix is singular; lstsq takes any") from None


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """`solve` for the upper or the lower triangle of A; the other elements are ignored.

    Shapes: (..., n, n) with (..., n, k) → (..., n, k). With `unitriangular` the diagonal counts
    as 1.

    >>> A = Tensor([[1.0, 9.0], [2.0, 1.0]])
    >>> ogive.linalg.solve_triangular(A, Tensor([[1.0], [4.0]]), upper=False).tolist()
    [[1.0], [2.0]]
    """
    to_matrix(A, "linalg.solve_triangular", square=True)
    inner = int(unitriangular)
    triangle = A.triu(inner) if upper else A.tril(-inner)
    if unitriangular:
        triangle = triangle + is_diagonal(A).cast(A.dtype)
    return solve(triangle, B, left=left)


# Determinants


@open_to_eager
def det(A: Tensor) -> Tensor:
    """The determinant. Shapes: (..., n, n) → (...). Up to 3 × 3 it is compiled.

    >>> ogive.linalg.det(Tensor([[1.0, 2.0], [3.0, 4.0]])).item()
    -2.0

    Raises `ShapeError` unless the matrices are square. Gradients of larger matrices need the
    inverse: `LinearAlgebraError` if one is singular.
    """
    size, _ = to_matrix(A, "linalg.det", square=True)
    if size <= 3:
        return _small_det(A, size)
    result: Tensor = on_host(_determinant, [A], [A.shape[:-2]], "linalg.det")

    def backward(upstream: Tensor) -> Tensor:
        return (upstream * det(A).conj()).unsqueeze(-1).unsqueeze(-1) * inv(A).mH

    return with_gradient([A], result, backward)


def _small_det(A: Tensor, size: int) -> Tensor:
    """The determinant, expanded along the first row by minors."""
    if size == 0:
        with graph_lock:
            return wrap(build.unmoved(build.filled(A.dtype, 1, A.shape[:-2]), A.node), A.device)
    if size == 1:
        return A[..., 0, 0]
    if size == 2:
        return A[..., 0, 0] * A[..., 1, 1] - A[..., 0, 1] * A[..., 1, 0]
    a, b, c = [A[..., row, :] for row in range(3)]
    return (a * b.cross(c, -1)).sum(-1)


def _determinant(matrix: Array, result: Array) -> None:
    result[...] = numpy.linalg.det(matrix)


@open_to_eager
def slogdet(A: Tensor) -> SignedLogarithm:
    """The sign of the determinant and the logarithm of its absolute value, which does not overflow.

    Shapes: (..., n, n) → (...) both. A singular matrix has the sign 0 and the logarithm -∞.

    >>> ogive.linalg.slogdet(Tensor([[-2.0]])).sign.item()
    -1.0
    """
    to_matrix(A, "linalg.slogdet", square=True)
    sign, logarithm = on_host(_signed_logarithm, [A], [A.shape[:-2]] * 2, "linalg.slogdet", 1)

    def backward(to_sign: Tensor, to_logarithm: Tensor) -> Tensor:
        scale = to_logarithm
        if A.dtype.is_complex:  # the sign is a phase, which follows that of the determinant
            turn = (to_sign * slogdet(A).sign.conj()).imag
            scale = complex_of(to_logarithm, turn)
        return scale.unsqueeze(-1).unsqueeze(-1) * inv(A).mH

    return SignedLogarithm(*with_gradient([A], (sign, logarithm), backward))


def _signed_logarithm(matrix: Array, sign: Array, logarithm: Array) -> None:
    sign[...], logarithm[...] = numpy.linalg.slogdet(matrix)


