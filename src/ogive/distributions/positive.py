"""Other distributions of positive numbers and of shares, drawn by inverse transform sampling."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ogive.distributions import constraints
from ogive.distributions.distribution import Elementwise, ExponentialFamily
from ogive.distributions.distribution_parameters import epsilon
from ogive.distributions.gamma_family import Beta
from ogive.random import exponential, rand
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor


class Exponential(Elementwise, ExponentialFamily):
    """The waiting time for an event that happens `rate` times in a unit of time on average."""

    NAMES: ClassVar[tuple[str, ...]] = ("rate",)
    rate: Tensor
    arg_constraints: Any = {"rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._set(rate, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return self.rate * 0

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return created(exponential, *shape, dtype=self.rate.dtype) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - self.rate.log()


class Weibull(Elementwise):
    """`scale` times an exponential number to the power 1 / `concentration`."""

    NAMES: ClassVar[tuple[str, ...]] = ("scale", "concentration")
    scale: Tensor
    concentration: Tensor
    arg_constraints: Any = {"scale": constraints.positive, "concentration": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._set(scale, concentration, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        return (1 + n / self.concentration).lgamma()

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1).exp()

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k).clamp(min=0) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (self._moment(2).exp() - (2 * self._moment(1)).exp())

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = created(exponential, *self._extended_shape(sample_shape), dtype=self.scale.dtype)
        return self.scale * drawn ** self.concentration.reciprocal()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        scaled = (value / self.scale).log()
        k = self.concentration
        return k.log() - self.scale.log() + (k - 1) * scaled - (k * scaled).exp()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return -(-((value / self.scale) ** self.concentration)).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (-(-value).log1p()) ** self.concentration.reciprocal()

    def entropy(self) -> Tensor:
        inverse = self.concentration.reciprocal()
        return 0.5772156649015329 * (1 - inverse) + (self.scale * inverse).log() + 1


class Pareto(Elementwise):
    """Numbers of at least `scale`, whose tail falls with the power `alpha`."""

    NAMES: ClassVar[tuple[str, ...]] = ("scale", "alpha")
    scale: Tensor
    alpha: Tensor
    arg_constraints: Any = {"alpha": constraints.positive, "scale": constraints.positive}
    has_rsample = True

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self._set(scale, alpha, validate_args=validate_args)

    @property
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)
        return self.scale.square() * a / ((a - 1).square() * (a - 2))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = created(exponential, *self._extended_shape(sample_shape), dtype=self.scale.dtype)
        return self.scale * (drawn / self.alpha).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.alpha.log() + self.alpha * self.scale.log() - (self.alpha + 1) * value.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 1 - (self.scale / value) ** self.alpha

    def icdf(self, value: Tensor) -> Tensor:
        return self.scale * (1 - value) ** (-1 / self.alpha)

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + 1 + self.alpha.reciprocal()


class Kumaraswamy(Elementwise):
    """Shares like a Beta's, with a distribution function in closed form."""

    NAMES: ClassVar[tuple[str, ...]] = ("concentration1", "concentration0")
    concentration1: Tensor
    concentration0: Tensor
    arg_constraints: Any = Beta.arg_constraints
    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self._set(concentration1, concentration0, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        first = 1 + n / self.concentration1
        b = self.concentration0
        return (first.lgamma() + b.lgamma() - (first + b).lgamma()).exp() * b

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        logarithm = ((-b.reciprocal()).log1p() - (-(a * b).reciprocal()).log1p()) / a
        return logarithm.exp().masked_fill((a < 1) | (b < 1), math.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.square()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        least = epsilon(self.concentration1)
        drawn = created(rand, *self._extended_shape(sample_shape), dtype=self.concentration1.dtype)
        return self.icdf(drawn.clamp(least, 1 - least))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a, b = self.concentration1, self.concentration0
        return (a * b).log() + (a - 1) * value.log() + (b - 1) * (-(value**a)).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 1 - (1 - value**self.concentration1) ** self.concentration0

    def icdf(self, value: Tensor) -> Tensor:
        inner = (1 - value) ** self.concentration0.reciprocal()
        return (1 - inner) ** self.concentration1.reciprocal()

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = (b + 1).digamma() + 0.5772156649015329
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - a.log() - b.log()
