"""Forms of inverses, solutions and decompositions, by NumPy, like the functions themselves."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.linalg import LinAlgError

from ogive.eager.casts import unbroadcast
from ogive.eager.forms import Refused, form, gradient
from ogive.eager.products.product_forms import check_work
from ogive.tensor.linear_algebra import (
    decompositions,
    inverses,
    matrix_exponential,
    matrix_functions,
)

_matmul = numpy.matmul


def _check(A: Any, square: bool = True) -> None:
    if A.dtype.kind not in "fc" or A.ndim < 2 or not A.size:
        raise Refused
    if square and A.shape[-1] != A.shape[-2]:
        raise Refused
    check_work(A.size * A.shape[-1], A.size)


def _across(matrix: Any) -> Any:
    return matrix.swapaxes(-1, -2)


@form(inverses.inv)
def inv(A: Any) -> Any:
    """The inverse."""
    _check(A)
    try:
        return numpy.linalg.inv(A)
    except LinAlgError:
        raise Refused from None


@gradient(inv)
def _inv(given: Any, out: Any, A: Any) -> Any:
    return (-_matmul(_matmul(_across(out), given), _across(out)),)


@form(inverses.solve)
def solve(A: Any, B: Any, *, left: bool = True) -> Any:
    """The X for which A X = B."""
    _check(A)
    if left is not True or A.dtype != B.dtype or not B.size:
        raise Refused
    is_vector = _is_vector(A, B)
    right = B[..., None] if is_vector else B
    if right.shape[-2] != A.shape[-1]:
        raise Refused
    batch = numpy.broadcast_shapes(A.shape[:-2], right.shape[:-2])
    size = right.shape[-2] * right.shape[-1]
    for length in batch:
        size *= length
    check_work(size * A.shape[-1], size)
    try:
        solution = numpy.linalg.solve(A, right)
    except LinAlgError:
        raise Refused from None
    return solution[..., 0].copy() if is_vector else solution


def _is_vector(A: Any, B: Any) -> bool:
    return bool(B.ndim == 1 or (B.ndim == A.ndim - 1 and B.shape == A.shape[:-1]))


@gradient(solve)
def _solve(given: Any, out: Any, A: Any, B: Any, *, left: bool = True) -> Any:
    if _is_vector(A, B):
        to_B = numpy.linalg.solve(_across(A), given[..., None])[..., 0]
        return unbroadcast(-to_B[..., :, None] * out[..., None, :], A), unbroadcast(to_B, B)
    to_B = numpy.linalg.solve(_across(A), given)
    return unbroadcast(-_matmul(to_B, _across(out)), A), unbroadcast(to_B, B)


@form(inverses.det)
def det(A: Any) -> Any:
    """The determinant. Raises `Refused` for singular matrices, whose gradient needs care."""
    _check(A)
    determinant = numpy.linalg.det(A)
    if not numpy.all(determinant):
        raise Refused
    return determinant


@gradient(det)
def _det(given: Any, out: Any, A: Any) -> Any:
    factor = numpy.asarray(given * out)
    return (factor[..., None, None] * _across(numpy.linalg.inv(A)),)


@form(matrix_functions.logdet)
def logdet(A: Any) -> Any:
    """The logarithm of the determinant."""
    _check(A)
    sign, logarithm = numpy.linalg.slogdet(A)
    if not numpy.all(sign > 0):
        raise Refused
    return numpy.asarray(logarithm)


@gradient(logdet)
def _logdet(given: Any, out: Any, A: Any) -> Any:
    return (numpy.asarray(given)[..., None, None] * _across(numpy.linalg.inv(A)),)


@form(inverses.slogdet)
def slogdet(A: Any) -> Any:
    """The sign of the determinant, and the logarithm of its absolute value."""
    _check(A)
    return _parts(inverses.SignedLogarithm, map(numpy.asarray, numpy.linalg.slogdet(A)))


@gradient(slogdet)
def _sign(given: Any, out: Any, A: Any) -> Any:
    return (numpy.zeros_like(A),)


@gradient(slogdet, 1)
def _logarithm(given: Any, out: Any, A: Any) -> Any:
    return (numpy.asarray(given)[..., None, None] * _across(numpy.linalg.inv(A)),)


@form(matrix_exponential.matrix_exp)
def matrix_exp(A: Any) -> Any:
    """The matrix exponential."""
    _check(A)
    exponential = numpy.empty_like(A)
    matrix_exponential.exponential(A, exponential)
    return exponential


@gradient(matrix_exp)
def _matrix_exp(given: Any, out: Any, A: Any) -> Any:
    """The derivative of the exponential of Aᵀ towards `given`: a block of a larger exponential."""
    size = A.shape[-1]
    blocks = numpy.zeros((*A.shape[:-2], 2 * size, 2 * size), A.dtype)
    blocks[..., :size, :size] = blocks[..., size:, size:] = _across(A)
    blocks[..., :size, size:] = given
    return (matrix_exp(blocks)[..., :size, size:],)


@form(decompositions.cholesky)
def cholesky(A: Any, *, upper: bool = False) -> Any:
    """The lower triangle L with L Lᵀ = A."""
    _check(A)
    if upper:
        raise Refused
    try:
        return numpy.linalg.cholesky(A)
    except LinAlgError:
        raise Refused from None


@gradient(cholesky)
def _cholesky(given: Any, out: Any, A: Any, *, upper: bool = False) -> Any:
    across = _across(out)
    middle = numpy.tril(_matmul(across, given))
    middle = middle + _across(numpy.tril(middle, -1))
    inner = _across(numpy.linalg.solve(across, middle * 0.5))
    return (numpy.linalg.solve(across, inner),)


def _parts(kind: Any, results: Any) -> Any:
    """NumPy's results in the class of results of the function."""
    return kind(*results)


@form(decompositions.qr)
def qr(A: Any, mode: str = "reduced") -> Any:
    """Q with orthonormal columns and an upper triangle R, with Q R = A."""
    _check(A, square=False)
    if mode != "reduced":
        raise Refused
    return _parts(decompositions.QR, numpy.linalg.qr(A))


@gradient(qr)
def _q_of_qr(given: Any, out: Any, A: Any, mode: str = "reduced") -> Any:
    return (_through_qr(A, given, None),)


@gradient(qr, 1)
def _r_of_qr(given: Any, out: Any, A: Any, mode: str = "reduced") -> Any:
    return (_through_qr(A, None, given),)


def _through_qr(A: Any, to_q: Any, to_r: Any) -> Any:
    """The gradient of A = [X, Y], where X = Q R of its first columns, and Y has the others."""
    Q, R = numpy.linalg.qr(A)
    count = R.shape[-2]
    to_y = numpy.zeros_like(A[..., count:])
    square = R[..., :count]
    middle = numpy.zeros_like(square)
    if to_r is not None:
        to_y = _matmul(Q, to_r[..., count:])
        to_q = _matmul(A[..., count:], _across(to_r[..., count:]))
        middle = _matmul(square, _across(to_r[..., :count]))
    middle = middle - _matmul(_across(to_q), Q)
    lower = numpy.tril(middle, -1)
    symmetric = numpy.tril(middle) + _across(lower)
    to_x = to_q + _matmul(Q, symmetric)
    to_x = _across(numpy.linalg.solve(square, _across(to_x)))
    return numpy.concatenate([to_x, to_y], -1)


@form(decompositions.svd)
def svd(A: Any, full_matrices: bool = True) -> Any:
    """U, S and Vᵀ with U diag(S) Vᵀ = A."""
    _check(A, square=False)
    check_work(0, max(A.shape[-2:]) ** 2 * (A.size // (A.shape[-1] * A.shape[-2])))
    return _parts(decompositions.SVD, numpy.linalg.svd(A, bool(full_matrices)))


def _reduced_svd(A: Any, full_matrices: bool) -> tuple[Any, Any, Any]:
    """The decomposition that was computed, without the vectors beyond the singular values."""
    U, S, Vh = numpy.linalg.svd(A, bool(full_matrices))
    return U[..., : S.shape[-1]], S, Vh[..., : S.shape[-1], :]


def _turned(vectors: Any, given: Any, values: Any) -> tuple[Any, Any]:
    """The part of a gradient of vectors within what they span, and by how much the values of each
    two differ: the vectors turn into each other that much more slowly."""
    within = _matmul(_across(vectors), given)
    apart = values[..., None, :] - values[..., :, None]
    apart[..., range(values.shape[-1]), range(values.shape[-1])] = 1
    return within, apart


@gradient(svd)
def _left_vectors(given: Any, out: Any, A: Any, full_matrices: bool = True) -> Any:
    U, S, Vh = _reduced_svd(A, full_matrices)
    return (_through_vectors(U, S, Vh, given[..., : S.shape[-1]]),)


@gradient(svd, 1)
def _singular_values(given: Any, out: Any, A: Any, full_matrices: bool = True) -> Any:
    U, _, Vh = _reduced_svd(A, full_matrices)
    return (_matmul(U * given[..., None, :], Vh),)


@gradient(svd, 2)
def _right_vectors(given: Any, out: Any, A: Any, full_matrices: bool = True) -> Any:
    U, S, Vh = _reduced_svd(A, full_matrices)
    to_v = _across(given[..., : S.shape[-1], :])
    return (_across(_through_vectors(_across(Vh), S, _across(U), to_v)),)


def _through_vectors(U: Any, S: Any, Vh: Any, given: Any) -> Any:
    """The gradient of U diag(S) Vh from that of U."""
    within, apart = _turned(U, given, S * S)
    scale = S[..., None, :]
    outside = (given - _matmul(U, within)) / scale
    return _matmul(_matmul(U, (within - _across(within)) / apart * scale) + outside, Vh)


@form(decompositions.eigh)
def eigh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, ascending, and their eigenvectors."""
    _check(A)
    if UPLO != "L":
        raise Refused
    return _parts(decompositions.Eigen, numpy.linalg.eigh(A))


@gradient(eigh)
def _eigenvalues(given: Any, out: Any, A: Any, UPLO: str = "L") -> Any:
    return _eigvalsh(given, out, A)


@gradient(eigh, 1)
def _eigenvectors(given: Any, out: Any, A: Any, UPLO: str = "L") -> Any:
    values, vectors = numpy.linalg.eigh(A)
    within, apart = _turned(vectors, given, values)
    within[..., range(len(values.T)), range(len(values.T))] = 0
    return (_matmul(_matmul(vectors, within / apart), _across(vectors)),)


@form(decompositions.svdvals)
def svdvals(A: Any) -> Any:
    """The singular values."""
    _check(A, square=False)
    return numpy.linalg.svd(A, compute_uv=False)


@gradient(svdvals)
def _svdvals(given: Any, out: Any, A: Any) -> Any:
    U, _, Vh = numpy.linalg.svd(A, full_matrices=False)
    return (_matmul(U * given[..., None, :], Vh),)


@form(decompositions.eigvalsh)
def eigvalsh(A: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices."""
    _check(A)
    if UPLO != "L":
        raise Refused
    return numpy.linalg.eigvalsh(A)


@gradient(eigvalsh)
def _eigvalsh(given: Any, out: Any, A: Any, UPLO: str = "L") -> Any:
    vectors = numpy.linalg.eigh(A).eigenvectors
    return (_matmul(vectors * given[..., None, :], _across(vectors)),)


@form(inverses.pinv)
def pinv(A: Any, rtol: Any = None, hermitian: Any = False) -> Any:
    """The pseudo-inverse."""
    _check(A, square=False)
    if hermitian or (rtol is not None and rtol.__class__ is not float):
        raise Refused
    bound = max(A.shape[-2:]) * float(numpy.finfo(A.dtype).eps) if rtol is None else rtol
    return numpy.linalg.pinv(A, rcond=bound)


@gradient(pinv)
def _pinv(given: Any, out: Any, A: Any, rtol: Any = None, hermitian: Any = False) -> Any:
    """That of a matrix whose rank stays: dP = -P dA P + P Pᵀ dAᵀ (1 - A P) + (1 - P A) dAᵀ Pᵀ P."""
    across, upward = _across(out), _across(given)
    rows, columns = _matmul(upward, _matmul(out, across)), _matmul(_matmul(across, out), upward)
    made = rows - _matmul(A, _matmul(out, rows)) - _matmul(_matmul(across, given), across)
    return (made + columns - _matmul(_matmul(columns, out), A),)
