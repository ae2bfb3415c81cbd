"""Distributions of counts: successes, failures before a success, events in a unit of time."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from ogive.autograd.mode import no_grad
from ogive.distributions import constraints
from ogive.distributions.distribution import Elementwise, ExponentialFamily
from ogive.distributions.distribution_parameters import (
    broadcast_all,
    computed,
    epsilon,
    logits_to_probs,
    probs_to_logits,
    smallest,
)
from ogive.errors import ArgumentError
from ogive.nn.functional import binary_cross_entropy_with_logits, softplus
from ogive.random import binomial, poisson, rand, standard_gamma
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class _ByChance(Elementwise):
    """A distribution given by `probs` or by `logits`; the other parameter is computed."""

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    _is_probs: bool

    def _set_chance(
        self, probs: Any, logits: Any, *beside: Any, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ArgumentError(
                "Either `probs` or `logits` must be specified, but not both."
            )
        name = "logits" if probs is None else "probs"
        *others, chance = broadcast_all(*beside, logits if probs is None else probs)
        self.__dict__[name] = chance
        for each, value in zip(self.NAMES, others, strict=True):
            self.__dict__[each] = value
        super(Elementwise, self).__init__(chance.shape, validate_args=validate_args)

    @computed
    def logits(self) -> Tensor:
        """The log-odds."""
        return probs_to_logits(self.probs, is_binary=True)

    @computed
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _param(self) -> Tensor:
        """The parameter that was given."""
        parameter: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return parameter

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of what was given."""
        return tuple(self._param.shape)

    def _uniform(self, sample_shape: Any) -> Tensor:
        least = epsilon(self._param)
        shape = self._extended_shape(sample_shape)
        return created(rand, *shape, dtype=self._param.dtype).clamp(least, 1 - least)


class Bernoulli(_ByChance, ExponentialFamily):
    """1 with probability `probs`, else 0.

    >>> ogive.distributions.Bernoulli(probs=Tensor([0.25])).mean.tolist()
    [0.25]
    """

    support: Any = constraints.boolean
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_chance(probs, logits, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        mode = (self.probs >= 0.5).to(self.probs)
        return mode.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return self.probs.expand(*self._extended_shape(sample_shape)).bernoulli()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        density: Tensor = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -density

    def entropy(self) -> Tensor:
        entropy: Tensor = binary_cross_entropy_with_logits(
            self.logits, self.probs, reduction="none"
        )
        return entropy

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = Tensor([0.0, 1.0], self._param.dtype)
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class Geometric(_ByChance):
    """The number of failures before the first success, which has the probability `probs`."""

    support: Any = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._set_chance(probs, logits, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return self.probs * 0

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            drawn = self._uniform(sample_shape).clamp(min=smallest(self._param))
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        cross = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return cross / self.probs


class Binomial(_ByChance):
    """The number of successes in `total_count` trials."""

    NAMES: ClassVar[tuple[str, ...]] = ("total_count",)
    total_count: Tensor
    arg_constraints: Any = {
        "total_count": constraints.nonnegative_integer, **_ByChance.arg_constraints,
    }  # fmt: skip
    has_enumerate_support = True

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_chance(probs, logits, total_count, validate_args=validate_args)

    @property
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        mode: Tensor = ((self.total_count + 1) * self.probs).floor()
        return mode.clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            counts = self.total_count.to(self._param.dtype)
            return binomial(counts.expand(*shape), self.probs.expand(*shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        n, logits = self.total_count, self.logits
        choices = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        # log(1 + eˣ), which does not overflow for large x
        log_total = logits.clamp(min=0) + (-logits.abs()).exp().log1p()
        return value * logits - n * log_total + choices

    def entropy(self) -> Tensor:
        most = int(self.total_count.max())
        if not bool((self.total_count == most).all()):
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `entropy`."
            )
        entropy = self.log_prob(self.enumerate_support(False))
        return -(entropy.exp() * entropy).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        most = int(self.total_count.max())
        if not bool((self.total_count == most).all()):
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = Tensor(list(range(most + 1)), self._param.dtype)
        values = values.reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class NegativeBinomial(_ByChance):
    """The number of successes, of probability `probs`, before `total_count` failures."""

    NAMES: ClassVar[tuple[str, ...]] = ("total_count",)
    total_count: Tensor
    arg_constraints: Any = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support: Any = constraints.nonnegative_integer

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._set_chance(probs, logits, total_count, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / (-self.logits).sigmoid()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            rate = standard_gamma(self.total_count.expand(*shape).to(self._param.dtype))
            return poisson(rate * self.logits.exp())

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        n = self.total_count
        density = n * -softplus(self.logits) + value * -softplus(-self.logits)
        choices = -(n + value).lgamma() + (1.0 + value).lgamma() + n.lgamma()
        choices = choices.masked_fill(n + value == 0.0, 0.0)
        return density - choices


class Poisson(Elementwise, ExponentialFamily):
    """The number of events, if `rate` of them happen on average."""

    NAMES: ClassVar[tuple[str, ...]] = ("rate",)
    rate: Tensor
    arg_constraints: Any = {"rate": constraints.nonnegative}
    support: Any = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self._set(rate, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(*self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class ContinuousBernoulli(_ByChance, ExponentialFamily):
    """Numbers between 0 and 1 with a density in proportion to probsˣ (1 - probs)¹⁻ˣ."""

    support: Any = constraints.unit_interval
    has_rsample = True

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        self._set_chance(probs, logits, validate_args=validate_args)

    def _is_outside(self) -> Tensor:
        """Whether each probability is far enough from ½ for the formulas to be stable."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        return where(self._is_outside(), self.probs, self._lims[0] + 0 * self.probs)

    def _log_normalizer(self) -> Tensor:
        cut = self._cut_probs()
        below, above = cut.clamp(max=0.5), cut.clamp(min=0.5)
        size = where(cut <= 0.5, (-2.0 * below).log1p(), (2.0 * above - 1.0).log())
        normalizer = ((-cut).log1p() - cut.log()).abs().log() - size
        square = (self.probs - 0.5).square()
        near = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * square) * square
        return where(self._is_outside(), normalizer, near)

    @property
    def mean(self) -> Tensor:
        cut = self._cut_probs()
        mean = cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log())
        x = self.probs - 0.5
        near = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.square()) * x
        return where(self._is_outside(), mean, near)

    @property
    def variance(self) -> Tensor:
        cut = self._cut_probs()
        variance = cut * (cut - 1.0) / (1.0 - 2.0 * cut).square()
        variance = variance + 1.0 / ((-cut).log1p() - cut.log()).square()
        x = (self.probs - 0.5).square()
        near = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return where(self._is_outside(), variance, near)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(self._uniform(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        cross = binary_cross_entropy_with_logits(logits, value, reduction="none")
        return -cross + self._log_normalizer()

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        cut = self._cut_probs()
        share = (cut**value * (1.0 - cut) ** (1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        return where(self._is_outside(), share, value).clamp(0.0, 1.0)

    def icdf(self, value: Tensor) -> Tensor:
        cut = self._cut_probs()
        inner = (-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()
        return where(self._is_outside(), inner / (cut.log() - (-cut).log1p()), value)

    def entropy(self) -> Tensor:
        low, high = (-self.probs).log1p(), self.probs.log()
        return self.mean * (low - high) - self._log_normalizer() - low
