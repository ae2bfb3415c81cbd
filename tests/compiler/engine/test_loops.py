"""Loops that compute the same graphs over and over find them, and nobody sees a difference."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor, nn, optim
from ogive.compiler.engine.caches.general_graphs import general_graphs
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node_parts.node_table import live_uop_ids
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.live.registry import buffer_of
from tests.compiler.engine.counting import Count
from tests.jit.test_updates import run_threads
from tests.raising import raises


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    kept_graphs.clear()
    general_graphs.clear()
    yield
    kept_graphs.clear()


def test_a_loop_finds_its_graph_and_its_nodes() -> None:
    x, y = Tensor(np.full(5, 3.0)), Tensor(np.arange(5.0))
    expected = np.full(5, 3.0)
    nodes = set()
    for turn in range(12):
        x = (x * 0.5 + y).realize()
        expected = expected * 0.5 + np.arange(5.0)
        if turn > 5:
            nodes.add(x.node.id)
        np.testing.assert_array_equal(x.numpy(), expected)
    assert len(nodes) == 2


def test_results_that_somebody_has_keep_their_values() -> None:
    x = Tensor(np.ones(4))
    all_of_them, lazy = [], []
    for _ in range(12):
        x = (x * 2).realize()
        all_of_them.append(x)
        lazy.append(x + 1)
    for turn, (value, more) in enumerate(zip(all_of_them, lazy, strict=True)):
        assert value.tolist() == [2.0 ** (turn + 1)] * 4
        assert more.tolist() == [2.0 ** (turn + 1) + 1] * 4


def test_a_result_held_for_a_few_turns_keeps_its_values() -> None:
    x = Tensor(np.ones(4))
    held: list[Any] = []
    for turn in range(15):
        x = (x * 2).realize()
        held.append((turn, x if turn % 2 else x * 3))
        if len(held) > turn % 4:
            then, value = held.pop(0)
            assert value.tolist() == [2.0 ** (then + 1) * (1 if then % 2 else 3)] * 4


def test_data_given_anew_is_read_at_every_turn() -> None:
    generator = np.random.default_rng(0)
    w = Tensor(np.full((3, 2), 0.5))
    kept = []
    with Count() as count:
        for _ in range(10):
            data = generator.standard_normal((4, 3))
            x = Tensor(data)
            kept.append((x @ w, data))
            np.testing.assert_allclose((x @ w).exp().numpy(), np.exp(data @ w.numpy()), rtol=1e-12)
    for value, data in kept:
        np.testing.assert_allclose(value.numpy(), data @ w.numpy(), rtol=1e-12)
    assert count["schedules_created"] <= 1


def steps(optimizer: Any, hold: bool) -> tuple[list[float], list[Any]]:
    """The losses of a network that is trained with new data at every turn, and its weights."""
    generator = np.random.default_rng(1)
    ogive.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)).to("float64")
    chosen = optimizer(model.parameters())
    losses, held = [], []
    for _ in range(9):
        if hold:
            kept_graphs.clear()
        x = Tensor(generator.standard_normal((5, 4)))
        target = Tensor(generator.integers(0, 3, 5))
        chosen.zero_grad()
        loss = model(x).cross_entropy(target)
        loss.backward()
        chosen.step()
        losses.append(loss.item())
        held.append(loss)
    return losses, [parameter.numpy() for parameter in model.parameters()]


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda parameters: optim.SGD(parameters, lr=0.1, momentum=0.9),
        lambda parameters: optim.Adam(parameters, lr=0.1),
    ],
)
def test_training_is_the_same_to_the_bit_where_nothing_is_kept(optimizer: Any) -> None:
    losses, weights = steps(optimizer, hold=False)
    others, same = steps(optimizer, hold=True)
    assert losses == others
    for left, right in zip(weights, same, strict=True):
        np.testing.assert_array_equal(left, right)


def test_gradients_go_back_through_what_earlier_turns_have_computed() -> None:
    w = Tensor([2.0], requires_grad=True)
    losses = []
    for turn in range(8):
        loss = (w * Tensor([float(turn)])).exp().sum()
        loss.realize()
        losses.append(loss)
    total = losses[0] + losses[1] + losses[7]
    total.backward()
    expected = sum(turn * np.exp(2.0 * turn) for turn in (0, 1, 7))
    np.testing.assert_allclose(w.grad.tolist(), [expected], rtol=1e-5)  # type: ignore[union-attr]


def test_gradients_that_are_known_follow_what_is_a_leaf() -> None:
    first = Tensor([1.0, 2.0], requires_grad=True)
    second = Tensor([3.0, 4.0], requires_grad=True)
    optimizer = optim.SGD([first, second], lr=0.0)
    called: list[Tensor] = []
    for turn in range(8):
        if turn == 5:
            second.requires_grad_(False)
        if turn == 6:
            first.register_hook(called.append)
        optimizer.zero_grad()
        (first * second).sum().backward()
        optimizer.step()
        assert first.grad is not None and first.grad.tolist() == [3.0, 4.0]
        assert (second.grad is None) == (turn >= 5)
    assert len(called) == 2


def test_an_assignment_that_others_still_read_before_leaves_them_a_copy() -> None:
    w = Tensor(np.zeros(3))
    held = []
    for turn in range(9):
        if turn in (5, 7):
            held.append((turn, w * 10, w.clone()))
        w.assign(w + 1).realize()
    assert w.tolist() == [9.0] * 3
    for turn, lazy, same in held:
        assert lazy.tolist() == [turn * 10.0] * 3 and same.tolist() == [turn] * 3


def test_a_fault_in_a_graph_that_was_found_names_the_line() -> None:
    divisor = Tensor([1, 2, 4])
    number = Tensor([8, 8, 8])
    for turn in range(8):
        quotient = number // divisor
        if turn < 7:
            assert quotient.tolist() == [8, 4, 2]
            divisor.assign(divisor * 1 if turn < 6 else divisor * Tensor([1, 0, 1])).realize()
    with raises(
        ZeroDivisionError, match="by a zero element", quoting="quotient = number // divisor"
    ):
        quotient.tolist()
    assert divisor.tolist() == [1, 0, 4]


def test_threads_may_loop_side_by_side() -> None:
    shared = Tensor(np.arange(6.0))

    def loop(number: int) -> None:
        x = Tensor(np.full(6, float(number)))
        expected = np.full(6, float(number))
        for _ in range(60):
            x = (x * 0.5 + shared).realize()
            expected = expected * 0.5 + np.arange(6.0)
            np.testing.assert_array_equal(x.numpy(), expected)

    run_threads(loop, 4)


def test_a_loop_that_is_over_is_let_go() -> None:
    x = Tensor(np.ones(7))
    for _ in range(5):
        x = (x + 1).realize()
    memory = weakref.ref(buffer_of(memory_leaf(x.node)))
    del x
    gc.collect()
    assert memory() is not None
    for size in range(1, 80):
        Tensor(np.ones(8)).reshape(2, 4).sum(size % 2).clamp(size).realize()
    gc.collect()
    assert memory() is None


def test_what_is_not_computed_again_leaves_no_nodes() -> None:
    data = Tensor(np.arange(4000.0))
    for begin in range(30):
        (data[begin : begin + 100] * 2).realize()
    kept_graphs.clear()
    gc.collect()
    before = len(live_uop_ids())
    for begin in range(30, 60):
        (data[begin : begin + 100] * 2).realize()
    assert len(live_uop_ids()) <= before + 8


def test_memory_behind_a_node_that_was_assigned_to_is_lent() -> None:
    for _ in range(6):
        tensor = Tensor([1.0, 2.0])
        tensor.assign(tensor * 3)
        assert tensor.tolist() == [3.0, 6.0]
        del tensor
    tensor = Tensor([1.0, 2.0])
    np.from_dlpack(tensor)[0] = 9
    assert (tensor + 1).tolist() == [10.0, 3.0]
