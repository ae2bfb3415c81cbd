"""Tensors as linear maps between tensors, Vandermonde matrices, and low-rank approximations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device, to_integer
from ogive.tensor.creation.constructors import empty, ones
from ogive.tensor.linear_algebra.decompositions import qr, svd
from ogive.tensor.linear_algebra.host_matrices import to_matrix
from ogive.tensor.linear_algebra.inverses import inv, solve
from ogive.tensor.movement.joining import cat

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@widened
def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of A as a linear map from its axes after `ind` to those before.

    Shapes: (a..., b...) with `ind` axes a, of as many elements as b → (b..., a...).

    >>> ogive.linalg.tensorinv(Tensor([[[2.0]]]), 1).shape
    (1, 1, 1)

    Raises `ShapeError` unless both have as many elements, `ArgumentError` for an `ind` below 1.
    """
    axes = to_integer(ind, "linalg.tensorinv: ind")
    if axes < 1:
        raise ArgumentError(f"linalg.tensorinv: ind is {axes}, and must be at least 1")
    front, back = A.shape[:axes], A.shape[axes:]
    size = math.prod(front)
    if size != math.prod(back):
        raise ShapeError(
            f"linalg.tensorinv: {front} and {back} must have as many elements, {size} and "
            f"{math.prod(back)}"
        )
    return inv(A.reshape(size, size)).reshape(*back, *front)


@widened
def tensorsolve(A: Tensor, B: Tensor, dims: Sequence[int] | None = None) -> Tensor:
    """The X for which the product of A with X, summed over the axes of X, is B.

    Shapes: A (b..., x...) with B (b...) → (x...); the axes `dims` of A are moved to the end first.

    >>> ogive.linalg.tensorsolve(Tensor([[[2.0]]]), Tensor([[4.0]])).tolist()
    [2.0]

    Raises `ShapeError` unless x has as many elements as b.
    """
    moved = A if dims is None else A.movedim(tuple(dims), tuple(range(-len(dims), 0)))
    solution_shape = moved.shape[B.ndim :]
    size = math.prod(solution_shape)
    if size != math.prod(B.shape) or size != math.prod(moved.shape[: B.ndim]):
        raise ShapeError(
            f"linalg.tensorsolve: A has the shape {moved.shape} and B {B.shape}; expected as many "
            "elements in the axes of A that are B's as in the others"
        )
    return solve(moved.reshape(size, size), B.reshape(size)).reshape(*solution_shape)


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 of each element. Shapes: (..., n) → (..., n, N), N being n by default.

    >>> ogive.linalg.vander(Tensor([2, 3]), 3).tolist()
    [[1, 2, 4], [1, 3, 9]]

    Raises `ArgumentError` if N is given and below 1.
    """
    x = x if x.ndim else x.unsqueeze(0)
    count = x.shape[-1] if N is None else to_integer(N, "linalg.vander: N")
    if N is not None and count < 2:
        raise ArgumentError(f"linalg.vander: N is {count}, and must be at least 2")
    kind = dtypes.int64 if x.dtype.is_integer or x.dtype.is_bool else x.dtype
    line = x.cast(kind).unsqueeze(-1)
    if count < 2:
        return ones(*line.shape[:-1], count, dtype=kind, device=memory_device(x))
    powers = line.expand(*line.shape[:-1], count - 1).cumprod(-1)
    return cat([ones(line.shape, dtype=kind, device=memory_device(x)), powers], -1)


@widened
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V with U diag(S) Vᵀ ≈ A - M, of rank q, by randomized subspace iteration.

    Shapes: (..., m, n) → (..., m, q), (..., q), (..., n, q). More iterations `niter` separate the
    greatest singular values better: Halko, Martinsson and Tropp, 2009.

    >>> ogive.svd_lowrank(ogive.ones(4, 3), q=1)[1].round().tolist()
    [3.0]
    """
    to_matrix(A, "svd_lowrank")
    rank = 6 if q is None else to_integer(q, "svd_lowrank: q")
    matrix = A if M is None else A - M
    return _low_rank(matrix, rank, 2 if niter is None else niter)


@widened
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """`svd_lowrank` of the rows minus their mean: V holds the q directions of greatest variance.

    Shapes: (..., m, n) → (..., m, q), (..., q), (..., n, q), q being at most 6 by default.

    >>> ogive.pca_lowrank(Tensor([[1.0, 0.0], [3.0, 0.0]]), 1)[1].square().round().tolist()
    [2.0]

    Raises `ArgumentError` for a q that is negative or greater than m or n.
    """
    sizes = to_matrix(A, "pca_lowrank")
    rank = min(6, *sizes) if q is None else to_integer(q, "pca_lowrank: q")
    if not 0 <= rank <= min(sizes):
        raise ArgumentError(f"pca_lowrank: q is {rank}; expected 0 to {min(sizes)}")
    matrix = A - A.mean(-2, keepdim=True) if center else A
    return _low_rank(matrix, rank, niter)


def _low_rank(A: Tensor, rank: int, turns: int) -> tuple[Tensor, Tensor, Tensor]:
    rows, columns = A.shape[-2:]
    if rows < columns:
        U, S, V = _low_rank(A.mH, rank, turns)
        return V, S, U
    shape = (*A.shape[:-2], columns, rank)
    draws: Any = empty(shape, dtype=A.dtype.part, device=memory_device(A)).normal_()
    basis = _orthonormal(A @ draws.cast(A.dtype))
    for _ in range(turns):
        basis = _orthonormal(A @ _orthonormal(A.mH @ basis))
    U, S, Vh = svd(basis.mH @ A, full_matrices=False)
    return basis @ U, S, Vh.mH


def _orthonormal(A: Tensor) -> Tensor:
    return qr(A).Q
