"""Keys: the same key, the same numbers; other keys, other numbers."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive
from ogive import Config, Tensor, random
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from tests.compiler.engine.counting import Count
from tests.raising import raises
from tests.random.statistics import assert_uncorrelated

FRACTION: Any = 1.5
SEVEN: Any = 7
DRAWS: dict[str, Any] = {
    "rand": lambda key: random.rand(5, 7, key=key),
    "uniform": lambda key: random.uniform(5, 7, low=-1, high=3, key=key),
    "randn": lambda key: random.randn(5, 7, key=key),
    "randn64": lambda key: random.randn(5, 7, dtype="float64", key=key),
    "normal": lambda key: random.normal(1.0, 2.0, (5, 7), key=key),
    "exponential": lambda key: random.exponential(5, 7, key=key),
    "gumbel": lambda key: random.gumbel(5, 7, key=key),
    "randint": lambda key: random.randint(1000, (5, 7), key=key),
    "bernoulli": lambda key: random.bernoulli(ogive.full((50,), 0.5), key=key),
    "randperm": lambda key: random.randperm(35, key=key),
    "multinomial": lambda key: random.multinomial(ogive.ones(5, 7), 4, key=key),
    "dropout": lambda key: ogive.ones(50).dropout(0.5, key=key),
    "uniform_": lambda key: ogive.zeros(5, 7).uniform_(key=key),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_key_gives_the_same_numbers_again_and_another_key_others(name: str) -> None:
    first, again, other = [DRAWS[name](random.key(seed)).numpy() for seed in (3, 3, 4)]
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("name", DRAWS)
def test_a_second_draw_schedules_and_compiles_nothing(name: str) -> None:
    DRAWS[name](None).realize()
    with Count() as count:
        DRAWS[name](None).realize()
    assert count["schedules_created"] == count["kernels_compiled"] == 0
    assert count["schedule_hits"] > 0


def test_numbers_do_not_depend_on_threads_or_lanes() -> None:
    def drawn(config: Config) -> Any:
        return random.randn(300, 211, key=random.key(1)).realize(config).numpy()

    expected = drawn(Config(threads=1))
    assert (drawn(Config(threads=2)) == expected).all()
    bits = [
        random.rand(10_007, key=random.key(2)).realize(Config(vectorize=lanes)).numpy()
        for lanes in (False, True)
    ]
    assert (bits[0] == bits[1]).all()


def test_a_part_of_a_draw_has_the_numbers_of_the_whole() -> None:
    whole = random.rand(6, 10, key=random.key(1)).numpy()
    assert (random.rand(6, 10, key=random.key(1))[2:5, ::3].numpy() == whole[2:5, ::3]).all()
    assert (random.rand(6, 10, key=random.key(1)).T.numpy() == whole.T).all()
    assert (random.rand(60, key=random.key(1)).numpy() == whole.ravel()).all()


def test_one_draw_read_twice_is_one_value_and_two_draws_are_two() -> None:
    draw = random.rand(100)
    assert not (draw - draw).numpy().any()
    assert (random.rand(100) - random.rand(100)).numpy().all()


def test_symbolic_lengths_take_the_first_numbers() -> None:
    length = ogive.Variable("n", 1, 10)
    part = random.rand(length.bind(3), 2, key=random.key(1)).numpy()
    assert (part == random.rand(10, 2, key=random.key(1)).numpy()[:3]).all()


def test_split_keys_differ_from_each_other_and_from_their_origin() -> None:
    key = random.key(0)
    keys = random.split(key, 1000).numpy()
    assert keys.dtype == numpy.uint64
    drawn = random.randint(1 << 64, (1000,), dtype="uint64", key=key).numpy()
    folded = random.fold_in(key, ogive.arange(1000)).numpy()
    assert len({0, *keys.tolist(), *drawn.tolist(), *folded.tolist()}) == 3001


def test_numbers_of_split_keys_are_independent() -> None:
    draws = [random.randn(20_000, key=key).numpy() for key in random.split(random.key(0), 3)]
    draws.append(random.randn(20_000, key=random.key(0)).numpy())
    draws.append(random.randn(20_000, key=random.key(1)).numpy())
    for at, left in enumerate(draws):
        for right in draws[at + 1 :]:
            assert_uncorrelated(left, right)


def test_a_key_folds_in_numbers_and_tensors_alike() -> None:
    key = random.key(5)
    one = [random.fold_in(key, at).item() for at in range(4)]
    assert random.fold_in(key, ogive.arange(4).reshape(2, 2)).flatten().tolist() == one
    assert random.fold_in(key, Tensor(2, dtype="int32")).item() == one[2]


def test_a_generator_draws_with_the_keys_that_its_seed_folds_in() -> None:
    generator = random.Generator(11)
    for at in range(3):
        key = random.fold_in(random.key(11), at)
        drawn = random.rand(4, generator=generator)
        assert drawn.tolist() == random.rand(4, key=key).tolist()


@pytest.mark.parametrize(
    ("action", "error", "words"),
    [
        (lambda: random.key(1 << 64), ArgumentError, "a seed has 64 bits"),
        (lambda: random.key(FRACTION), ArgumentTypeError, "a seed must be an integer, got 1.5"),
        (lambda: random.split(random.key(0), -1), ArgumentError, "is -1, and cannot be negative"),
        (lambda: random.fold_in(random.key(0), 1 << 62), ArgumentError, "between 0 and 2.62 - 1"),
        (lambda: random.fold_in(random.key(0), Tensor([0.5])), DtypeError, "integers, not float32"),
        (lambda: random.rand(2, key=SEVEN), ArgumentTypeError, r"made by ogive.random.key\(seed\)"),
        (lambda: random.rand(2, key=Tensor(7)), DtypeError, "tensor of uint64, not int64"),
        (
            lambda: random.rand(2, key=random.split(random.key(0))),
            ShapeError,
            r"the shape \(\), not \(2,\); index it",
        ),
        (
            lambda: random.rand(2, key=random.key(0), generator=random.Generator(0)),
            ArgumentError,
            "a key or a generator, not both",
        ),
        (
            lambda: random.rand(2, generator=SEVEN),
            ArgumentTypeError,
            "made by ogive.random.Generator",
        ),
    ],
)
def test_what_is_no_key_is_refused(action: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        action()
