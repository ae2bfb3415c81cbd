"""Kullback-Leibler divergences: one formula for each pair of classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ogive.distributions import categories, combined, gamma_family, location_scale, positive
from ogive.distributions import discrete_distributions as discrete
from ogive.distributions.distribution import Distribution
from ogive.distributions.distribution_parameters import sum_rightmost
from ogive.distributions.multivariate import MultivariateNormal
from ogive.linalg import solve_triangular
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

Formula = Callable[[Any, Any], Tensor]

_FORMULAS: dict[tuple[type, type], Formula] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Formula], Formula]:
    """A decorator that registers a function as the divergence of a pair of classes."""

    def register(formula: Formula) -> Formula:
        _FORMULAS[type_p, type_q] = formula
        return formula

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The divergence of `p` from `q`. Shapes: batch_shape.

    >>> from ogive.distributions import Normal
    >>> ogive.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0)).item()
    0.5

    Raises `NotImplementedError` for a pair without a formula.
    """
    formulas = [
        (type(p).__mro__.index(one) + type(q).__mro__.index(other), number, formula)
        for number, ((one, other), formula) in enumerate(_FORMULAS.items())
        if isinstance(p, one) and isinstance(q, other)
    ]
    if not formulas:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} "
            f"and q type {type(q).__name__}"
        )
    return min(formulas)[2](p, q)


@register_kl(location_scale.Normal, location_scale.Normal)
def _normals(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).square()
    away = ((p.loc - q.loc) / q.scale).square()
    return 0.5 * (ratio + away - 1 - ratio.log())  # type: ignore[no-any-return]


@register_kl(location_scale.Laplace, location_scale.Laplace)
def _laplaces(p: Any, q: Any) -> Tensor:
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    divergence: Tensor = -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1
    return divergence


@register_kl(location_scale.Uniform, location_scale.Uniform)
def _uniforms(p: Any, q: Any) -> Tensor:
    divergence: Tensor = ((q.high - q.low) / (p.high - p.low)).log()
    return divergence.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(location_scale.Gumbel, location_scale.Gumbel)
def _gumbels(p: Any, q: Any) -> Tensor:
    euler = 0.5772156649015329
    ratio, away = p.scale / q.scale, (q.loc - p.loc) / q.scale
    divergence: Tensor = (
        -ratio.log() + ratio * euler - away + (away + (ratio + 1).lgamma()).exp() - (1 + euler)
    )
    return divergence


@register_kl(location_scale.Cauchy, location_scale.Cauchy)
def _cauchys(p: Any, q: Any) -> Tensor:
    total = ((p.scale + q.scale).square() + (p.loc - q.loc).square()).log()
    divergence: Tensor = total - (4 * p.scale * q.scale).log()
    return divergence


@register_kl(location_scale.HalfNormal, location_scale.HalfNormal)
def _half_normals(p: Any, q: Any) -> Tensor:
    return _normals(p.base_dist, q.base_dist)


@register_kl(positive.Exponential, positive.Exponential)
def _exponentials(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    divergence: Tensor = -ratio.log() + ratio - 1
    return divergence


@register_kl(gamma_family.Gamma, gamma_family.Gamma)
def _gammas(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    divergence: Tensor = (
        b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma()
        + (q.rate - p.rate) * (a / p.rate)
    )  # fmt: skip
    return divergence


@register_kl(gamma_family.Beta, gamma_family.Beta)
def _betas(p: Any, q: Any) -> Tensor:
    total, other = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    divergence: Tensor = (
        q.concentration1.lgamma() + q.concentration0.lgamma() + total.lgamma()
        - p.concentration1.lgamma() - p.concentration0.lgamma() - other.lgamma()
        + (p.concentration1 - q.concentration1) * p.concentration1.digamma()
        + (p.concentration0 - q.concentration0) * p.concentration0.digamma()
        + (other - total) * total.digamma()
    )  # fmt: skip
    return divergence


@register_kl(gamma_family.Dirichlet, gamma_family.Dirichlet)
def _dirichlets(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    slopes = a.digamma() - a.sum(-1, keepdim=True).digamma()
    divergence: Tensor = (
        a.sum(-1).lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
        + ((a - b) * slopes).sum(-1)
    )  # fmt: skip
    return divergence


@register_kl(discrete.Bernoulli, discrete.Bernoulli)
def _bernoullis(p: Any, q: Any) -> Tensor:
    from ogive.nn.functional import softplus

    first = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    first = where(q.probs == 0, math.inf + 0 * first, first)
    first = first.masked_fill(p.probs == 0, 0)
    second = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    second = where(q.probs == 1, math.inf + 0 * second, second)
    second = second.masked_fill(p.probs == 1, 0)
    return first + second


@register_kl(discrete.Binomial, discrete.Binomial)
def _binomials(p: Any, q: Any) -> Tensor:
    divergence: Tensor = p.total_count * (
        p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    )
    return divergence.masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(discrete.Geometric, discrete.Geometric)
def _geometrics(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits  # type: ignore[no-any-return]


@register_kl(discrete.Poisson, discrete.Poisson)
def _poissons(p: Any, q: Any) -> Tensor:
    divergence: Tensor = p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)
    return divergence


@register_kl(discrete.ContinuousBernoulli, discrete.ContinuousBernoulli)
def _continuous_bernoullis(p: Any, q: Any) -> Tensor:
    divergence: Tensor = (
        p.mean * (p.logits - q.logits) + p._log_normalizer() + (-p.probs).log1p()
        - q._log_normalizer() - (-q.probs).log1p()
    )  # fmt: skip
    return divergence


@register_kl(categories.Categorical, categories.Categorical)
def _categoricals(p: Any, q: Any) -> Tensor:
    divergence = p.probs * (p.logits - q.logits)
    divergence = where((q.probs == 0).expand(*divergence.shape), math.inf + 0 * p.probs, divergence)
    divergence = divergence.masked_fill((p.probs == 0).expand(*divergence.shape), 0)
    return divergence.sum(-1)


@register_kl(categories.OneHotCategorical, categories.OneHotCategorical)
def _one_hots(p: Any, q: Any) -> Tensor:
    return _categoricals(p._categorical, q._categorical)


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normals(p: Any, q: Any) -> Tensor:
    n = p.event_shape[0]
    spread = solve_triangular(q._root, p._root, upper=False).square().sum((-2, -1))
    away = (q.loc - p.loc).unsqueeze(-1)
    square = solve_triangular(q._root, away, upper=False).square().sum((-2, -1))
    divergence: Tensor = q._half_log_det() - p._half_log_det() + 0.5 * (spread + square - n)
    return divergence


@register_kl(combined.Independent, combined.Independent)
def _independents(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    divergence = kl_divergence(p.base_dist, q.base_dist)
    summed: Tensor = sum_rightmost(divergence, p.reinterpreted_batch_ndims)
    return summed


@register_kl(combined.TransformedDistribution, combined.TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    if len(p.transforms) != len(q.transforms) or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)
