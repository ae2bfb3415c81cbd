"""Normal vectors with a covariance matrix: any, or a diagonal plus one of low rank."""

from __future__ import annotations

import math
from typing import Any

from ogive.distributions import constraints
from ogive.distributions.distribution import Distribution
from ogive.distributions.distribution_parameters import computed
from ogive.errors import ArgumentError
from ogive.linalg import cholesky, solve_triangular
from ogive.random import randn
from ogive.tensor.creation.constructors import eye
from ogive.tensor.method_functions import created
from ogive.tensor.movement.stacking import broadcast_shapes
from ogive.tensor.tensor import Tensor


class MultivariateNormal(Distribution):
    """Normal vectors with mean `loc`. The covariance is given in one of three ways.

    Shapes: loc (..., n), matrices (..., n, n).
    """

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        given = {
            "covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }  # fmt: skip
        (name, matrix), *more = [item for item in given.items() if item[1] is not None] or [
            ("", None)
        ]
        if matrix is None or more:
            raise ArgumentError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        if loc.ndim < 1 or matrix.ndim < 2:
            raise ArgumentError("loc must be at least one-dimensional, matrices two-dimensional.")
        n = loc.shape[-1]
        shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        self.__dict__[name] = matrix.expand(*shape, n, n)
        self.loc = loc.expand(*shape, n)
        super().__init__(shape, (n,), validate_args=validate_args)
        if name == "scale_tril":
            self._root = matrix
        elif name == "covariance_matrix":
            self._root = cholesky(matrix)
        else:
            self._root = _root_of_inverse(matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> MultivariateNormal:
        n = self._event_shape[0]
        expanded = object.__new__(type(self))
        expanded.__dict__.update(self.__dict__)
        expanded.loc = self.loc.expand(*batch_shape, n)
        for name in ("covariance_matrix", "precision_matrix", "scale_tril"):
            if name in expanded.__dict__:
                expanded.__dict__[name] = expanded.__dict__[name].expand(*batch_shape, n, n)
        expanded._batch_shape = tuple(batch_shape)
        return expanded

    @computed
    def scale_tril(self) -> Tensor:
        """The lower triangle L with L Lᵀ the covariance."""
        return self._root.expand(*self._batch_shape, *self._event_shape * 2)

    @computed
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return (self._root @ self._root.mT).expand(*self._batch_shape, *self._event_shape * 2)

    @computed
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        one = eye(self._event_shape[0], dtype=self.loc.dtype)
        inverse = solve_triangular(self._root, one, upper=False)
        return (inverse.mT @ inverse).expand(*self._batch_shape, *self._event_shape * 2)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._root.square().sum(-1).expand(*self._batch_shape, *self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = created(randn, *self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self._root @ drawn.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = (value - self.loc).unsqueeze(-1)
        square = solve_triangular(self._root, away, upper=False).square().sum((-2, -1))
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + square) - self._half_log_det()

    def _half_log_det(self) -> Tensor:
        return self._root.diagonal(0, -2, -1).log().sum(-1)

    def entropy(self) -> Tensor:
        n = self._event_shape[0]
        entropy = 0.5 * n * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy.expand(*self._batch_shape)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with covariance W Wᵀ + D. Shapes: W (..., n, rank), D (..., n)."""

    arg_constraints: Any = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        n, rank = cov_factor.shape[-2:]
        shape = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc = loc.expand(*shape, n)
        self.cov_factor = cov_factor.expand(*shape, n, rank)
        self.cov_diag = cov_diag.expand(*shape, n)
        super().__init__(shape, (n,), validate_args=validate_args)
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        small = scaled @ self.cov_factor + eye(rank, dtype=loc.dtype)
        self._root = cholesky(small)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.cov_factor.square().sum(-1) + self.cov_diag

    @computed
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + self.cov_diag.diag_embed()

    @computed
    def scale_tril(self) -> Tensor:
        """The lower triangle L with L Lᵀ the covariance."""
        return cholesky(self.covariance_matrix)

    @computed
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        inner = solve_triangular(self._root, scaled, upper=False)
        return self.cov_diag.reciprocal().diag_embed() - inner.mT @ inner

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        rank = self.cov_factor.shape[-1]
        wide = created(randn, *shape[:-1], rank, 1, dtype=self.loc.dtype)
        own = created(randn, *shape, dtype=self.loc.dtype)
        return self.loc + (self.cov_factor @ wide).squeeze(-1) + self.cov_diag.sqrt() * own

    def _log_det(self) -> Tensor:
        small = 2 * self._root.diagonal(0, -2, -1).log().sum(-1)
        return small + self.cov_diag.log().sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        away = value - self.loc
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        inner = solve_triangular(self._root, scaled @ away.unsqueeze(-1), upper=False)
        square = (away.square() / self.cov_diag).sum(-1) - inner.square().sum((-2, -1))
        n = self._event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + self._log_det() + square)

    def entropy(self) -> Tensor:
        n = self._event_shape[0]
        return 0.5 * (n * (1.0 + math.log(2 * math.pi)) + self._log_det())


def _root_of_inverse(matrix: Tensor) -> Tensor:
    """The lower triangle L for which L Lᵀ is the inverse of a positive definite matrix."""
    turned = cholesky(matrix.flip((-2, -1))).flip((-2, -1)).mT
    one = eye(matrix.shape[-1], dtype=matrix.dtype)
    return solve_triangular(turned, one, upper=False)
