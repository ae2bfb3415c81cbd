"""Eager draws are the numbers that lazy draws are, under the same keys in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import ogive
import ogive.torch as torch
from ogive.random.cipher import encipher_on_host
from ogive.random.generator import Generator

Draw = Callable[[], Any]

EXACT: list[tuple[str, Draw]] = [
    ("rand", lambda: torch.rand(5, 7)),
    ("rand of a shape", lambda: torch.rand((2, 3))),
    ("rand in float64", lambda: torch.rand(100, dtype=torch.float64)),
    ("rand of none", lambda: torch.rand(0)),
    ("rand of one", lambda: torch.rand(())),
    ("rand of many", lambda: torch.rand(3000)),
    ("rand_like", lambda: torch.rand_like(torch.ones(4))),
    ("randint", lambda: torch.randint(10, (50,))),
    ("randint from below zero", lambda: torch.randint(-5, 9, (50,))),
    ("randint by name", lambda: torch.randint(low=2, high=9, size=(50,))),
    ("randint in uint8", lambda: torch.randint(200, (50,), dtype=torch.uint8)),
    ("randint in float32", lambda: torch.randint(200, (50,), dtype=torch.float32)),
    ("randint_like", lambda: torch.randint_like(torch.ones(9), 4)),
    ("randperm", lambda: torch.randperm(50)),
    ("bernoulli", lambda: torch.bernoulli(torch.full((60,), 0.3))),
    ("bernoulli of a number", lambda: torch.ones(60).bernoulli(0.3)),
    ("bernoulli of one", lambda: torch.ones(60).bernoulli(1.0)),
    ("bernoulli_", lambda: torch.ones(60, dtype=torch.int64).bernoulli_(0.3)),
    ("uniform_", lambda: torch.zeros(60).uniform_(-3, 0.7)),
    ("dropout", lambda: torch.nn.functional.dropout(torch.ones(60), 0.3)),
    ("dropout of all", lambda: torch.nn.functional.dropout(torch.ones(60), 1.0)),
    ("dropout of channels", lambda: torch.ones(2, 5, 3, 3).dropout2d(0.4)),
    ("a layer", lambda: torch.nn.Linear(5, 4).weight),
    ("a convolution", lambda: torch.nn.Conv2d(3, 4, 3).weight),
    ("Xavier's", lambda: torch.nn.init.xavier_uniform_(torch.zeros(5, 4))),
]

ROUNDED: list[tuple[str, Draw]] = [
    ("randn", lambda: torch.randn(5, 7)),
    ("randn in float64", lambda: torch.randn(100, dtype=torch.float64)),
    ("randn_like", lambda: torch.randn_like(torch.ones(4))),
    ("normal", lambda: torch.normal(1.0, 2.0, (40,))),
    ("normal_", lambda: torch.zeros(40).normal_(1.0, 2.0)),
    ("exponential_", lambda: torch.zeros(40).exponential_(2.0)),
    ("a table", lambda: torch.nn.Embedding(5, 4, padding_idx=2).weight),
    ("Kaiming's", lambda: torch.nn.init.kaiming_normal_(torch.zeros(5, 4))),
]


def both(draw: Draw) -> tuple[Any, Any, bool]:
    """The numbers of an eager and of a lazy draw, and of the draws after them."""
    found = []
    for is_eager in (True, False):
        ogive.configure(eager=is_eager)
        try:
            torch.manual_seed(3)
            torch.rand(2)
            made = draw()
            assert made.is_eager is is_eager
            found.append((made.detach().numpy(), torch.rand(3).tolist()))
        finally:
            ogive.configure(eager=True)
    (eager, after), (lazy, lazy_after) = found
    assert eager.dtype == lazy.dtype
    assert eager.shape == lazy.shape
    return eager, lazy, after == lazy_after


@pytest.mark.parametrize(("name", "draw"), EXACT)
def test_even_numbers_and_integers_are_the_same_bits(name: str, draw: Draw) -> None:
    eager, lazy, is_same_after = both(draw)
    assert numpy.array_equal(eager, lazy)
    assert is_same_after


@pytest.mark.parametrize(("name", "draw"), ROUNDED)
def test_normal_numbers_are_the_same_within_rounding(name: str, draw: Draw) -> None:
    eager, lazy, is_same_after = both(draw)
    numpy.testing.assert_allclose(eager, lazy, rtol=2e-5, atol=2e-6)
    assert is_same_after


@pytest.mark.parametrize("count", [1, 3, 64, 65, 100])
def test_words_made_ahead_are_those_of_each_key(count: int) -> None:
    ahead, single = Generator(5), Generator(5)
    counters = numpy.arange(count, dtype=numpy.uint64)
    for turn in range(300):
        if turn % 7 == 3:
            assert ahead.take() == single.take()
        else:
            expected = encipher_on_host(counters, single.take())
            assert numpy.array_equal(ahead.take_words(count), expected)
    assert ahead.get_state() == single.get_state()


def test_a_seed_or_a_state_begins_anew_in_the_middle_of_words_made_ahead() -> None:
    torch.manual_seed(1)
    first = [torch.rand(2).tolist() for _ in range(3)]
    state = torch.get_rng_state()
    then = torch.rand(2).tolist()
    torch.manual_seed(1)
    assert [torch.rand(2).tolist() for _ in range(3)] == first
    torch.rand(5)
    torch.set_rng_state(state)
    assert torch.rand(2).tolist() == then


def test_a_generator_of_its_own_is_drawn_from() -> None:
    generators = [torch.Generator().manual_seed(4) for _ in range(2)]
    own, other = [torch.rand(3, generator=generator) for generator in generators]
    assert own.is_eager
    assert own.tolist() == other.tolist()
    assert generators[0].get_state() == (4, 1)


def test_a_key_draws_what_it_draws_lazily() -> None:
    key = ogive.random.key(3)
    assert torch.rand(3, key=key).tolist() == ogive.rand(3, key=key).tolist()


def test_gradients_of_dropout_are_those_of_what_was_kept() -> None:
    x = torch.ones(50, requires_grad=True)
    kept = torch.nn.functional.dropout(x, 0.4)
    assert kept.is_eager
    kept.backward(torch.full((50,), 3.0))
    numpy.testing.assert_allclose(x.grad.numpy(), kept.detach().numpy() * 3, rtol=1e-6)


def test_dropout_that_settles_keeps_what_it_kept() -> None:
    x = torch.ones(50, requires_grad=True)
    kept = torch.nn.functional.dropout(x, 0.4)
    before = kept.tolist()
    kept.node  # noqa: B018  (it settles)
    assert kept.tolist() == before
    kept.sum().backward()
    assert x.grad.tolist() == before


def test_dropout_gives_zeros_for_what_is_not_finite() -> None:
    x = torch.full((50,), float("inf"))
    made = torch.nn.functional.dropout(x, 0.5).tolist()
    assert set(made) == {0.0, float("inf")}


def test_dropout_outside_of_training_is_the_tensor_itself() -> None:
    x = torch.ones(5)
    assert torch.nn.functional.dropout(x, 0.5, training=False) is x


@pytest.mark.parametrize(
    "draw",
    [lambda: torch.rand(2, dtype=torch.int64),
     lambda: torch.zeros(3).uniform_(2, 1), lambda: torch.normal(0.0, -1.0, (3,)),
     lambda: torch.ones(3).dropout(1.5)],
)  # fmt: skip
def test_what_cannot_be_drawn_is_an_error_and_takes_no_key(draw: Draw) -> None:
    torch.manual_seed(0)
    with pytest.raises(ogive.OgiveError):
        draw()
    assert torch.get_rng_state()[1] == 0
