"""Distributions made of others: axes taken together, transformed, mixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.autograd.mode import no_grad
from ogive.distributions import constraints
from ogive.distributions.categories import Categorical, ExpRelaxedCategorical, LogitRelaxedBernoulli
from ogive.distributions.distribution import Distribution
from ogive.distributions.distribution_parameters import sum_rightmost
from ogive.distributions.location_scale import Normal
from ogive.distributions.transforms import (
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    StickBreakingTransform,
    Transform,
)
from ogive.errors import ArgumentError
from ogive.tensor.tensor import Tensor


class Independent(Distribution):
    """A distribution whose last batch axes count as one value.

    >>> base = ogive.distributions.Normal(ogive.zeros(3), ogive.ones(3))
    >>> ogive.distributions.Independent(base, 1).log_prob(ogive.zeros(3)).shape
    ()
    """

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        count, shape = reinterpreted_batch_ndims, base_distribution.batch_shape
        if count > len(shape):
            raise ArgumentError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {count} vs {len(shape)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = count
        self.has_rsample = base_distribution.has_rsample
        cut = len(shape) - count
        event = shape[cut:] + base_distribution.event_shape
        super().__init__(shape[:cut], event, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Independent:
        more = self.event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand((*batch_shape, *more))
        return Independent(base, self.reinterpreted_batch_ndims, validate_args=False)

    @property
    def support(self) -> Any:
        base = self.base_dist.support
        more = self.reinterpreted_batch_ndims
        return constraints.independent(base, more) if more else base

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        density = self.base_dist.log_prob(value)
        summed: Tensor = sum_rightmost(density, self.reinterpreted_batch_ndims)
        return summed

    def entropy(self) -> Tensor:
        entropy: Tensor = sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)
        return entropy

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of another one's values after transforms."""

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        whole = ComposeTransform(self.transforms)
        inner, outer = whole.domain.event_dim, whole.codomain.event_dim
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < inner:
            raise ArgumentError(
                "base_distribution needs to have shape with size at least "
                f"{inner}, but got {shape}."
            )
        more = inner - len(base_distribution.event_shape)
        self.base_dist: Distribution = (
            Independent(base_distribution, more) if more > 0 else base_distribution
        )
        shape_after = whole.forward_shape(shape)
        dims = outer + max(len(base_distribution.event_shape) - inner, 0)
        cut = len(shape_after) - dims
        self.has_rsample = base_distribution.has_rsample
        super().__init__(shape_after[:cut], shape_after[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> TransformedDistribution:
        whole = ComposeTransform(self.transforms)
        shape = whole.inverse_shape((*batch_shape, *self.event_shape))
        base = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        expanded = object.__new__(type(self))
        expanded.__dict__.update(self.__dict__)
        expanded.base_dist, expanded._batch_shape = base, tuple(batch_shape)
        return expanded

    @property
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        more = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, more) if more > 0 else codomain

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            value = self.base_dist.sample(sample_shape)
            for transform in self.transforms:
                value = transform(value)
            return value

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        value = self.base_dist.rsample(sample_shape)
        for transform in self.transforms:
            value = transform(value)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        dims = len(self.event_shape)
        total: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            stretch = transform.log_abs_det_jacobian(x, value)
            total = total - sum_rightmost(stretch, dims - transform.domain.event_dim)
            value = x
        density = self.base_dist.log_prob(value)
        total = total + sum_rightmost(density, dims - len(self.base_dist.event_shape))
        return total  # type: ignore[no-any-return]

    def _turned(self, value: Tensor) -> Tensor:
        """A probability, or its complement if the transforms reverse the order of values."""
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        value = self.base_dist.icdf(self._turned(value))
        for transform in self.transforms:
            value = transform(value)
        return value


class LogNormal(TransformedDistribution):
    """Numbers whose logarithms are normal."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(
            Normal(loc, scale, validate_args=validate_args), ExpTransform(),
            validate_args=validate_args,
        )  # fmt: skip

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithms."""
        return self.base_dist.loc  # type: ignore[attr-defined, no-any-return]

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithms."""
        return self.base_dist.scale  # type: ignore[attr-defined, no-any-return]

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.square() / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.square()
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Shares that sum to 1, by stick breaking of normally distributed numbers."""

    arg_constraints: Any = {"loc": constraints.real, "scale": constraints.positive}
    support: Any = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined, no-any-return]

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined, no-any-return]


class RelaxedBernoulli(TransformedDistribution):
    """Numbers near 0 and 1, with gradients: a Bernoulli at a `temperature`."""

    arg_constraints: Any = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Any = constraints.unit_interval

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """The temperature: at higher ones, values are farther from 0 and 1."""
        return self.base_dist.temperature  # type: ignore[attr-defined]

    @property
    def logits(self) -> Tensor:
        """The log-odds."""
        return self.base_dist.logits  # type: ignore[attr-defined, no-any-return]

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.base_dist.probs  # type: ignore[attr-defined, no-any-return]


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors near one-hot, with gradients: categories at a `temperature`."""

    arg_constraints: Any = Categorical.arg_constraints
    support: Any = constraints.simplex

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    temperature = RelaxedBernoulli.temperature
    logits = RelaxedBernoulli.logits
    probs = RelaxedBernoulli.probs


class MixtureSameFamily(Distribution):
    """A mixture: `mixture_distribution` chooses a component along the last batch axis."""

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ArgumentError("The Mixture distribution needs to be an instance of Categorical")
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._event_ndims = len(component_distribution.event_shape)
        shape = component_distribution.batch_shape[:-1]
        event = component_distribution.event_shape
        super().__init__(shape, event, validate_args=validate_args)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the component that is chosen."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    @property
    def support(self) -> Any:
        return self._component_distribution.support

    def _weights(self) -> Tensor:
        probs: Tensor = self._mixture_distribution.probs
        return probs.reshape(*probs.shape, *[1] * self._event_ndims)

    @property
    def mean(self) -> Tensor:
        axis = -1 - self._event_ndims
        return (self._weights() * self._component_distribution.mean).sum(axis)

    @property
    def variance(self) -> Tensor:
        axis, weights = -1 - self._event_ndims, self._weights()
        within = (weights * self._component_distribution.variance).sum(axis)
        away = self._component_distribution.mean - self.mean.unsqueeze(axis)
        return within + (weights * away.square()).sum(axis)

    def _before_components(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - self._event_ndims)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        density = self._component_distribution.log_prob(self._before_components(value))
        return (density + self._mixture_distribution.logits.log_softmax(-1)).logsumexp(-1)

    def cdf(self, value: Tensor) -> Tensor:
        shares = self._component_distribution.cdf(self._before_components(value))
        return (shares * self._mixture_distribution.probs).sum(-1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with no_grad():
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            axis = drawn.ndim - 1 - self._event_ndims
            chosen = chosen.reshape(*chosen.shape, *[1] * (self._event_ndims + 1))
            chosen = chosen.expand(*drawn.shape[:axis], 1, *self._event_shape)
            return drawn.gather(axis, chosen).squeeze(axis)


