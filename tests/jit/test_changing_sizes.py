"""A captured function that is called with other sizes is traced again, and not compiled again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor, nn, optim
from ogive.compiler.engine.caches.general_graphs import OFTEN
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.live import registry
from ogive.jit.jitted_function import MOST_OWN


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """Whatever tests change of the settings is changed back."""
    ogive.configure(generalize=True)
    yield
    ogive.configure(generalize=True)


def array(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def compiled_by(call: Callable[[], Any]) -> int:
    before = ogive.counters()["schedules_created"]
    call()
    return ogive.counters()["schedules_created"] - before


def test_after_the_second_size_nothing_is_compiled() -> None:
    captured = ogive.jit(lambda x: (x.cosh().softmax(-1).mean(0), x * 3))
    made = []
    for size in (5, 9, 2, 100, 31, 3, 400):
        x = array(size, 6)
        made.append(compiled_by(lambda x=x: captured(Tensor(x))))  # type: ignore[misc]
        mean, tripled = captured(Tensor(x))
        weights = np.exp(np.cosh(x.astype(float)))
        expected = (weights / weights.sum(1, keepdims=True)).mean(0)
        np.testing.assert_allclose(mean.numpy(), expected, rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(tripled.numpy(), x * np.float32(3))
    assert made[0] == 1 and sum(made) <= 2


def test_the_first_size_has_kernels_of_its_own_whatever_other_functions_did() -> None:
    def function(x: Tensor) -> Tensor:
        return x.sinh().sum(0) * 2

    for size in (4, 7):
        ogive.jit(function)(Tensor(array(size, 5)))
    assert compiled_by(lambda: ogive.jit(function)(Tensor(array(11, 5)))) == 1


def test_results_have_the_length_of_their_values_and_memory_of_their_own() -> None:
    captured = ogive.jit(lambda x: (x.tan(), (x.tan() + 1).sum(0)))
    results = {}
    for size in (5, 9, 6, 33):
        wide, _ = results[size] = captured(Tensor(array(size, 7)))
        assert registry.buffer_of(memory_leaf(wide.node)).nbytes == wide.nbytes
    for size, (wide, total) in results.items():
        expected = np.tan(array(size, 7).astype(float))
        np.testing.assert_allclose(wide.numpy(), expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(total.numpy(), (expected + 1).sum(0), rtol=1e-3, atol=1e-4)


def test_a_training_step_learns_from_batches_of_any_size_as_without_capture() -> None:
    def losses(capture: Callable[[Any], Any]) -> list[float]:
        ogive.manual_seed(0)
        model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
        optimizer = optim.Adam(model.parameters(), 0.01)

        @capture
        def step(x: Tensor, y: Tensor) -> Tensor:
            optimizer.zero_grad()
            loss = (model(x) - y).square().mean()
            loss.backward()
            optimizer.step()
            result: Tensor = loss
            return result

        sizes = (8, 5, 13, 4, 40, 7, 8, 21)
        return [
            float(step(Tensor(array(size, 6)), Tensor(array(size, 1))).item()) for size in sizes
        ]

    np.testing.assert_allclose(losses(ogive.jit), losses(lambda each: each), rtol=1e-4)


def test_a_size_that_comes_often_gets_kernels_of_its_own() -> None:
    captured = ogive.jit(lambda x: x.asinh().sum(-1))
    for size in (3, 5, 8):
        captured(Tensor(array(size, 6)))
    x = Tensor(array(8, 6))
    made = [compiled_by(lambda: captured(x)) for _ in range(OFTEN + 3)]
    assert sum(made) == 1
    np.testing.assert_allclose(captured(x).numpy(), np.arcsinh(array(8, 6)).sum(-1), rtol=1e-5)


def test_few_sizes_get_kernels_of_their_own() -> None:
    captured = ogive.jit(lambda x: x.acosh().sum(-1))
    sizes = range(2, MOST_OWN + 8)
    for size in sizes:
        captured(Tensor(array(size, 6)))

    def call_often() -> None:
        for size in sizes:
            x = Tensor(array(size, 6))
            for _ in range(OFTEN):
                captured(x)

    assert compiled_by(call_often) == MOST_OWN


def test_another_number_in_a_closure_is_data_after_the_second() -> None:
    scale = [0.5]
    captured = ogive.jit(lambda x: (x * scale[0]).atanh().sum())
    x = Tensor(array(7, 3) / 8)
    made = []
    for scale[0] in (0.5, 0.25, 0.75, 0.125, 0.3):
        made.append(compiled_by(lambda: captured(x)))
        expected = np.arctanh(array(7, 3) / 8 * np.float32(scale[0])).sum()
        np.testing.assert_allclose(captured(x).item(), expected, rtol=1e-4, atol=1e-6)
    assert sum(made[2:]) == 0


def test_memory_of_a_changing_length_that_is_written_to_has_a_graph_for_each_length() -> None:
    @ogive.jit
    def fill(x: Tensor) -> None:
        x.assign(x.exp2() + 1)

    for size in (5, 9, 4, 12):
        x = Tensor(array(size, 3))
        fill(x)
        np.testing.assert_allclose(x.numpy(), np.exp2(array(size, 3)) + 1, rtol=1e-5)


def test_donated_memory_of_a_changing_length_is_taken_over() -> None:
    captured = ogive.jit(lambda x: x.expm1() * 2, donate=["x"])
    for size in (5, 9, 4, 12):
        result = captured(Tensor(array(size, 3)))
        np.testing.assert_allclose(result.numpy(), np.expm1(array(size, 3)) * 2, rtol=1e-5)
