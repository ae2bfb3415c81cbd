"""Linear algebra composed of other operations: norms, powers, ranks, least squares, methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import lowered, widened
from ogive.tensor.core import to_axes, to_integer, to_tensor, wrap
from ogive.tensor.linear_algebra import decompositions, inverses
from ogive.tensor.linear_algebra.host_matrices import is_diagonal, to_matrix
from ogive.tensor.movement.joining import where
from ogive.tensor.reduction.basic_reductions import Axes

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class LeastSquares(NamedTuple):
    """A solution, its sums of squared residuals, and the rank and singular values of the matrix."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


def logdet(self: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN if that is negative and not complex.

    Shapes: (..., n, n) → (...).

    >>> Tensor([[1.0]]).logdet().item()
    0.0
    """
    sign, logarithm = inverses.slogdet(self)
    if sign.dtype.is_complex:
        return sign.log() + logarithm
    return where(sign < 0, float("nan"), logarithm)


def inverse(self: Tensor) -> Tensor:
    """`ogive.linalg.inv`. Shapes: (..., n, n) → (..., n, n).

    >>> Tensor([[2.0]]).inverse().tolist()
    [[0.5]]
    """
    return inverses.inv(self)


@widened
def pinverse(self: Tensor, rcond: float = 1e-15) -> Tensor:
    """`ogive.linalg.pinv`. Shapes: (m, n) → (n, m).

    >>> Tensor([[2.0], [0.0]]).pinverse().tolist()
    [[0.5, 0.0]]
    """
    return inverses.pinv(self, rcond)


def cholesky(self: Tensor, upper: bool = False) -> Tensor:
    """`ogive.linalg.cholesky`. Shapes: (..., n, n) → (..., n, n).

    >>> Tensor([[4.0]]).cholesky().tolist()
    [[2.0]]
    """
    return decompositions.cholesky(self, upper=upper)


def qr(self: Tensor, some: bool = True) -> decompositions.QR:
    """`ogive.linalg.qr`, reduced unless `some` is False.

    Shapes: (..., m, n) → (..., m, k), (..., k, n) with k = min(m, n).

    >>> q, r = Tensor([[3.0], [4.0]]).qr()
    >>> (q @ r).allclose(Tensor([[3.0], [4.0]]))
    True
    """
    return decompositions.qr(self, "reduced" if some else "complete")


def svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """U, S and V, not transposed, with U diag(S) Vᵀ the matrix. See `ogive.linalg.svd`.

    Shapes: (..., m, n) → (..., m, k), (..., k), (..., n, k) with k = min(m, n). Without
    `compute_uv`, U and V are zeros.

    >>> U, S, V = Tensor([[3.0, 0.0], [0.0, 4.0]]).svd()
    >>> S.tolist()
    [4.0, 3.0]
    """
    U, S, Vh = decompositions.svd(self, not some)
    return (U, S, Vh.mH) if compute_uv else (U * 0, S, Vh.mH * 0)


def matrix_power(A: Tensor, n: int) -> Tensor:
    """The n-th power of A, by repeated squaring; of the inverse for a negative n.

    Shapes: (..., m, m) → (..., m, m).

    >>> ogive.linalg.matrix_power(Tensor([[1, 1], [0, 1]]), 4).tolist()
    [[1, 4], [0, 1]]

    Raises `ShapeError` unless the matrices are square.
    """
    power = to_integer(n, "matrix_power: n")
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ShapeError(f"matrix_power: the shape is {build.show(A.shape)}; expected (..., n, n)")
    if power < 0:
        return matrix_power(inverses.inv(A), -power)
    if power == 0:
        unit = is_diagonal(A).cast(A.dtype).expand(A.shape)
        with graph_lock:
            return wrap(build.unmoved(unit.node, A.node), A.device)
    result, square = None, A
    while power:
        if power & 1:
            result = square if result is None else result @ square
        power >>= 1
        square = square @ square if power else square
    assert result is not None, "a power of at least one"
    return A.clone() if result is A else result


@also(axis="dim", keepdims="keepdim")
def vector_norm(
    x: Tensor, ord: float = 2, dim: Axes = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """(Σ |x|ᵖ)^(1/p) over some axes, or all of them, p being `ord`.

    Shapes: (a, b) → (a,) for `dim` -1; () for None.

    >>> ogive.linalg.vector_norm(Tensor([3.0, 4.0])).item()
    5.0
    """
    return x.norm(ord, dim, keepdim, dtype)


@also(keepdims="keepdim")
def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """A norm of matrices: "fro" √Σx², "nuc" the sum of singular values, 2 the greatest of them, 1
    the greatest sum of a column of |x|, ∞ of a row; with a minus sign the least.

    Shapes: (..., m, n) → (...).

    >>> ogive.linalg.matrix_norm(Tensor([[3.0, 4.0]]), "nuc").item()
    5.0

    Raises `ArgumentError` for another norm.
    """
    x = A if dtype is None else A.cast(dtype)
    if len(dim) != 2:
        raise ArgumentError(f"matrix_norm: dim is two axes, got {dim}")
    to_axes(tuple(dim), x.ndim, "matrix_norm")
    if ord in ("fro", "nuc"):
        return x.norm(ord, dim, keepdim)
    plane = x.movedim(tuple(dim), (-2, -1))
    if ord in (2, -2):
        norm = _extreme(decompositions.svdvals(plane), ord)
    elif ord in (1, -1, math.inf, -math.inf):
        norm = _extreme(plane.abs().sum(-2 if abs(ord) == 1 else -1), ord)
    else:
        raise ArgumentError(
            f"matrix_norm: ord is 'fro', 'nuc', or one of ±1, ±2, ±inf, got {ord!r}"
        )
    if not keepdim:
        return norm
    axes = to_axes(tuple(dim), x.ndim, "matrix_norm")
    return norm.unsqueeze(axes[0]).unsqueeze(axes[1])


def _extreme(sizes: Tensor, ord: float) -> Tensor:
    """The greatest along the last axis, or the least for a negative `ord`; 0 if it is empty."""
    if sizes.shape[-1] == 0:
        return sizes.sum(-1)
    return sizes.amax(-1) if ord > 0 else sizes.amin(-1)


def norm(
    x: Tensor, ord: Any = None, dim: Axes = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """`matrix_norm` if `dim` is two axes, or there are two and `ord` is given; else `vector_norm`.

    Shapes: () for None; without the axes else.

    >>> ogive.linalg.norm(Tensor([[3.0], [4.0]])).item()
    5.0
    """
    is_matrix = len(dim) == 2 if isinstance(dim, tuple | list) else dim is None and x.ndim == 2
    if ord is None or not is_matrix:
        return vector_norm(x, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return matrix_norm(x, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)


@widened
def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number of a matrix: its norm times the norm of its inverse.

    Shapes: (..., n, n) → (...). Without `p`, and for 2, the ratio of singular values.

    >>> ogive.linalg.cond(Tensor([[2.0, 0.0], [0.0, 1.0]])).item()
    2.0
    """
    if p in (None, 2, -2):
        values = decompositions.svdvals(A)
        ratio = values.amax(-1) / values.amin(-1)
        return 1 / ratio if p == -2 else ratio
    return matrix_norm(A, p) * matrix_norm(inverses.inv(A), p)


@widened
def matrix_rank(
    A: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False
) -> Tensor:
    """The number of singular values above both `atol` and rtol · the greatest one, as int64.

    Shapes: (..., m, n) → (...); `atol` and `rtol` are numbers or (...). By default `atol` is 0, and
    `rtol` max(m, n) · ε where there is no `atol`.

    >>> ogive.linalg.matrix_rank(Tensor([[1.0, 1.0], [1.0, 1.0]])).item()
    1
    """
    size = max(to_matrix(A, "linalg.matrix_rank"))
    values = decompositions.eigvalsh(A).abs() if hermitian else decompositions.svdvals(A)
    if not values.shape[-1]:
        return values.sum(-1).long()
    bound = rtol
    if bound is None:
        least = size * float(numpy.finfo(A.dtype.numpy).eps)
        bound = least if atol is None else where(to_tensor(atol).gt(0), 0.0, least)
    limit: Tensor = values.amax(-1) * bound
    if atol is not None:
        limit = limit.maximum(to_tensor(atol).cast(limit.dtype))
    return values.gt(limit.unsqueeze(-1)).sum(-1)


@widened
def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> LeastSquares:
    """The X that minimizes the sum of squares of A X - B, and among these the one of least norm.

    It is computed with the pseudo-inverse, whichever of LAPACK's methods `driver` names.

    Shapes: (..., m, n) with (..., m, k) → `solution` (..., n, k); `residuals` (..., k) if m > n,
    else none.

    >>> A = Tensor([[1.0], [1.0]])
    >>> round(ogive.linalg.lstsq(A, Tensor([[1.0], [3.0]])).solution.item(), 3)
    2.0
    """
    rows, columns = to_matrix(A, "linalg.lstsq")
    solution = inverses.pinv(A, rcond) @ B
    left = A @ solution - B
    size = left.abs() if left.dtype.is_complex else left
    residuals = size.square().sum(-2) if rows > columns else size.reshape(-1)[:0]
    return LeastSquares(solution, residuals, matrix_rank(A, rtol=rcond), decompositions.svdvals(A))


@also(axis="dim", input="x", other="y")
def cross(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of three elements. Shapes: (..., 3) both → (..., 3).

    >>> ogive.linalg.cross(Tensor([1, 0, 0]), Tensor([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    return x.cross(y, dim)


def diagonal(x: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices. Shapes: (..., n, n) → (..., n).

    >>> ogive.linalg.diagonal(Tensor([[1, 2], [3, 4]])).tolist()
    [1, 4]
    """
    return x.diagonal(offset, dim1, dim2)


def matmul(x: Tensor, y: Tensor) -> Tensor:
    """The product of matrices. Shapes: (..., a, b), (..., b, c) → (..., a, c).

    >>> ogive.linalg.matmul(Tensor([[1, 2]]), Tensor([[3], [4]])).tolist()
    [[11]]
    """
    return x.matmul(y)


def matrix_transpose(x: Tensor) -> Tensor:
    """The last two axes exchanged. Shapes: (..., a, b) → (..., b, a).

    >>> ogive.linalg.matrix_transpose(Tensor([[1, 2]])).tolist()
    [[1], [2]]
    """
    return x.mT


def outer(x: Tensor, y: Tensor) -> Tensor:
    """The products of all pairs of elements. Shapes: (a,), (b,) → (a, b).

    >>> ogive.linalg.outer(Tensor([1, 2]), Tensor([3, 4])).tolist()
    [[3, 4], [6, 8]]
    """
    return x.outer(y)


def trace(x: Tensor, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sums of the diagonals. Shapes: (..., n, n) → (...).

    >>> ogive.linalg.trace(Tensor([[1, 2], [3, 4]])).item()
    5
    """
    if dtype is None and x.dtype.kind == "uint":
        dtype = dtypes.uint64  # as the standard sums unsigned integers
    return diagonal(x, offset=offset).sum(-1, dtype=dtype)


@also(axis="dim")
@lowered
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sum of products along an axis, with x conjugated. Shapes: (..., n) both → (...).

    >>> ogive.linalg.vecdot(Tensor([1, 2]), Tensor([3, 4])).item()
    11
    """
    product = x.conj() * y
    return product.sum(dim).cast(product.dtype)
