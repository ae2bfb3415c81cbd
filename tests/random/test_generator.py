"""Generators: seeds, states, threads."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import ogive
from ogive import random
from ogive.errors import ArgumentError, ArgumentTypeError
from tests.new_process import output_of
from tests.raising import raises


def test_a_seed_gives_the_same_sequence_again() -> None:
    def drawn() -> list[Any]:
        ogive.manual_seed(42)
        return [ogive.rand(3).tolist(), ogive.randn(2).tolist(), ogive.randint(9, (4,)).tolist()]

    assert drawn() == drawn()
    assert random.initial_seed() == 42


def test_the_numbers_of_a_seed_never_change() -> None:
    ogive.manual_seed(0)
    drawn = (ogive.rand(4) * 2.0**24).tolist()
    assert drawn == [8953626, 8045699, 5201299, 6589151]
    assert ogive.randint(1000, (4,), key=random.key(1)).tolist() == [482, 250, 956, 299]


def test_draws_follow_one_another_past_what_is_made_ahead() -> None:
    generator = random.Generator(1)
    keys = [generator.take() for _ in range(600)]
    assert len(set(keys)) == 600
    again = random.Generator(0).set_state((1, 300))
    assert [again.take() for _ in range(300)] == keys[300:]


def test_a_state_is_where_the_sequence_goes_on() -> None:
    generator = random.Generator(3)
    random.rand(2, generator=generator).realize()
    state = generator.get_state()
    assert state == (3, 1)
    first = random.rand(5, generator=generator).tolist()
    assert random.rand(5, generator=generator.set_state(state)).tolist() == first
    assert repr(generator) == "Generator(seed=3, draws=2)"


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_a_copy_goes_on_by_itself(duplicate: Any) -> None:
    generator = random.Generator(3)
    generator.take()
    made = duplicate(generator)
    assert made is not generator
    assert [made.take(), made.take()] == [generator.take(), generator.take()]


def test_the_default_generator_has_a_state() -> None:
    state = random.get_rng_state()
    first = ogive.rand(5).tolist()
    random.set_rng_state(state)
    assert ogive.rand(5).tolist() == first


def test_a_negative_seed_is_its_64_bits() -> None:
    assert random.Generator(-1).initial_seed() == (1 << 64) - 1


def test_a_new_seed_is_from_the_system() -> None:
    generator = random.Generator()
    before = generator.initial_seed()
    assert generator.seed() == generator.initial_seed() != before


def test_processes_start_with_different_seeds() -> None:
    program = "import ogive; print(ogive.random.initial_seed())"
    seeds = {
        output_of(program)
        for _ in range(2)
    }
    assert len(seeds) == 2


def test_threads_that_share_a_generator_never_get_one_key_twice() -> None:
    generator = random.Generator(5)
    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(lambda _: [generator.take() for _ in range(500)], range(4)))
    expected = random.Generator(5)
    assert sorted([key for keys in taken for key in keys]) == sorted(
        [expected.take() for _ in range(2000)]
    )


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        (7, ArgumentTypeError, r"a state is \(seed, number of draws\), got 7"),
        ((1, -1), ArgumentError, "cannot have made -1 draws"),
        ((1 << 64, 0), ArgumentError, "a seed has 64 bits"),
    ],
)
def test_what_is_no_state_is_refused(state: Any, error: type[Exception], words: str) -> None:
    with raises(error, match=words):
        random.Generator(0).set_state(state)
