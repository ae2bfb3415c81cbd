"""Captured functions draw new numbers at each call, those that they would draw uncaptured."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor, random
from ogive.errors import TraceError
from tests.compiler.engine.counting import Count
from tests.raising import raises

X = Tensor(numpy.ones(8, dtype=numpy.float32))
CALLS = 4


def outcomes(function: Callable[..., Any], *args: Any) -> list[Any]:
    ogive.manual_seed(7)
    results: list[Any] = []
    for _ in range(CALLS):
        made = function(*args)
        results.append([each.tolist() for each in (made if isinstance(made, tuple) else (made,))])
    results.append(random.get_rng_state())
    return results


def several(x: Tensor) -> tuple[Tensor, ...]:
    return x.dropout(0.5) + random.rand(8), random.randn(2), random.randint(9, (3,))


def with_unused(x: Tensor) -> Tensor:
    random.rand(3)
    return x + random.rand(8)


def used_twice(x: Tensor) -> Tensor:
    noise = random.rand(8)
    return x * noise - noise * noise


def in_place(x: Tensor) -> tuple[Tensor, ...]:
    y = x * 1
    y[2:5].assign(random.rand(3))
    y.uniform_()
    return y, y.normal_() + 1


def on_the_host(x: Tensor) -> tuple[Tensor, ...]:
    return random.randperm(6), random.multinomial(x, 3), random.multinomial(x, 5, True)


def own_generator(x: Tensor) -> Tensor:
    generator = random.Generator(3)
    return x + random.rand(8, generator=generator) * random.rand(8, generator=generator)


FUNCTIONS = [several, with_unused, used_twice, in_place, on_the_host, own_generator]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_calls_draw_what_they_would_draw_without_being_captured(function: Any) -> None:
    expected = outcomes(function, X)
    assert outcomes(ogive.jit(function), X) == expected
    fresh = [str(result) for result in expected[:CALLS]]
    assert len(set(fresh)) == (1 if function is own_generator else CALLS)


def test_calls_trace_and_compile_once() -> None:
    captured = ogive.jit(several)
    captured(X)
    with Count() as count:
        for _ in range(3):
            captured(X)
    assert count == {}


def test_a_key_as_argument_decides_about_the_numbers() -> None:
    def draw(key: Tensor) -> Tensor:
        first, second = random.split(key)
        return random.rand(4, key=first) + random.randn(4, key=random.fold_in(second, 3))

    captured = ogive.jit(draw)
    for seed in (1, 2, 1):
        assert captured(random.key(seed)).tolist() == draw(random.key(seed)).tolist()


def test_a_seed_between_calls_starts_the_sequence_again() -> None:
    captured = ogive.jit(with_unused)
    ogive.manual_seed(1)
    first = [captured(X).tolist() for _ in range(2)]
    ogive.manual_seed(1)
    assert [captured(X).tolist() for _ in range(2)] == first


def test_a_generator_as_argument_is_drawn_from() -> None:
    captured = ogive.jit(lambda x, generator: x + random.rand(8, generator=generator))
    for seed in (1, 2):
        given, expected = random.Generator(seed), random.Generator(seed)
        for _ in range(3):
            drawn = X + random.rand(8, generator=expected)
            assert captured(X, given).tolist() == drawn.tolist()


def test_another_generator_in_the_same_place_is_noticed() -> None:
    class Model:
        generator = random.Generator(1)

    model = Model()
    model.generator = random.Generator(1)
    captured = ogive.jit(lambda x: x + random.rand(8, generator=model.generator))
    first = [captured(X).tolist() for _ in range(2)]
    model.generator = random.Generator(1)
    assert [captured(X).tolist() for _ in range(2)] == first


def test_a_tensor_drawn_at_the_first_call_and_kept_is_the_first_draw() -> None:
    kept: dict[str, Tensor] = {}

    def lazily(x: Tensor) -> Tensor:
        if "weight" not in kept:
            kept["weight"] = random.randn(8)
        return x * kept["weight"] + random.rand(8)

    expected = outcomes(lazily, X)
    kept.clear()
    assert outcomes(ogive.jit(lazily), X) == expected


def test_a_function_that_fails_while_captured_takes_nothing() -> None:
    def fail(x: Tensor) -> float:
        return float((x + random.rand(8)).sum())

    state = random.get_rng_state()
    with pytest.raises(TraceError):
        ogive.jit(fail)(X)
    assert random.get_rng_state() == state
    assert random.rand(3).numpy().shape == (3,)


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (lambda: ogive.manual_seed(0), "seeding a generator inside a function"),
        (lambda: random.get_rng_state(), "reading the state of a generator inside"),
        (lambda: random.set_rng_state((0, 0)), "setting the state of a generator inside"),
    ],
)
def test_seeds_and_states_have_no_place_in_a_captured_function(action: Any, words: str) -> None:
    def function(x: Tensor) -> Tensor:
        action()
        return x + 1

    with raises(TraceError, match=words):
        ogive.jit(function)(X)


def test_threads_in_one_captured_function_draw_different_numbers() -> None:
    captured = ogive.jit(lambda x: x + random.rand(8))
    captured(X)
    with ThreadPoolExecutor(4) as pool:
        drawn = list(pool.map(lambda _: str(captured(X).tolist()), range(40)))
    assert len(set(drawn)) == 40


def test_a_plan_repeats_its_draw_unless_its_key_is_changed() -> None:
    key = random.key(1)
    draw = random.rand(4, key=key)
    plan = draw.prepare()
    plan.execute()
    first = draw.tolist()
    plan.execute()
    assert draw.tolist() == first == random.rand(4, key=random.key(1)).tolist()
