"""The gamma distribution and what is made of it: Chi2, Dirichlet, Beta, Fisher-Snedecor."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ogive.autograd.custom import custom_gradient
from ogive.distributions import constraints
from ogive.distributions.distribution import Elementwise, ExponentialFamily
from ogive.distributions.distribution_parameters import smallest
from ogive.errors import ArgumentError
from ogive.random import standard_gamma
from ogive.random.rejected import gamma_slope
from ogive.special import gammainc
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor


@custom_gradient
def draw_gamma(concentration: Tensor) -> Any:
    """Draw from the gamma distribution of rate 1. Gradients keep each draw's quantile fixed."""
    drawn = standard_gamma(concentration)
    return drawn, lambda upstream: upstream * gamma_slope(concentration, drawn)


class Gamma(Elementwise, ExponentialFamily):
    """The gamma distribution with shape `concentration` and `rate`."""

    NAMES: ClassVar[tuple[str, ...]] = ("concentration", "rate")
    concentration: Tensor
    rate: Tensor
    arg_constraints: Any = {"concentration": constraints.positive, "rate": constraints.positive}
    support: Any = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._set(concentration, rate, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.square()

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn: Tensor = draw_gamma(self.concentration.expand(*shape)) / self.rate
        return drawn.clamp(min=smallest(drawn))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return (
            self.concentration.xlogy(self.rate) + (self.concentration - 1).xlogy(value)
            - self.rate * value - self.concentration.lgamma()
        )  # fmt: skip

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()


class Chi2(Gamma):
    """The sum of the squares of `df` standard normal numbers."""

    arg_constraints: Any = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self.concentration * 2


class InverseGamma(Elementwise):
    """The reciprocal of a gamma number."""

    NAMES: ClassVar[tuple[str, ...]] = ("concentration", "rate")
    concentration: Tensor
    rate: Tensor
    arg_constraints: Any = Gamma.arg_constraints
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._set(concentration, rate, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        mean = self.rate / (self.concentration - 1)
        return mean.masked_fill(self.concentration <= 1, math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        variance = self.rate.square() / ((a - 1).square() * (a - 2))
        return variance.masked_fill(a <= 2, math.inf)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        base = Gamma(self.concentration, self.rate, validate_args=False)
        return base.rsample(sample_shape).reciprocal()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        base = Gamma(self.concentration, self.rate, validate_args=False)
        return base.log_prob(value.reciprocal()) - 2 * value.log()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        base = Gamma(self.concentration, self.rate, validate_args=False)
        return 1 - base.cdf(value.reciprocal())

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Dirichlet(ExponentialFamily):
    """Shares that sum to 1, with the weights `concentration` along the last axis."""

    arg_constraints: Any = {"concentration": constraints.independent(constraints.positive, 1)}
    support: Any = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ArgumentError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Dirichlet:
        sizes = (*batch_shape, *self._event_shape)
        return type(self)(self.concentration.expand(*sizes), validate_args=False)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        less = (self.concentration - 1).clamp(min=0.0)
        mode = less / less.sum(-1, keepdim=True)
        flat = (self.concentration < 1).all(-1, keepdim=True)
        largest = self.concentration.argmax(-1, keepdim=True)
        corner = self.concentration.new_zeros(self.concentration.shape).scatter(-1, largest, 1.0)
        return corner.where(flat, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (
            total.square() * (total + 1)
        )  # fmt: skip

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = draw_gamma(self.concentration.expand(*self._extended_shape(sample_shape)))
        shares: Tensor = drawn / drawn.sum(-1, keepdim=True)
        return shares

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a, k = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        entropy: Tensor = (
            a.lgamma().sum(-1) - total.lgamma() - (k - total) * total.digamma()
            - ((a - 1.0) * a.digamma()).sum(-1)
        )  # fmt: skip
        return entropy


class Beta(Elementwise, ExponentialFamily):
    """Numbers between 0 and 1: nearer to 1 by `concentration1`, and to 0 by `concentration0`."""

    NAMES: ClassVar[tuple[str, ...]] = ("concentration1", "concentration0")
    concentration1: Tensor
    concentration0: Tensor
    arg_constraints: Any = {
        "concentration1": constraints.positive, "concentration0": constraints.positive,
    }  # fmt: skip
    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        self._set(concentration1, concentration0, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet().mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.square() * (total + 1))

    def _dirichlet(self) -> Dirichlet:
        both = stack([self.concentration1, self.concentration0], -1)
        return Dirichlet(both, validate_args=False)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._dirichlet().rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._dirichlet().log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet().entropy()


class FisherSnedecor(Elementwise):
    """The quotient of two sums of squares, over `df1` and `df2` degrees of freedom."""

    NAMES: ClassVar[tuple[str, ...]] = ("df1", "df2")
    df1: Tensor
    df2: Tensor
    arg_constraints: Any = {"df1": constraints.positive, "df2": constraints.positive}
    support: Any = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self._set(df1, df2, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, math.nan)

    @property
    def mode(self) -> Tensor:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        a, b = self.df1, self.df2
        variance = 2 * b.square() * (a + b - 2) / (a * (b - 2).square() * (b - 4))
        return variance.masked_fill(b <= 4, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        first = Gamma(self.df1 * 0.5, self.df1 * 0.5, validate_args=False).rsample(sample_shape)
        second = Gamma(self.df2 * 0.5, self.df2 * 0.5, validate_args=False).rsample(sample_shape)
        return first / second

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a, b = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        beta = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return beta + a * ratio.log() + (a - 1) * value.log() - (a + b) * (ratio * value).log1p()
