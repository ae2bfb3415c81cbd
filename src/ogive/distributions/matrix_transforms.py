"""Transforms of unbounded numbers to matrices: triangular, positive definite, of correlations."""

from __future__ import annotations

import math
from typing import Any

from ogive.distributions import constraints
from ogive.distributions.base_transform import Transform
from ogive.distributions.distribution_parameters import epsilon
from ogive.errors import ArgumentError, ShapeError
from ogive.nn.functional import pad, softplus
from ogive.tensor.creation.constructors import tril_indices, zeros
from ogive.tensor.tensor import Tensor


class LowerCholeskyTransform(Transform):
    """Maps a matrix to a lower triangle with a positive diagonal."""

    domain: Any = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _invert(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    """Maps a matrix to L·Lᵀ, where L is its image under `LowerCholeskyTransform`."""

    domain: Any = constraints.independent(constraints.real, 2)
    codomain: Any = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _invert(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(y.cholesky())


class CorrCholeskyTransform(Transform):
    """Maps n(n - 1)/2 numbers to a lower triangle of n rows of length 1 with a positive diagonal.

    The entries of a row are computed in order. Each takes the share tanh(x) of the length that the
    entries before it have left. The determinant is that of the entries below the diagonal.
    """

    bijective = True
    domain: Any = constraints.real_vector
    codomain: Any = constraints.corr_cholesky

    def _call(self, x: Any) -> Any:
        most = 1 - epsilon(x)
        part = vec_to_tril_matrix(x.tanh().clamp(-most, most), -1)
        left = pad((1 - part.square()).sqrt().cumprod(-1)[..., :-1], [1, 0], value=1)
        return part * left + left.diagonal(0, -2, -1).diag_embed()

    def _invert(self, y: Any) -> Any:
        left = pad((1 - y.square().cumsum(-1))[..., :-1], [1, 0], value=1)
        part = tril_matrix_to_vec(y, -1) / tril_matrix_to_vec(left, -1).sqrt()
        return part.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        # An entry's own derivative has the factor 1 - tanh². Each later entry before the diagonal
        # gets the root of that factor.
        rows, columns = tril_indices(y.shape[-1], y.shape[-1], -1)
        logarithms = 2 * (math.log(2.0) - x - softplus(-2.0 * x))
        return (logarithms * ((rows - columns + 1).to(x.dtype) / 2)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        n = _rows(shape[-1], -1)
        return (*shape[:-1], n, n)

    def inverse_shape(self, shape: Any) -> Any:
        if len(shape) < 2 or shape[-1] != shape[-2]:
            raise ShapeError(f"CorrCholeskyTransform: expected (..., n, n), got {tuple(shape)}")
        return (*shape[:-2], shape[-1] * (shape[-1] - 1) // 2)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries on and below a diagonal, by rows. Shapes: (..., n, n) → (..., count)."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ArgumentError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The inverse of `tril_matrix_to_vec`, with zeros above. Shapes: (..., count) → (..., n, n)."""
    n = _rows(vec.shape[-1], diag)
    rows, columns = tril_indices(n, n, diag)
    matrices = zeros(*vec.shape[:-1], n, n, dtype=vec.dtype, device=vec.device)
    matrices[..., rows, columns] = vec
    return matrices


def _rows(count: int, diag: int) -> int:
    """The number of rows of the square matrix with `count` entries on and below a diagonal."""
    n = 0
    while _entries(n, diag) < count:
        n += 1
    if _entries(n, diag) != count:
        raise ArgumentError(f"no square matrix has {count} entries on and below diagonal {diag}")
    return n


def _entries(n: int, diag: int) -> int:
    """The number of entries on and below a diagonal of an n-by-n matrix."""
    return sum(min(max(row + 1 + diag, 0), n) for row in range(n))
