"""Densities, moments, entropies and divergences are PyTorch's; draws have their moments."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch as torch
from tests.raising import raises

UNIT = [0.1, 0.5, 0.9]
ABOVE = [0.3, 1.0, 2.5]
LINE = [-1.5, 0.2, 2.0]
COUNTS = [0.0, 1.0, 3.0]
SHARES = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]

CASES: list[tuple[str, Any, list[Any]]] = [
    ("Normal", lambda d, t: d.Normal(t(LINE), t(ABOVE)), LINE),
    ("Laplace", lambda d, t: d.Laplace(t(LINE), t(ABOVE)), LINE),
    ("Cauchy", lambda d, t: d.Cauchy(t(LINE), t(ABOVE)), LINE),
    ("Gumbel", lambda d, t: d.Gumbel(t(LINE), t(ABOVE)), LINE),
    ("HalfNormal", lambda d, t: d.HalfNormal(t(ABOVE)), ABOVE),
    ("HalfCauchy", lambda d, t: d.HalfCauchy(t(ABOVE)), ABOVE),
    ("Uniform", lambda d, t: d.Uniform(t([0.0, -1.0, 1.0]), t([1.0, 1.0, 4.0])), [0.5, 0.5, 2.0]),
    ("StudentT", lambda d, t: d.StudentT(t([3.0, 5.0, 9.0]), t(LINE), t(ABOVE)), LINE),
    ("VonMises", lambda d, t: d.VonMises(t(LINE), t(ABOVE)), LINE),
    ("LogNormal", lambda d, t: d.LogNormal(t(LINE), t(ABOVE)), ABOVE),
    ("Exponential", lambda d, t: d.Exponential(t(ABOVE)), ABOVE),
    ("Gamma", lambda d, t: d.Gamma(t(ABOVE), t(ABOVE)), ABOVE),
    ("Chi2", lambda d, t: d.Chi2(t(ABOVE)), ABOVE),
    ("InverseGamma", lambda d, t: d.InverseGamma(t([3.0, 4.0, 5.0]), t(ABOVE)), ABOVE),
    ("Beta", lambda d, t: d.Beta(t(ABOVE), t([2.0, 3.0, 1.5])), UNIT),
    ("Dirichlet", lambda d, t: d.Dirichlet(t([ABOVE, [2.0, 3.0, 4.0]])), SHARES),
    ("FisherSnedecor",
     lambda d, t: d.FisherSnedecor(t([3.0, 5.0, 6.0]), t([5.0, 7.0, 9.0])), ABOVE),
    ("Weibull", lambda d, t: d.Weibull(t(ABOVE), t([1.0, 2.0, 3.0])), ABOVE),
    ("Pareto", lambda d, t: d.Pareto(t(ABOVE), t([3.0, 4.0, 5.0])), [1.0, 2.0, 3.0]),
    ("Kumaraswamy", lambda d, t: d.Kumaraswamy(t([1.5, 2.0, 3.0]), t([2.0, 1.5, 4.0])), UNIT),
    ("Bernoulli", lambda d, t: d.Bernoulli(probs=t(UNIT)), [0.0, 1.0, 1.0]),
    ("Bernoulli of logits", lambda d, t: d.Bernoulli(logits=t(LINE)), [0.0, 1.0, 1.0]),
    ("Geometric", lambda d, t: d.Geometric(probs=t(UNIT)), COUNTS),
    ("Binomial", lambda d, t: d.Binomial(5, probs=t(UNIT)), COUNTS),
    ("NegativeBinomial",
     lambda d, t: d.NegativeBinomial(t([2.0, 3.0, 4.0]), probs=t(UNIT)), COUNTS),
    ("Poisson", lambda d, t: d.Poisson(t(ABOVE)), COUNTS),
    ("ContinuousBernoulli", lambda d, t: d.ContinuousBernoulli(probs=t(UNIT)), UNIT),
    ("Categorical", lambda d, t: d.Categorical(probs=t(SHARES)), [2, 0]),
    ("Categorical of logits", lambda d, t: d.Categorical(logits=t([LINE, ABOVE])), [2, 0]),
    ("OneHotCategorical", lambda d, t: d.OneHotCategorical(t(SHARES)), [[0, 1.0, 0], [1.0, 0, 0]]),
    ("Multinomial", lambda d, t: d.Multinomial(4, t(SHARES)), [[1.0, 2, 1], [4.0, 0, 0]]),
    ("RelaxedBernoulli", lambda d, t: d.RelaxedBernoulli(t(0.7), t(UNIT)), UNIT),
    ("RelaxedOneHot", lambda d, t: d.RelaxedOneHotCategorical(t(0.7), t(SHARES)), SHARES),
    ("Independent", lambda d, t: d.Independent(d.Normal(t([LINE]), t([ABOVE])), 1), [LINE]),
    ("MultivariateNormal",
     lambda d, t: d.MultivariateNormal(t([1.0, 2.0]), t([[2.0, 0.5], [0.5, 1.0]])), [0.0, 1.0]),
    ("of a precision", lambda d, t: d.MultivariateNormal(
        t([1.0, 2.0]), precision_matrix=t([[2.0, 0.5], [0.5, 1.0]])), [0.0, 1.0]),
    ("LowRank", lambda d, t: d.LowRankMultivariateNormal(
        t([1.0, 2.0]), t([[0.5], [0.2]]), t([1.0, 2.0])), [0.0, 1.0]),
    ("LogisticNormal", lambda d, t: d.LogisticNormal(t(LINE[:2]), t(ABOVE[:2])), [0.2, 0.3, 0.5]),
    ("squashed normal", lambda d, t: d.TransformedDistribution(
        d.Normal(t(LINE), t(ABOVE)), [d.TanhTransform(), d.AffineTransform(1.0, 2.0)]),
     [0.1, 0.5, 1.2]),
    ("MixtureSameFamily", lambda d, t: d.MixtureSameFamily(
        d.Categorical(t(SHARES[0])), d.Normal(t(LINE), t(ABOVE))), [0.3, 0.4]),
]  # fmt: skip


def evaluate(library: Any, make: Any, value: Any) -> dict[str, Any]:
    def leaf(data: Any) -> Any:
        return library.tensor(data, dtype=library.float64, requires_grad=True)

    made = make(library.distributions, leaf)
    x = library.tensor(value)
    x = x.to(library.float64) if x.is_floating_point() else x
    found = {"log_prob": made.log_prob(x), "shapes": (made.batch_shape, made.event_shape)}
    for name in ("mean", "variance", "stddev", "mode", "entropy", "cdf"):
        try:
            got = getattr(made, name)
            found[name] = got(x) if name == "cdf" else got() if name == "entropy" else got
        except NotImplementedError:
            found[name] = "absent"
    return found


@pytest.mark.parametrize(("name", "make", "value"), CASES, ids=[name for name, _, _ in CASES])
def test_densities_and_moments_are_pytorchs(name: str, make: Any, value: Any) -> None:
    wanted, found = (evaluate(library, make, value) for library in (pytorch, torch))
    assert wanted.pop("shapes") == found.pop("shapes")
    for key, expected in wanted.items():
        if isinstance(expected, str):
            continue  # what PyTorch leaves out may be there
        assert not isinstance(found[key], str), f"{key} is absent"
        assert found[key].shape == tuple(expected.shape), key
        if key == "mode" and name == "Kumaraswamy":
            continue  # PyTorch gives NaN
        numpy.testing.assert_allclose(
            found[key].detach().numpy(), expected.detach().numpy(), rtol=2e-6, err_msg=key
        )


CONTINUOUS = [case for case in CASES if case[0] not in ("Cauchy", "HalfCauchy", "StudentT")]


@pytest.mark.parametrize(("name", "make", "value"), CONTINUOUS, ids=lambda case: str(case)[:20])
def test_draws_have_the_moments(name: str, make: Any, value: Any) -> None:
    torch.manual_seed(3)
    made = make(torch.distributions, lambda data: torch.tensor(data, dtype=torch.float64))
    drawn = made.sample((4000,))
    assert drawn.shape == (4000, *made.batch_shape, *made.event_shape)
    try:
        mean, deviation = made.mean.numpy(), made.variance.sqrt().numpy()
    except NotImplementedError:
        return
    if numpy.isfinite(mean).all() and name not in ("VonMises", "FisherSnedecor"):
        error = numpy.abs(drawn.double().mean(0).numpy() - mean) / (deviation + 1e-9)
        assert (error < 0.1).all(), error


PAIRS = [
    lambda d, t: [d.Normal(t(LINE), t(ABOVE)), d.Normal(t(ABOVE), t(ABOVE) * 2)],
    lambda d, t: [d.Laplace(t(LINE), t(ABOVE)), d.Laplace(t(ABOVE), t(ABOVE) * 2)],
    lambda d, t: [d.Gumbel(t(LINE), t(ABOVE)), d.Gumbel(t(ABOVE), t(ABOVE) * 2)],
    lambda d, t: [d.Cauchy(t(LINE), t(ABOVE)), d.Cauchy(t(ABOVE), t(ABOVE) * 2)],
    lambda d, t: [d.Exponential(t(ABOVE)), d.Exponential(t(ABOVE) * 2)],
    lambda d, t: [d.Gamma(t(ABOVE), t(ABOVE)), d.Gamma(t(ABOVE) * 2, t(ABOVE) * 3)],
    lambda d, t: [d.Beta(t(ABOVE), t(ABOVE)), d.Beta(t(ABOVE) * 2, t(ABOVE) * 3)],
    lambda d, t: [d.Dirichlet(t(ABOVE)), d.Dirichlet(t(ABOVE) * 2)],
    lambda d, t: [d.Bernoulli(t(UNIT)), d.Bernoulli(t(UNIT) ** 2)],
    lambda d, t: [d.Binomial(3, t(UNIT)), d.Binomial(3, t(UNIT) ** 2)],
    lambda d, t: [d.Geometric(t(UNIT)), d.Geometric(t(UNIT) ** 2)],
    lambda d, t: [d.Poisson(t(ABOVE)), d.Poisson(t(ABOVE) * 2)],
    lambda d, t: [d.Categorical(t(SHARES)), d.Categorical(logits=t(SHARES))],
    lambda d, t: [d.MultivariateNormal(t(LINE), t(numpy.diag(ABOVE))),
                  d.MultivariateNormal(t(ABOVE), scale_tril=t(numpy.diag(ABOVE)))],
    lambda d, t: [d.Independent(d.Normal(t(LINE), t(ABOVE)), 1),
                  d.Independent(d.Normal(t(ABOVE), t(ABOVE)), 1)],
    lambda d, t: [d.LogNormal(t(LINE), t(ABOVE)), d.LogNormal(t(ABOVE), t(ABOVE))],
]  # fmt: skip


@pytest.mark.parametrize("make", PAIRS)
def test_divergences_are_pytorchs(make: Any) -> None:
    values = []
    for library in (pytorch, torch):
        pair = make(library.distributions, lambda d, t=library: t.tensor(d, dtype=t.float64))
        values.append(library.distributions.kl_divergence(*pair))
    numpy.testing.assert_allclose(values[1].numpy(), values[0].numpy(), rtol=1e-6, atol=1e-12)


def test_gradients_flow_through_gamma_draws() -> None:
    """E[x] = a for a gamma of shape a and rate 1, so the gradients of the mean are about 1."""
    for shape in (0.5, 2.0, 30.0, 5000.0):
        a = torch.full((4000,), shape, dtype=torch.float64, requires_grad=True)
        torch.distributions.Gamma(a, torch.ones(1, dtype=torch.float64)).rsample().sum().backward()
        assert abs(a.grad.mean().item() - 1) < 0.08, shape


def test_gamma_slopes_are_pytorchs() -> None:
    from ogive.random.rejected import gamma_slope

    shape = numpy.array([0.3, 0.9, 1.7, 8.0, 40.0, 900.0])
    for away in (-0.5, 0.0, 2.0):
        value = shape * (1 + away / numpy.sqrt(1 + shape))
        wanted = pytorch._standard_gamma_grad(pytorch.tensor(shape), pytorch.tensor(value))
        found = gamma_slope(torch.tensor(shape), torch.tensor(value))
        numpy.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-3)


def test_parameters_and_values_outside_are_refused() -> None:
    for library in (pytorch, torch):
        with raises(ValueError, match="Expected parameter scale"):
            library.distributions.Normal(0.0, -1.0)
        with raises(ValueError, match="within the support"):
            library.distributions.Exponential(1.0).log_prob(library.tensor(-1.0))
        library.distributions.Normal(0.0, -1.0, validate_args=False)
        with pytest.raises(NotImplementedError):
            library.distributions.kl_divergence(
                library.distributions.Gumbel(0.0, 1.0), library.distributions.Bernoulli(0.5)
            )


def test_draws_follow_from_the_seed() -> None:
    drawn = []
    for _ in range(2):
        torch.manual_seed(9)
        drawn.append(torch.distributions.Gamma(torch.full((5,), 2.0), 1.0).sample().tolist())
    assert drawn[0] == drawn[1]


def test_a_captured_function_draws_and_scores() -> None:
    def score(logits: Any) -> Any:
        chosen = torch.distributions.Categorical(logits=logits)
        return chosen.log_prob(torch.tensor([1, 0])), chosen.entropy()

    step = torch.compile(score)
    logits = torch.tensor([[0.1, 0.2], [0.5, -0.5]])
    wanted = pytorch.distributions.Categorical(logits=pytorch.tensor(logits.tolist()))
    for _ in range(3):
        scored, entropy = step(logits)
    numpy.testing.assert_allclose(scored, wanted.log_prob(pytorch.tensor([1, 0])), rtol=1e-6)
    numpy.testing.assert_allclose(entropy, wanted.entropy(), rtol=1e-6)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_triangles_of_correlation_have_pytorchs_density(size: int) -> None:
    for concentration in (0.5, 1.0, [2.0, 7.5]):
        own = torch.distributions.LKJCholesky(size, torch.tensor(concentration).double())
        other = pytorch.distributions.LKJCholesky(size, pytorch.tensor(concentration).double())
        drawn = own.sample((4,))
        assert drawn.shape == (4, *own.batch_shape, size, size)
        found, wanted = own.log_prob(drawn), other.log_prob(pytorch.from_numpy(drawn.numpy()))
        numpy.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-9)
        assert own.expand((3, 2)).sample().shape == (3, 2, size, size)


def test_drawn_correlations_spread_as_they_should() -> None:
    torch.manual_seed(3)
    size, concentration = 4, 1.5
    triangles = torch.distributions.LKJCholesky(size, concentration).sample((20000,))
    drawn = (triangles @ triangles.mT).numpy()
    numpy.testing.assert_allclose(drawn[:, range(size), range(size)], 1, rtol=1e-5)
    pairs = drawn[:, *numpy.triu_indices(size, 1)]
    wanted = 1 / (2 * concentration + size - 1)  # of each pair alike: 2 Beta(a, a) - 1
    numpy.testing.assert_allclose(pairs.mean(0), 0, atol=0.02)
    numpy.testing.assert_allclose(pairs.var(0), wanted, rtol=0.05)
