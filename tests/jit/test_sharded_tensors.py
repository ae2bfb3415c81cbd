"""Captured functions over tensors on several devices: arguments, results, what they change."""

from __future__ import annotations

import random
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Mesh, Tensor, nn, optim
from ogive.compiler.live import registry
from ogive.errors import ArgumentError, DeviceError, GradientError
from ogive.jit.memories import leaves_of
from tests.raising import raises

TWO = ("CPU:0", "CPU:1")
STEPS = 4


def values(*shape: int, seed: int = 0) -> NDArray[numpy.float32]:
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


X, W = values(4, 6), values(6, 8, seed=1)


def memory_of(tensor: Tensor) -> list[Any]:
    return [registry.buffer_of(flat) for flat in leaves_of(tensor.node)]


def train(model: nn.Module, place: Any, captured: bool) -> tuple[list[float], Any]:
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)

    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    run = ogive.jit(step) if captured else step
    rng = numpy.random.default_rng(0)
    losses = []
    for _ in range(STEPS):
        x = Tensor(rng.standard_normal((8, 8)).astype(numpy.float32))
        losses.append(run(place(x), place(Tensor(rng.integers(0, 8, 8)))).item())
    return losses, run


def make_model() -> nn.Sequential:
    ogive.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8), nn.LayerNorm(8))


MESH = Mesh(("data", 2), ("model", 2))
WAYS: dict[str, tuple[Any, Any, Any]] = {
    "copies": (TWO, None, lambda x: x.shard(TWO, 0)),
    "parts": (TWO, {"*": 0}, lambda x: x.shard(TWO, 0)),
    "mesh": (
        MESH, {"0.*": ("model",), "2.weight": (None, "model")}, lambda x: x.shard(MESH, ("data",)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_captured_step_learns_what_the_step_itself_does(way: str) -> None:
    devices, rules, place = WAYS[way]
    expected, _ = train(make_model(), lambda x: x, captured=False)
    model = make_model().shard(devices, rules)
    losses, step = train(model, place, captured=True)
    numpy.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert step.cache_info().traces == 1


def test_arguments_and_results_lie_as_without_capture() -> None:
    x, w = Tensor(X).shard(TWO, 0), Tensor(W).shard(TWO, None)

    def both(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return x @ w, (x @ w).sum(0), x

    product, total, same = ogive.jit(both)(x, w)
    assert product.sharding == both(x, w)[0].sharding and total.sharding == both(x, w)[1].sharding
    assert same is x
    numpy.testing.assert_allclose(product.numpy(), X @ W, rtol=1e-4, atol=1e-5)
    numpy.testing.assert_allclose(total.numpy(), (X @ W).sum(0), rtol=1e-4, atol=1e-5)


def test_another_layout_is_another_kind_of_call() -> None:
    double = ogive.jit(lambda x: x * 2)
    for axis in (0, 1, None, 0):
        numpy.testing.assert_array_equal(double(Tensor(X).shard(TWO, axis)).numpy(), X * 2)
    assert double.cache_info().traces == 3


def test_a_tensor_that_is_found_in_another_layout_is_traced_again() -> None:
    w = Tensor(W).shard(TWO, 0).realize()
    double = ogive.jit(lambda: w * 2)
    double()
    w.data = Tensor(W).shard(TWO, 1)
    assert double().sharding == (w * 2).sharding


def test_updates_are_written_to_the_parts() -> None:
    w = Tensor(W).shard(TWO, 0).realize()

    @ogive.jit
    def add(x: Tensor) -> None:
        w.assign(w + x)
        x.assign(w.flip(0))

    x = Tensor(W).shard(TWO, 0).realize()
    add(x)
    before = memory_of(w), memory_of(x)
    add(x)
    assert (memory_of(w), memory_of(x)) == before
    expected, other = 2 * W, (2 * W)[::-1]
    numpy.testing.assert_allclose(w.numpy(), expected + other, rtol=1e-6)
    numpy.testing.assert_allclose(x.numpy(), (expected + other)[::-1], rtol=1e-6)


def test_whoever_read_a_part_before_keeps_what_was_there() -> None:
    w = Tensor(W).shard(TWO, 0).realize()

    @ogive.jit
    def add() -> None:
        w.assign(w + 1)

    add()
    lazy, same = w * 2, w.detach()
    add()
    numpy.testing.assert_allclose(lazy.numpy(), (W + 1) * 2, rtol=1e-6)
    numpy.testing.assert_allclose(w.numpy(), W + 2, rtol=1e-6)
    numpy.testing.assert_allclose(same.numpy(), W + 2, rtol=1e-6)


def test_the_tensor_that_was_sharded_is_not_written_to() -> None:
    given = W.copy()
    source = Tensor(given)
    w = source.shard(TWO, None)

    @ogive.jit
    def clear() -> None:
        w.assign(w * 0)

    clear()
    clear()
    numpy.testing.assert_array_equal(source.numpy(), W)
    numpy.testing.assert_array_equal(given, W)
    assert not w.numpy().any()


def test_two_tensors_on_one_memory_are_apart() -> None:
    source = Tensor(W).realize()
    one, other = source.shard(TWO, None), source.shard(TWO, None)

    @ogive.jit
    def change() -> Tensor:
        one.assign(one + 1)
        return other * 1

    for number in range(3):
        numpy.testing.assert_array_equal(change().numpy(), W)
        numpy.testing.assert_allclose(one.numpy(), W + number + 1, rtol=1e-6)


def test_the_same_tensor_twice_is_another_kind_of_call() -> None:
    add = ogive.jit(lambda x, y: x - y)
    x, y = Tensor(X).shard(TWO, 0).realize(), Tensor(X + 1).shard(TWO, 0).realize()
    assert not add(x, x).numpy().any()
    numpy.testing.assert_array_equal(add(x, y).numpy(), X - (X + 1))


def test_a_donated_tensor_is_gone() -> None:
    x = Tensor(X).shard(TWO, 0).realize()
    double = ogive.jit(lambda x: x * 2, donate=0)
    numpy.testing.assert_array_equal(double(x).numpy(), X * 2)
    with raises(ArgumentError, match="was donated to"):
        x.numpy()


def test_gradients_are_those_of_the_function_itself() -> None:
    x, w = Tensor(X).shard(TWO, 0), Tensor(W).shard(TWO, None).requires_grad_()

    @ogive.jit
    def learn(x: Tensor) -> None:
        (x @ w).square().sum().backward()

    for number in range(1, 3):
        learn(x)
        assert w.grad is not None and w.grad.sharding == w.sharding
        expected = number * 2 * X.T @ (X @ W)
        numpy.testing.assert_allclose(w.grad.numpy(), expected, rtol=1e-4, atol=1e-4)


def test_no_gradient_flows_through_a_result() -> None:
    w = Tensor(W).shard(TWO, None).requires_grad_()
    made = ogive.jit(lambda: w * 2)()
    with raises(GradientError, match=r"the result of a function captured by ogive\.jit"):
        made.sum().backward()


def test_an_empty_tensor_over_several_devices_is_refused() -> None:
    with raises(DeviceError, match="no empty tensors over several devices"):
        ogive.jit(lambda x: x * 2)(ogive.zeros(0, 3).shard(TWO, 0))


MOVES: list[Any] = [
    lambda x: x.T, lambda x: x.flip(0), lambda x: x.cumsum(0) / 8, lambda x: x - x.mean(0),
    lambda x: x @ x / 8,
]  # fmt: skip


def draw_changes(seed: int) -> list[tuple[int, int, Any, bool, int, int]]:
    rng = random.Random(seed)
    return [
        (rng.randrange(3), rng.randrange(4), rng.choice(MOVES), rng.random() < 0.5,
         rng.randrange(3), rng.randrange(2))
        for _ in range(4)
    ]  # fmt: skip


def change(changes: Any, tensors: list[Tensor], given: Tensor) -> Tensor:
    """Assignments in some order, of what reads other parts, and a result in between."""
    made = given * 1
    for target, source, move, onto, read, axis in changes:
        value = move([*tensors, made][source])
        tensors[target].assign(value + (tensors[target] if onto else 0.5))
        made = made + tensors[read].sum(axis, keepdim=True)
    return made


@pytest.mark.parametrize("seed", range(6))
def test_random_assignments_give_what_they_give_without_capture(seed: int) -> None:
    rng, changes = random.Random(seed), draw_changes(seed)
    axes = [rng.choice([0, 1, None]) for _ in range(4)]
    start = [values(8, 8, seed=number) for number in range(4)]
    plain = [Tensor(value.astype("float64")) for value in start]
    spread = [
        Tensor(value.astype("float64")).shard(TWO, axis)
        for value, axis in zip(start, axes, strict=True)
    ]
    captured = ogive.jit(lambda x: change(changes, spread[1:], x))
    for _ in range(3):
        expected = change(changes, plain[1:], plain[0])
        numpy.testing.assert_allclose(
            captured(spread[0]).numpy(), expected.numpy(), rtol=1e-9, atol=1e-9
        )
        for one, other in zip(spread, plain, strict=True):
            numpy.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-9)
