"""Matrices solved, inverted and decomposed, with gradients.

The work is NumPy's (LAPACK), as a step between the kernels: lazy as anything else, on one core, and
with a copy of the matrices in and out. All take batches of matrices, of float32 and float64 or of
complex numbers of these. What goes back is made of tensor operations, so it can be differentiated
again. Vectors of complex matrices are known up to their angle: as in PyTorch, gradients are right
for what does not depend on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy
from numpy.linalg import LinAlgError

from ogive.compat.methods.keywords import also
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import promote
from ogive.ir.ops import Op
from ogive.ir.shape import Shape
from ogive.live.registry import graph_lock, make
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import Core, wrap
from ogive.tensor.elementwise.complex_numbers import complex as complex_of
from ogive.tensor.movement.joining import cat, where
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.tensor import Tensor

    Array = NDArray[Any]

Outputs = TypeVar("Outputs")


class SignedLogarithm(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Tensor
    logabsdet: Tensor


class QR(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    Q: Tensor
    R: Tensor


class SVD(NamedTuple):
    """Left vectors as columns, singular values in descending order, right vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class Eigen(NamedTuple):
    """Eigenvalues in ascending order, and the vectors that belong to them as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


# Inverses


@widened
def inv(A: Tensor) -> Tensor:
    """The inverse. Shapes: (..., n, n) → (..., n, n).

    >>> ogive.linalg.inv(Tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]

    Raises `ShapeError` unless the matrices are square; `LinearAlgebraError` when computed, if one
    is singular.
    """
    to_matrix(A, "linalg.inv", square=True)
    result: Tensor = _on_host(_inverse, [A], [A.shape], "linalg.inv")

    def backward(upstream: Tensor) -> Tensor:
        inverse = inv(A).mH
        return -(inverse @ upstream @ inverse)

    return with_gradient([A], result, backward)


def _inverse(matrix: Array, result: Array) -> None:
    try:
        result[...] = numpy.linalg.inv(matrix)
    except LinAlgError:
        raise LinAlgError("a matrix is singular and has no inverse; pinv takes any") from None


@also(rcond="rtol")
def pinv(A: Tensor, rtol: float | Tensor | None = None, hermitian: bool = False) -> Tensor:
    """The pseudo-inverse: V S⁺ Uᵀ, where singular values up to rtol · the greatest count as 0.

    Shapes: (..., m, n) → (..., n, m). `rtol` is max(m, n) · ε by default. `hermitian` says that the
    matrices are symmetric; only their lower triangle is read.

    >>> ogive.linalg.pinv(Tensor([[2.0], [0.0]])).tolist()
    [[0.5, 0.0]]
    """
    rows, columns = to_matrix(A, "linalg.pinv", hermitian)
    bound = max(rows, columns) * float(numpy.finfo(A.dtype.numpy).eps) if rtol is None else rtol
    if hermitian:
        return pinv(A.tril() + A.tril(-1).mH, bound)

    bounds = [bound] if isinstance(bound, Core) else []

    def pseudo_inverse(matrix: Array, *limit_and_result: Array) -> None:
        *limit, result = limit_and_result
        if result.size:
            result[...] = numpy.linalg.pinv(matrix, rcond=limit[0] if limit else bound)

    shape = (*A.shape[:-2], columns, rows)
    result: Tensor = _on_host(pseudo_inverse, [A, *bounds], [shape], "linalg.pinv")

    def backward(upstream: Tensor) -> Tensor:
        inverse, turned = pinv(A, bound), upstream.mH
        across, back = inverse.mH, A @ inverse
        left = turned - back @ turned
        right = turned - turned @ (inverse @ A)
        return left @ inverse @ across + across @ inverse @ right - across @ upstream @ across

    return with_gradient([A], result, backward)


@widened
def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The X for which A X = B, or X A = B unless `left`.

    Shapes: (..., n, n) with (..., n, k) → (..., n, k), or with (..., n) → (..., n); those in front
    broadcast. Two dtypes meet in the one that they promote to.

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
    X = _solve(A.expand(*batch, size, size), right.expand(*batch, *right.shape[-2:]))
    return X.squeeze(-1) if is_vector else X


def _solve(A: Tensor, B: Tensor) -> Tensor:
    result: Tensor = _on_host(_solution, [A, B], [B.shape], "linalg.solve")

    def backward(upstream: Tensor) -> tuple[Tensor, Tensor]:
        to_right = _solve(A.mH, upstream)
        return -(to_right @ _solve(A, B).mH), to_right

    return with_gradient([A, B], result, backward)


def _solution(matrix: Array, right: Array, result: Array) -> None:
    try:
        result[...] = numpy.linalg.solve(matrix, right)
    except LinAlgError:
        raise LinAlgError("a matrix is singular; lstsq takes any") from None


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """`solve` for the upper or the lower triangle of A, what is beside it being ignored.

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


def det(A: Tensor) -> Tensor:
    """The determinant. Shapes: (..., n, n) → (...). Up to 3 × 3 it is compiled.

    >>> ogive.linalg.det(Tensor([[1.0, 2.0], [3.0, 4.0]])).item()
    -2.0

    Raises `ShapeError` unless the matrices are square. Going back needs the inverse of matrices
    that are larger: `LinearAlgebraError` if one is singular.
    """
    size, _ = to_matrix(A, "linalg.det", square=True)
    if size <= 3:
        return _small_det(A, size)
    result: Tensor = _on_host(_determinant, [A], [A.shape[:-2]], "linalg.det")

    def backward(upstream: Tensor) -> Tensor:
        return (upstream * det(A).conj()).unsqueeze(-1).unsqueeze(-1) * inv(A).mH

    return with_gradient([A], result, backward)


def _small_det(A: Tensor, size: int) -> Tensor:
    """The sum over the first row of each element times the determinant of what is not beside it."""
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


def slogdet(A: Tensor) -> SignedLogarithm:
    """The sign of the determinant and the logarithm of its absolute value, which does not overflow.

    Shapes: (..., n, n) → (...) both. A singular matrix has the sign 0 and the logarithm -∞.

    >>> ogive.linalg.slogdet(Tensor([[-2.0]])).sign.item()
    -1.0
    """
    to_matrix(A, "linalg.slogdet", square=True)
    sign, logarithm = _on_host(_signed_logarithm, [A], [A.shape[:-2]] * 2, "linalg.slogdet", 1)

    def backward(to_sign: Tensor, to_logarithm: Tensor) -> Tensor:
        scale = to_logarithm
        if A.dtype.is_complex:  # a sign is an angle, which turns with the determinant
            turn = (to_sign * slogdet(A).sign.conj()).imag
            scale = complex_of(to_logarithm, turn)
        return scale.unsqueeze(-1).unsqueeze(-1) * inv(A).mH

    return SignedLogarithm(*with_gradient([A], (sign, logarithm), backward))


def _signed_logarithm(matrix: Array, sign: Array, logarithm: Array) -> None:
    sign[...], logarithm[...] = numpy.linalg.slogdet(matrix)


# Decompositions


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
    result: Tensor = _on_host(_lower_triangle, [A], [A.shape], "linalg.cholesky")

    def backward(upstream: Tensor) -> Tensor:
        lower = cholesky(A)
        middle = _mirrored(lower.mH @ upstream) * 0.5
        return _solve(lower.mH, _solve(lower.mH, middle).mH)

    lower = with_gradient([A], result, backward)
    return lower.mH if upper else lower


def _lower_triangle(matrix: Array, result: Array) -> None:
    try:
        result[...] = numpy.linalg.cholesky(matrix)
    except LinAlgError:
        raise LinAlgError("a matrix is not positive definite") from None


def _mirrored(matrix: Tensor) -> Tensor:
    """The lower triangle, and its conjugate above the diagonal, which is real."""
    below = matrix.tril(-1)
    return below + below.mH + matrix.diagonal(0, -2, -1).real.diag_embed()


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
        Q, R = _on_host(_complete_factors, [A], shapes, "linalg.qr")
    else:
        Q, R = _qr(A)
    return QR(Q.reshape(-1)[:0] if mode == "r" else Q, R)


def _qr(A: Tensor) -> tuple[Tensor, Tensor]:
    size = A.shape[-1]
    shapes = [A.shape, (*A.shape[:-2], size, size)]
    q, r = _on_host(_factors, [A], shapes, "linalg.qr")

    def backward(to_q: Tensor, to_r: Tensor) -> Tensor:
        Q, R = _qr(A)
        middle = _mirrored(R @ to_r.mH - to_q.mH @ Q)
        return _solve(R, (to_q + Q @ middle).mH).mH

    made: tuple[Tensor, Tensor] = with_gradient([A], (q, r), backward)
    return made


def _factors(matrix: Array, q: Array, r: Array) -> None:
    q[...], r[...] = numpy.linalg.qr(matrix)


def _complete_factors(matrix: Array, q: Array, r: Array) -> None:
    q[...], r[...] = numpy.linalg.qr(matrix, mode="complete")


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
    parts = tuple(_on_host(_singular_parts, [A], shapes, "linalg.svd", 1))

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
    if U.dtype.is_complex:  # what turns a vector of U turns that of V with it
        angle = along.diagonal(0, -2, -1).imag / S
        middle = middle + complex_of(angle * 0, angle).diag_embed()
    result = U @ middle @ Vh
    if U.shape[-2] > U.shape[-1]:
        result = result + ((to_u - U @ along) / S.unsqueeze(-2)) @ Vh
    if Vh.shape[-1] > Vh.shape[-2]:
        result = result + U @ ((to_vh - (to_vh @ Vh.mH) @ Vh) / S.unsqueeze(-1))
    return result


def _reciprocals(gap: Tensor) -> Tensor:
    """What to multiply by to divide by differences: 0 on the diagonal, where there are none."""
    return where(is_diagonal(gap), float("inf"), gap).reciprocal()


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
    parts = tuple(_on_host(function, [A], [A.shape[:-1], A.shape], "linalg.eigh", 0))

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


# What they share


def to_matrix(A: Any, name: str, square: bool = False) -> tuple[int, int]:
    """The rows and columns of a batch of matrices. Raises `ShapeError` and `DtypeError`."""
    if not isinstance(A, Core):
        raise ArgumentTypeError(f"{name} takes a tensor, got {A!r}")
    if A.ndim < 2 or (square and A.shape[-1] != A.shape[-2]):
        wanted = "(..., n, n)" if square else "(..., m, n)"
        raise ShapeError(f"{name}: the shape is {build.show(A.shape)}; expected {wanted}")
    if A.dtype.part not in (dtypes.float32, dtypes.float64):
        raise DtypeError(
            f"{name} takes float32 and float64, or complex numbers of them, not {A.dtype.name}; "
            "cast it first"
        )
    rows, columns = A.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise ShapeError(f"{name}: the shape {build.show(A.shape)} must not depend on variables")
    return rows, columns


def is_diagonal(A: Core) -> Tensor:
    """Where the diagonal of square matrices is: (..., n, n) → (n, n) of bool."""
    with graph_lock:
        plane = A.node.shape[-2:]
        row, column = build.count_along(0, plane), build.count_along(1, plane)
        return wrap(make(Op.CMPEQ, dtypes.bool_, (row, column)), A.device)


def _on_host(
    function: Callable[..., None],
    inputs: list[Tensor],
    shapes: list[Shape],
    name: str,
    real: int | None = None,
) -> Any:
    """What NumPy computes: one tensor, or a list of several, of which one is always `real`."""
    dtype = inputs[0].dtype
    outputs = [
        (shape, dtype.part if number == real else dtype) for number, shape in enumerate(shapes)
    ]
    wanted = outputs if len(outputs) > 1 else outputs[0]
    return custom(function, inputs, wanted, name, batched=True)


def with_gradient(inputs: list[Tensor], outputs: Outputs, backward: Callable[..., Any]) -> Outputs:
    """The outputs, whose gradients go to the inputs by `backward`."""
    from ogive.autograd.custom import custom_gradient

    made: Outputs = custom_gradient(lambda *tensors: (outputs, backward))(*inputs)
    return made
