"""Random correlation matrices, by their Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

from ogive.distributions import constraints
from ogive.distributions.distribution import Distribution
from ogive.distributions.distribution_parameters import broadcast_all
from ogive.distributions.gamma_family import Beta
from ogive.errors import ArgumentError
from ogive.random import randn
from ogive.tensor.creation.constructors import arange
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import cat
from ogive.tensor.tensor import Tensor


class LKJCholesky(Distribution):
    """Lower triangles L with rows of length 1, so that L Lᵀ is a correlation matrix R.

    The density of R is proportional to det(R) ** (concentration - 1). It is uniform for 1; a larger
    `concentration` makes correlations smaller. Shapes: (..., dim, dim). Draws have no gradient.
    """

    arg_constraints: Any = {"concentration": constraints.positive}
    support: Any = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ArgumentError(f"LKJCholesky: dim must be at least 2, got {dim}")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, (dim, dim), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LKJCholesky:
        return type(self)(self.dim, self.concentration.expand(*batch_shape), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw each row: a uniform direction on the sphere, times the length of the part below the
        diagonal, whose square has a beta distribution."""
        shape = self._extended_shape(sample_shape)
        dtype = self.concentration.dtype
        rows = arange(1, self.dim, dtype=dtype)
        rest = self.concentration.detach().unsqueeze(-1) + (self.dim - 1 - rows) / 2
        squares = Beta((rows / 2).expand(*rest.shape), rest).sample(sample_shape)
        drawn = created(randn, *shape[:-2], self.dim - 1, self.dim, dtype=dtype).tril()
        directions = drawn / drawn.square().sum(-1, keepdim=True).sqrt()
        below = directions * squares.sqrt().unsqueeze(-1)
        first = below[..., :1, :] * 0.0
        diagonal = cat([squares[..., :1] * 0.0 + 1.0, (1 - squares).sqrt()], -1)
        return cat([first, below], -2) + diagonal.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rows = arange(1, self.dim, dtype=self.concentration.dtype)
        weight = self.concentration.unsqueeze(-1)
        powers = 2 * (weight - 1) + self.dim - 1 - rows
        weighted = (powers * value.diagonal(0, -2, -1)[..., 1:].log()).sum(-1)
        whole = (weight + (self.dim - 1) / 2).lgamma()
        part = (weight + (self.dim - 1 - rows) / 2).lgamma()
        return weighted - (rows * (math.log(math.pi) / 2) + part - whole).sum(-1)
