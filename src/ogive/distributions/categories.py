"""Distributions over categories: positions, one-hot vectors, counts, and their relaxations."""

from __future__ import annotations

import math
from typing import Any

from ogive.autograd.mode import no_grad
from ogive.distributions import constraints
from ogive.distributions.discrete_distributions import Binomial, _ByChance
from ogive.distributions.distribution import Distribution
from ogive.distributions.distribution_parameters import (
    broadcast_all,
    computed,
    logits_to_probs,
    probs_to_logits,
)
from ogive.errors import ArgumentError
from ogive.random import gumbel, multinomial
from ogive.tensor.creation.constructors import arange, eye
from ogive.tensor.movement.stacking import broadcast_tensors
from ogive.tensor.tensor import Tensor


class Categorical(Distribution):
    """Categories, numbered along the last axis of `probs` or `logits`.

    >>> chosen = ogive.distributions.Categorical(probs=Tensor([0.0, 1.0]))
    >>> chosen.sample((3,)).tolist()
    [1, 1, 1]
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ArgumentError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        if given.ndim < 1:
            raise ArgumentError("the parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @computed
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @computed
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _param(self) -> Tensor:
        parameter: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return parameter

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        return tuple(self._param.shape)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Categorical:
        expanded = object.__new__(type(self))
        expanded.__dict__.update(self.__dict__)
        sizes = (*batch_shape, self._num_events)
        for name in ("probs", "logits"):
            if name in expanded.__dict__:
                expanded.__dict__[name] = expanded.__dict__[name].expand(*sizes)
        expanded._batch_shape = tuple(batch_shape)
        return expanded

    @property
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return self._nan()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self._nan()

    def _nan(self) -> Tensor:
        return self._param.new_full(self._batch_shape, math.nan)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = tuple(sample_shape)
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = multinomial(rows, math.prod(shape), replacement=True)
            return drawn.T.reshape(*shape, *self._batch_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        least = -3.4028234663852886e38 if self._param.dtype.bits < 64 else -1.7e308
        return -(self.logits.clamp(min=least) * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events).reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values


class OneHotCategorical(Distribution):
    """Vectors with a 1 at the position that `Categorical` draws, and 0 elsewhere."""

    arg_constraints: Any = Categorical.arg_constraints
    support: Any = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> OneHotCategorical:
        expanded = object.__new__(type(self))
        expanded.__dict__.update(self.__dict__)
        expanded._categorical = self._categorical.expand(batch_shape)
        expanded._batch_shape = tuple(batch_shape)
        return expanded

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1).one_hot(self._event_shape[0]).to(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._categorical.sample(sample_shape)
        return drawn.one_hot(self._event_shape[0]).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._categorical.log_prob(value.argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._event_shape[0]
        values = eye(n, dtype=self.probs.dtype).reshape(n, *[1] * len(self._batch_shape), n)
        return values.expand(n, *self._batch_shape, n) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient is that of the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())


class Multinomial(Distribution):
    """The number of times that each category occurs in `total_count` draws."""

    arg_constraints: Any = Categorical.arg_constraints
    total_count: int

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        self._binomial = Binomial(total_count, probs=self.probs, validate_args=False)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Multinomial:
        probs = self.probs.expand(*batch_shape, *self._event_shape)
        return Multinomial(self.total_count, probs=probs, validate_args=False)

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        return drawn.one_hot(self._event_shape[0]).sum(0).to(self.probs)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -math.inf), 0)
        choices = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        return choices + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n = Tensor(float(self.total_count), self.probs.dtype)
        support = self._binomial.enumerate_support(expand=False)[1:]
        weights = self._binomial.log_prob(support).exp()
        surprise = (weights * (support + 1).lgamma()).sum((0, -1))
        return n * self._categorical.entropy() - (n + 1).lgamma() + surprise


class LogitRelaxedBernoulli(_ByChance):
    """The log-odds of a relaxed Bernoulli at a `temperature`."""

    support: Any = constraints.real
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._temperature = temperature
        self._set_chance(probs, logits, validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """The temperature: at higher ones, values are farther from 0 and 1."""
        return self._temperature

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._uniform(sample_shape)
        sample: Tensor = (drawn.log() - (-drawn).log1p() + self.logits) / self._temperature
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value * self._temperature
        scale = self._temperature
        log_scale = scale.log() if isinstance(scale, Tensor) else math.log(scale)
        density: Tensor = log_scale + difference - 2 * difference.exp().log1p()
        return density


class ExpRelaxedCategorical(Distribution):
    """The logarithms of a relaxed one-hot vector at a `temperature`."""

    arg_constraints: Any = Categorical.arg_constraints
    support: Any = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self._temperature = temperature
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> ExpRelaxedCategorical:
        logits = self.logits.expand(*batch_shape, *self._event_shape)
        return ExpRelaxedCategorical(self._temperature, logits=logits, validate_args=False)

    @property
    def temperature(self) -> Any:
        """The temperature: at higher ones, vectors are farther from one-hot."""
        return self._temperature

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = gumbel(*self._extended_shape(sample_shape), dtype=self.logits.dtype)
        sample: Tensor = ((self.logits + drawn) / self._temperature).log_softmax(-1)
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        n = self._event_shape[0]
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        scale = self._temperature
        log_scale = scale.log() if isinstance(scale, Tensor) else math.log(scale)
        constant = math.lgamma(n) + log_scale * (n - 1)
        density: Tensor = (logits - value * scale).log_softmax(-1).sum(-1) + constant
        return density
