"""What a known function is captured as outlives the process, and is the same in the next."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.engine.caches.general_graphs import general_graphs
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.errors import DivisionByZeroError
from ogive.jit import Jitted
from tests.raising import raises


class Known:
    """A function over a weight, which somebody vouches for."""

    def __init__(self, digest: bytes | None, weight: Tensor) -> None:
        self.digest = digest
        self.weight = weight
        self.traced = 0

    def names(self) -> Mapping[int, str | None]:
        return {self.weight.id: "weight"}

    def tensors(self, names: Sequence[str]) -> list[Tensor] | None:
        return [self.weight for _ in names]

    def make_ready(self) -> None:
        self.traced += 1


@pytest.fixture(autouse=True)
def folder(own_cache: str) -> str:
    return own_cache


def in_new_process(
    function: Callable[..., Any], weight: Any, digest: bytes | None = b"f"
) -> tuple[Known, Jitted[Any, Any]]:
    """The captured function, as a process has it that knows nothing but what is on disk."""
    graph_cache.clear()
    kernel_cache.clear()
    general_graphs.clear()
    known = Known(digest, Tensor(weight).realize())
    return known, Jitted(lambda *args: function(known.weight, *args), known=known)


def multiply(weight: Tensor, *args: Any) -> list[Any]:
    return [args[0] @ weight, args[0]]


def draw(*shape: int) -> Any:
    return numpy.random.default_rng(sum(shape)).normal(size=shape).astype(numpy.float32)


def test_a_known_function_is_traced_in_the_first_process_only() -> None:
    x, weight = Tensor(draw(5, 8)), draw(8, 3)
    _, captured = in_new_process(multiply, weight)
    made = captured(x)[0].numpy()
    for factor in (1, 2):
        known, captured = in_new_process(multiply, weight * factor)
        again, given = captured(x)
        assert known.traced == 0 and given is x
        numpy.testing.assert_allclose(again.numpy(), made * factor, rtol=1e-6)
        assert captured.cache_info().traces == 1


@pytest.mark.parametrize("digest", [None, b"g"])
def test_what_is_not_the_same_function_is_traced(digest: bytes | None) -> None:
    x, weight = draw(5, 8), draw(8, 3)
    in_new_process(multiply, weight)[1](x)
    known, captured = in_new_process(multiply, weight, digest)
    captured(x)
    assert known.traced == 1


def test_another_kind_of_argument_is_traced() -> None:
    weight = draw(8, 3)
    given = [draw(5, 8), draw(6, 8), draw(5, 8).astype(numpy.float64), Tensor(draw(5, 8))]
    for x in given:
        known, captured = in_new_process(multiply, weight)
        captured(x)
        assert known.traced == 1


def test_settings_that_change_code_are_part_of_what_is_kept() -> None:
    x, weight = draw(5, 8), draw(8, 3)
    in_new_process(multiply, weight)[1](x)
    known, _ = in_new_process(multiply, weight)
    with_others = Jitted(
        lambda x: multiply(known.weight, x), known=known, config=ogive.Config(vectorize=False)
    )
    with_others(x)
    assert known.traced == 1


def test_sizes_after_a_recalled_one_compile_to_what_they_would_have_compiled_to() -> None:
    weight, made = draw(64, 32), []
    for _ in range(2):
        known, captured = in_new_process(multiply, weight)
        before = ogive.counters()["graphs_generalized"]
        made.append([captured(draw(rows, 64))[0].numpy().tobytes() for rows in (5, 9, 13)])
        assert ogive.counters()["graphs_generalized"] == before + 1
        assert known.traced == 3
    assert made[0] == made[1]


def test_threads_share_what_was_recalled() -> None:
    x, weight = draw(5, 8), draw(8, 3)
    in_new_process(multiply, weight)[1](x)
    known, captured = in_new_process(multiply, weight)
    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(captured(x)[0])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8 and known.traced == 0
    for each in made:
        numpy.testing.assert_array_equal(each.numpy(), made[0].numpy())


def test_a_function_that_writes_is_traced_in_each_process() -> None:
    def add(weight: Tensor, x: Any) -> list[Tensor]:
        weight.assign(weight + 1)
        return [weight * x]

    x, weight = draw(3), draw(3)
    for _ in range(2):
        known, captured = in_new_process(add, weight)
        captured(x)
        numpy.testing.assert_allclose(captured(x)[0].numpy(), (weight + 2) * x, rtol=1e-6)
        assert known.traced == 1


def test_a_fault_is_explained_by_the_line_of_the_function() -> None:
    def divide(weight: Tensor, x: Any) -> list[Tensor]:
        return [weight // x]

    weight, ones = numpy.full(4, 8), numpy.full(4, 1)
    in_new_process(divide, weight)[1](ones)
    known, captured = in_new_process(divide, weight)
    assert captured(ones)[0].tolist() == [8] * 4 and known.traced == 0
    with raises(DivisionByZeroError, match="by a zero element", quoting="return \\[weight // x"):
        captured(ones * 0)
    assert captured(ones * 2)[0].tolist() == [4] * 4
