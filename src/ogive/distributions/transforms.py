"""Invertible functions y = f(x), with log |det ∂y/∂x|."""

from __future__ import annotations

import math
from typing import Any

from ogive.distributions import constraints
from ogive.distributions.base_transform import Transform
from ogive.distributions.combined_transforms import (
    CatTransform,
    ComposeTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
    identity_transform,
)
from ogive.distributions.distribution_parameters import (
    broadcast_all,
    epsilon,
    smallest,
    sum_rightmost,
)
from ogive.distributions.matrix_transforms import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
)
from ogive.nn.functional import pad, softplus
from ogive.tensor.creation.constructors import arange
from ogive.tensor.tensor import Tensor

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
    "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


class ExpTransform(Transform):
    """y = eˣ."""

    bijective = True
    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _invert(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x to the power `exponent`."""

    bijective = True
    domain: Any = constraints.positive
    codomain: Any = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def _call(self, x: Any) -> Any:
        return x**self.exponent

    def _invert(self, y: Any) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """y = 1 / (1 + e⁻ˣ)."""

    bijective = True
    codomain: Any = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return x.sigmoid().clamp(smallest(x), 1 - epsilon(x))

    def _invert(self, y: Any) -> Any:
        y = y.clamp(smallest(y), 1 - epsilon(y))
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """y = log(1 + eˣ)."""

    bijective = True
    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _invert(self, y: Any) -> Any:
        return (-((-y).expm1())).log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -softplus(-x)


class TanhTransform(Transform):
    """y = tanh x."""

    bijective = True
    codomain: Any = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _invert(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|. The inverse gives the positive number."""

    codomain: Any = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _invert(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale · x."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _invert(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if isinstance(self.scale, Tensor):
            logarithm = self.scale.abs().log()
        else:
            logarithm = x.new_full(x.shape, math.log(abs(self.scale)))
        return sum_rightmost(logarithm.expand(*x.shape), self.event_dim)


class SoftmaxTransform(Transform):
    """y = softmax x. The inverse is the logarithm."""

    domain: Any = constraints.real_vector
    codomain: Any = constraints.simplex

    def _call(self, x: Any) -> Any:
        return x.softmax(-1)

    def _invert(self, y: Any) -> Any:
        return y.log()


class StickBreakingTransform(Transform):
    """Maps n numbers to n + 1 shares: each number breaks its share off the rest of a stick."""

    bijective = True
    domain: Any = constraints.real_vector
    codomain: Any = constraints.simplex

    def _offsets(self, x: Any, n: int) -> Any:
        return (n + 1 - arange(1, n + 1)).to(x.dtype).log()

    def _call(self, x: Any) -> Any:
        part = (x - self._offsets(x, x.shape[-1])).sigmoid()
        left = (1 - part).cumprod(-1)
        return pad(part, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _invert(self, y: Any) -> Any:
        cut = y[..., :-1]
        left = (1 - cut.cumsum(-1)).clamp(min=smallest(y))
        return cut.log() - left.log() + self._offsets(y, cut.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        moved = x - self._offsets(x, x.shape[-1])
        logarithm = -softplus(-moved)  # of the sigmoid
        return (-moved + logarithm + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return (*shape[:-1], shape[-1] + 1)

    def inverse_shape(self, shape: Any) -> Any:
        return (*shape[:-1], shape[-1] - 1)


class CumulativeDistributionTransform(Transform):
    """y = P(x) for the distribution function P of a distribution."""

    bijective = True
    codomain: Any = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution
        self.domain = distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _invert(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
