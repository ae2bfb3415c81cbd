"""What the library makes beside eager tensors does not settle them: constants, counters, draws,
NumPy's numbers, functions over arrays, functions whose gradient is known."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.torch import distributions
from tests.raising import raises

RANDOM = numpy.random.default_rng(6)
X = RANDOM.uniform(0.2, 2.0, (3, 4)).astype("float32")


@pytest.mark.parametrize("number", [numpy.float64(1.5), numpy.float32(2.5), numpy.int64(3)])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_numpys_numbers_are_taken_as_pytorch_takes_them(number: Any, dtype: str) -> None:
    computed: list[Callable[[Any], Any]] = [
        lambda x: x * number, lambda x: number - x, lambda x: x > number,
    ]  # fmt: skip
    for compute in computed:
        expected = compute(pytorch.tensor(X).to(getattr(pytorch, dtype)))
        made = compute(torch.tensor(X).to(getattr(torch, dtype)))
        assert made.is_eager
        numpy.testing.assert_allclose(made.numpy(), expected.numpy(), 1e-6, strict=True)


def test_numpys_numbers_are_written_to_elements() -> None:
    x = torch.zeros(3)
    x[1] = numpy.float64(2.5)
    x[2] = X[0, 0]
    assert x.is_eager
    assert x.tolist() == [0.0, 2.5, float(X[0, 0])]


@pytest.mark.parametrize(
    "make",
    [lambda: ogive.eye(4), lambda: ogive.arange(4), lambda: ogive.ones(3, 4), lambda: Any],
)
def test_constants_and_counters_are_taken_up(make: Callable[[], Any]) -> None:
    constant = ogive.Tensor(2.0) if make() is Any else make()
    x = torch.tensor(X[0])
    expected = X[0] + constant.numpy().astype("float32")
    assert (x + constant).is_eager
    numpy.testing.assert_allclose((x + constant).numpy(), expected)


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_functions_whose_gradient_is_known_are_eager(name: str) -> None:
    expected, own = pytorch.tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
    for x in (expected, own):
        (getattr(x, name)() * 2).sum().backward()
    assert getattr(own, name)().is_eager
    numpy.testing.assert_allclose(own.grad.numpy(), expected.grad.numpy(), 1e-4, 1e-4)


def test_multinomial_draws_at_once_what_it_draws_lazily() -> None:
    weights = torch.tensor([[0.1, 0.0, 0.6, 0.3]])
    torch.manual_seed(3)
    drawn = torch.multinomial(weights, 20, replacement=True)
    assert drawn.is_eager
    ogive.configure(eager=False)
    try:
        torch.manual_seed(3)
        lazy = torch.multinomial(torch.tensor([[0.1, 0.0, 0.6, 0.3]]), 20, replacement=True)
        assert not lazy.is_eager
    finally:
        ogive.configure(eager=True)
    assert drawn.tolist() == lazy.tolist()


def test_weights_that_are_negative_are_refused_at_once() -> None:
    with raises(ogive.errors.ExecuteError, match="not negative"):
        torch.multinomial(torch.tensor([0.5, -1.0]), 1)


def test_distributions_of_eager_parameters_are_eager() -> None:
    scale = torch.tensor([0.5, 2.0], requires_grad=True)
    normal = distributions.Normal(torch.zeros(2), scale)
    assert normal.rsample((3,)).is_eager
    density = normal.log_prob(torch.tensor([0.1, -0.4])).sum()
    density.backward()
    assert density.is_eager
    divergence = distributions.kl_divergence(normal, distributions.Normal(0.0, 1.0))
    assert divergence.is_eager
    other = pytorch.tensor([0.5, 2.0], requires_grad=True)
    pytorch.distributions.Normal(pytorch.zeros(2), other).log_prob(
        pytorch.tensor([0.1, -0.4])
    ).sum().backward()
    assert scale.grad is not None and other.grad is not None
    numpy.testing.assert_allclose(scale.grad.numpy(), other.grad.numpy(), 1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ii", [(4, 4)]), ("iij->j", [(3, 3, 2)]), ("...ij,...j->...i", [(2, 4, 3), (3,)]),
     ("b...,b...->b", [(2, 3, 4), (2, 3, 4)]), ("bij->jbi", [(2, 3, 4)]),
     ("ii,ij->j", [(3, 3), (3, 2)]), ("...i,i", [(2, 3), (3,)])],
)  # fmt: skip
def test_einsum_with_dots_and_letters_that_repeat_is_eager(equation: str, shapes: Any) -> None:
    arrays = [RANDOM.normal(size=shape).astype("float32") for shape in shapes]
    found = []
    for module in (pytorch, torch):
        operands = [module.tensor(array, requires_grad=True) for array in arrays]
        made = module.einsum(equation, *operands)
        (made * made.detach().cos()).sum().backward()
        found.append([made.detach().numpy(), *[operand.grad.numpy() for operand in operands]])
        assert module is pytorch or made.is_eager
    for expected, own in zip(*found, strict=True):
        numpy.testing.assert_allclose(own, expected, 1e-4, 1e-5, strict=True)


@pytest.mark.parametrize("reduce", ["sum", "prod", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_integers_are_combined_at_positions(reduce: str, include_self: bool) -> None:
    found = []
    for module in (pytorch, torch):
        x, index = module.tensor([5, 6, 7, 8]), module.tensor([0, 1, 0, 3, 3])
        source = module.tensor([9, 1, 2, -4, 3])
        made = x.scatter_reduce(0, index, source, reduce, include_self=include_self)
        assert module is pytorch or made.is_eager
        found.append(made.tolist())
    assert found[1] == found[0]


def test_unique_and_histogram_are_pytorchs() -> None:
    values = numpy.array([3.0, 1.0, numpy.nan, 3.0, 2.0, 1.0], "float32")
    for keywords in ({}, {"return_inverse": True}, {"return_inverse": True, "return_counts": True}):
        expected = pytorch.unique(pytorch.tensor(values), **keywords)
        own = torch.unique(torch.tensor(values), **keywords)
        pairs = zip(expected, own, strict=True) if keywords else [(expected, own)]
        for one, other in pairs:
            assert other.is_eager
            numpy.testing.assert_array_equal(other.numpy(), one.numpy(), strict=True)
    expected, own = [m.histogram(m.tensor(X.reshape(-1)), bins=5) for m in (pytorch, torch)]
    assert own.hist.is_eager
    numpy.testing.assert_array_equal(own.hist.numpy(), expected.hist.numpy())
    numpy.testing.assert_allclose(own.bin_edges.numpy(), expected.bin_edges.numpy(), 1e-6)


def test_what_is_loaded_from_a_file_is_eager() -> None:
    file = io.BytesIO()
    torch.save({"w": torch.tensor(X)}, file)
    file.seek(0)
    loaded = torch.load(file)["w"]
    assert loaded.is_eager
    numpy.testing.assert_array_equal(loaded.numpy(), X)


DENSITIES: list[Callable[[Any, Any], Any]] = [
    lambda D, x: D.Laplace(x, 1.0).log_prob(x * 2),
    lambda D, x: D.StudentT(3.0).log_prob(x),
    lambda D, x: D.HalfNormal(1.0).log_prob(x),
    lambda D, x: D.Weibull(1.0, 2.0).log_prob(x),
    lambda D, x: D.Geometric(0.3).log_prob(x.round()),
    lambda D, x: D.kl_divergence(D.Normal(x, 1.0), D.Normal(0.0, 1.0)),
]


@pytest.mark.parametrize("density", DENSITIES)
def test_what_follows_from_constants_and_memory_is_taken_up(density: Callable[..., Any]) -> None:
    expected, own = pytorch.tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
    theirs, found = density(pytorch.distributions, expected), density(distributions, own)
    assert found.is_eager
    numpy.testing.assert_allclose(found.detach().numpy(), theirs.detach().numpy(), 1e-5, 1e-6)
    theirs.sum().backward()
    found.sum().backward()
    numpy.testing.assert_allclose(own.grad.numpy(), expected.grad.numpy(), 1e-4, 1e-5)


def test_a_view_of_a_constant_is_read_as_it_is_at_the_time() -> None:
    whole = ogive.ones(3)
    part = whole[1:]
    whole.add_(1)
    x = torch.tensor([1.0, 2.0])
    assert (x + part).tolist() == [3.0, 4.0]
    part[0] = 7.0
    assert (x + part).tolist() == [8.0, 4.0]
    assert x.is_eager


def test_gradients_reach_a_plain_leaf_through_what_is_not_taken_up() -> None:
    leaf = ogive.ones(2, requires_grad=True)
    part = (leaf * 2)[0:]
    (torch.tensor([1.0, 3.0]) * part).sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [2.0, 6.0]


@pytest.mark.parametrize("hard", [False, True])
def test_a_softmax_that_draws_is_eager(hard: bool) -> None:
    drawn = torch.nn.functional.gumbel_softmax(torch.tensor(X, requires_grad=True), hard=hard)
    assert drawn.is_eager
    numpy.testing.assert_allclose(drawn.sum(-1).detach().numpy(), 1, 1e-5)


def test_blocks_along_a_diagonal_are_eager() -> None:
    def made(library: Any) -> Any:
        return library.block_diag(library.tensor(X), library.tensor([1, 2]))

    assert made(torch).is_eager
    numpy.testing.assert_array_equal(made(torch).numpy(), made(pytorch).numpy())


def test_draws_about_tensors_are_eager_and_repeat() -> None:
    mean, deviation = torch.tensor(X), torch.tensor(X * 0 + 1e-6)
    torch.manual_seed(3)
    first = torch.normal(mean, deviation)
    assert first.is_eager
    numpy.testing.assert_allclose(first.numpy(), X, 1e-4)
    torch.manual_seed(3)
    assert torch.normal(mean, deviation).tolist() == first.tolist()
