"""Distributions on the whole line, made from a location and a scale; uniform ones; angles."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ogive.distributions import constraints
from ogive.distributions.distribution import Elementwise, ExponentialFamily
from ogive.distributions.distribution_parameters import epsilon, smallest
from ogive.random import rand, randn
from ogive.special import i1
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor


class _LocationScale(Elementwise):
    """`loc + scale · z`, where each subclass has its own distribution of z."""

    NAMES: ClassVar[tuple[str, ...]] = ("loc", "scale")
    loc: Tensor
    scale: Tensor
    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.real
    has_rsample = True

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._set(loc, scale, validate_args=validate_args)

    def _standardized(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return (value - self.loc) / self.scale

    def _uniform(self, sample_shape: Any) -> Tensor:
        """Draw uniform numbers between 0 and 1, without the ends."""
        shape, least = self._extended_shape(sample_shape), epsilon(self.loc)
        return created(rand, *shape, dtype=self.loc.dtype).clamp(least, 1 - least)


class Normal(_LocationScale, ExponentialFamily):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    >>> ogive.distributions.Normal(0.0, 1.0).log_prob(ogive.zeros(1)).tolist()
    [-0.9189385175704956]
    """

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.square()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = created(randn, *self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + drawn * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        scaled = self._standardized(value)
        return -scaled.square() / 2 - self.scale.log() - math.log(math.sqrt(2 * math.pi))

    def cdf(self, value: Tensor) -> Tensor:
        return (self._standardized(value) / math.sqrt(2)).erf() * 0.5 + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()


class Laplace(_LocationScale):
    """The Laplace distribution: exponential to both sides of `loc`."""

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.square()

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        centred = self._uniform(sample_shape) * 2 - 1
        return self.loc - self.scale * centred.sign() * (-centred.abs()).log1p()

    def log_prob(self, value: Tensor) -> Tensor:
        return -(2 * self.scale).log() - self._standardized(value).abs()

    def cdf(self, value: Tensor) -> Tensor:
        scaled = self._standardized(value)
        return 0.5 - 0.5 * scaled.sign() * (-scaled.abs()).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        centred = value - 0.5
        return self.loc - self.scale * centred.sign() * (-2 * centred.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()


class Cauchy(_LocationScale):
    """The Cauchy distribution, which has no mean."""

    @property
    def mean(self) -> Tensor:
        return self.loc * math.nan

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.scale * math.inf

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        scaled = self._standardized(value)
        return -math.log(math.pi) - self.scale.log() - scaled.square().log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return self._standardized(value).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class Gumbel(_LocationScale):
    """The Gumbel distribution, of largest values."""

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * 0.5772156649015329

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.square()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        scaled = -self._standardized(value)
        return scaled - scaled.exp() - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return (-(-self._standardized(value)).exp()).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * (-value.log()).log()

    def entropy(self) -> Tensor:
        return self.scale.log() + 1.5772156649015329


class HalfNormal(Elementwise):
    """The absolute value of a normal number of mean 0."""

    NAMES: ClassVar[tuple[str, ...]] = ("scale",)
    scale: Tensor
    arg_constraints: Any = {"scale": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True
    BASE: ClassVar[type[_LocationScale]] = Normal

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self._set(scale, validate_args=validate_args)

    @property
    def base_dist(self) -> _LocationScale:
        """The distribution whose absolute values these are."""
        return self.BASE(self.scale * 0, self.scale, validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return self.scale * 0

    @property
    def variance(self) -> Tensor:
        return self.scale.square() * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        density = self.base_dist.log_prob(value) + math.log(2)
        return density.masked_fill(value < 0, -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, value: Tensor) -> Tensor:
        return self.base_dist.icdf((value + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfCauchy(HalfNormal):
    """The absolute value of a Cauchy number around 0."""

    BASE = Cauchy

    @property
    def mean(self) -> Tensor:
        return self.scale * math.inf

    @property
    def variance(self) -> Tensor:
        return self.scale * math.inf


class Uniform(Elementwise):
    """The uniform distribution from `low` to below `high`.

    >>> ogive.distributions.Uniform(0.0, 4.0).entropy().item()
    1.3862943649291992
    """

    NAMES: ClassVar[tuple[str, ...]] = ("low", "high")
    low: Tensor
    high: Tensor
    arg_constraints: Any = {"low": constraints.dependent, "high": constraints.dependent}
    has_rsample = True

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self._set(low, high, validate_args=validate_args)

    @property
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return (self.low + self.high) / 2

    @property
    def mode(self) -> Tensor:
        return self.low * math.nan

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).square() / 12

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = created(rand, *self._extended_shape(sample_shape), dtype=self.low.dtype)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        inside = (self.low <= value) & (value < self.high)
        return inside.to(self.low.dtype).log() - (self.high - self.low).log()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(0, 1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return (self.high - self.low).log()


class VonMises(Elementwise):
    """The analogue of the normal distribution on a circle, around `loc` with `concentration`."""

    NAMES: ClassVar[tuple[str, ...]] = ("loc", "concentration")
    loc: Tensor
    concentration: Tensor
    arg_constraints: Any = {"loc": constraints.real, "concentration": constraints.positive}
    support: Any = constraints.real

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._set(loc, concentration, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 1 - i1(self.concentration) / self.concentration.i0()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        density = self.concentration * (value - self.loc).cos() - math.log(2 * math.pi)
        return density - self.concentration.i0().log()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw by the inverse of the distribution function, which is summed on a grid of angles."""
        from ogive.random.rejected import von_mises

        shape = self._extended_shape(sample_shape)
        drawn = von_mises(self.concentration.expand(*shape).detach())
        return (drawn + math.pi + self.loc.detach()) % (2 * math.pi) - math.pi


class StudentT(Elementwise):
    """Student's t with `df` degrees of freedom, moved by `loc` and scaled by `scale`."""

    NAMES: ClassVar[tuple[str, ...]] = ("df", "loc", "scale")
    df: Tensor
    loc: Tensor
    scale: Tensor
    arg_constraints: Any = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive,
    }  # fmt: skip
    support: Any = constraints.real
    has_rsample = True

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self._set(df, loc, scale, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        variance = self.scale.square() * self.df / (self.df - 2)
        variance = variance.masked_fill(self.df <= 2, math.inf)
        return variance.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        from ogive.distributions.gamma_family import Chi2

        shape = self._extended_shape(sample_shape)
        spread = Chi2(self.df, validate_args=False).rsample(sample_shape) / self.df
        drawn = created(randn, *shape, dtype=self.df.dtype)
        return self.loc + self.scale * drawn * spread.clamp(min=smallest(spread)).rsqrt()

    def _normalizer(self) -> Tensor:
        half = 0.5 * self.df
        return (
            self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + half.lgamma()
            - (half + 0.5).lgamma()
        )  # fmt: skip

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        scaled = (value - self.loc) / self.scale
        return -0.5 * (self.df + 1) * (scaled.square() / self.df).log1p() - self._normalizer()

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        beta = half.lgamma() + math.lgamma(0.5) - (half + 0.5).lgamma()
        slopes = (half + 0.5).digamma() - half.digamma()
        return self.scale.log() + (half + 0.5) * slopes + 0.5 * self.df.log() + beta
