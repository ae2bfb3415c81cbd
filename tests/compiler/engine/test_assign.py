"""Assignment keeps program order, whatever is realized when, and by whom."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ogive import Tensor
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.live.registry import buffer_of
from ogive.counters import counters

Array = NDArray[Any]


def numbers(count: int = 6) -> Tensor:
    return Tensor(np.arange(count, dtype=np.float32))


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_readers_keep_the_version_they_read_whatever_is_realized_first(
    order: tuple[int, ...],
) -> None:
    x = numbers(3)
    before = x * 10
    x.assign(x + 1)
    between = x * 10
    x.assign(x * 2)
    tensors = [before, between, x]
    wanted = [[0, 10, 20], [10, 20, 30], [2, 4, 6]]
    for place in order:
        assert tensors[place].tolist() == wanted[place]
    assert [tensor.tolist() for tensor in tensors] == wanted


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_part_is_written_to_also_where_its_old_value_was_asked_for(
    order: tuple[int, ...],
) -> None:
    x = numbers(6)
    part = x[2:4].clone()
    value = part + 1
    x[2:4] = value
    tensors = [part, value, x]
    wanted = [[2, 3], [3, 4], [0, 1, 3, 4, 4, 5]]
    for place in order:
        assert tensors[place].tolist() == wanted[place]
    assert [tensor.tolist() for tensor in tensors] == wanted


def test_readers_keep_their_versions_in_one_batch() -> None:
    x = numbers(3)
    before = x * 10
    x.assign(x + 1)
    between = x * 10
    x.assign(x * 2)
    Tensor.realize_batch([x, between, before])
    assert before.tolist() == [0, 10, 20]
    assert between.tolist() == [10, 20, 30]
    assert x.tolist() == [2, 4, 6]


def test_a_value_may_read_a_buffer_before_and_after_an_assignment() -> None:
    x = numbers(4)
    before = x * 10
    x.assign(x + 1)
    assert (before + x).tolist() == [1, 12, 23, 34]
    assert x.tolist() == [1, 2, 3, 4]


def test_a_part_is_overwritten_by_an_overlapping_part() -> None:
    x = numbers()
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    x = numbers()
    x[:-1] = x[1:]
    assert x.tolist() == [1, 2, 3, 4, 5, 5]
    x = numbers()
    x[:] = x.flip(0)
    assert x.tolist() == [5, 4, 3, 2, 1, 0]
    y = Tensor(np.arange(6, dtype=np.int32).reshape(2, 3))
    y[:, 1:] = y[:, :-1] + 10
    assert y.tolist() == [[0, 10, 11], [3, 13, 14]]


@pytest.mark.parametrize("size", [7, 1000, 100_000])
def test_overlap_is_right_at_any_size(size: int) -> None:
    array = np.arange(size, dtype=np.int64)
    x = Tensor(array)
    x[3:] = x[:-3] * 2
    array[3:] = array[:-3].copy() * 2
    np.testing.assert_array_equal(x.numpy(), array)


def test_a_transpose_can_be_assigned_to_its_own_tensor() -> None:
    array = np.arange(49, dtype=np.float32).reshape(7, 7)
    x = Tensor(array)
    x.assign(x.T)
    np.testing.assert_array_equal(x.numpy(), array.T)


def test_a_reduction_of_the_old_value_can_be_assigned() -> None:
    x = numbers(4)
    x.assign(x - x.sum())
    assert x.tolist() == [-6, -5, -4, -3]
    x.assign(x / x.max())
    np.testing.assert_allclose(x.numpy(), np.array([-6, -5, -4, -3]) / -3, rtol=1e-6)


@pytest.mark.parametrize("first", [0, 1])
def test_two_tensors_swap_their_values(first: int) -> None:
    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    kept = a + 0
    a.assign(b)
    b.assign(kept)
    tensors = [a, b]
    tensors[first].realize()
    assert a.tolist() == [3.0, 4.0]
    assert b.tolist() == [1.0, 2.0]


def test_two_tensors_swap_their_values_in_one_batch() -> None:
    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    kept = a + 0
    a.assign(b)
    b.assign(kept)
    Tensor.realize_batch([a, b])
    assert a.tolist() == [3.0, 4.0]
    assert b.tolist() == [1.0, 2.0]


def test_three_tensors_rotate() -> None:
    a, b, c = Tensor([1, 1]), Tensor([2, 2]), Tensor([3, 3])
    kept = a * 1
    a.assign(b)
    b.assign(c)
    c.assign(kept)
    Tensor.realize_batch([c, b, a])
    assert [a.tolist(), b.tolist(), c.tolist()] == [[2, 2], [3, 3], [1, 1]]


def test_a_long_chain_of_assignments_is_carried_out_in_order() -> None:
    x = Tensor([1, 2, 3])
    for step in range(50):
        x.assign(x * 2 if step % 2 else x + 1)
    wanted = np.array([1, 2, 3])
    for step in range(50):
        wanted = wanted * 2 if step % 2 else wanted + 1
    assert x.tolist() == wanted.tolist()


def test_parts_are_written_in_program_order() -> None:
    x = Tensor(np.zeros((4, 4), np.int32))
    x[0] = 1
    x[:, 0] = 2
    x[0, 0] = 3
    x[1:3, 1:3] = x[:2, :2]
    assert x.tolist() == [[3, 1, 1, 1], [2, 3, 1, 0], [2, 2, 0, 0], [2, 0, 0, 0]]


def test_strided_parts_are_written() -> None:
    array = np.arange(60, dtype=np.int16).reshape(6, 10)
    x = Tensor(array)
    x[::2, 1::3] = -1
    x[::-3, ::-4] = x[::-3, ::-4] * 100
    array[::2, 1::3] = -1
    array[::-3, ::-4] = array[::-3, ::-4] * 100
    np.testing.assert_array_equal(x.numpy(), array)


def test_two_tensors_made_from_one_buffer_are_assigned_apart() -> None:
    x = numbers(4)
    y = x.clone().reshape(2, 2)
    y.assign(y + 100)
    x.assign(x * 2)
    Tensor.realize_batch([x, y])
    assert x.tolist() == [0, 2, 4, 6]
    assert y.tolist() == [[100, 101], [102, 103]]


def test_two_versions_of_one_buffer_meet_in_one_value() -> None:
    x = numbers(4)
    y = x.clone().reshape(2, 2)
    z = x.clone().reshape(4, 1)
    y[0] = -1
    x[3] = 50
    z.assign(z - 1)
    total = x + y.reshape(4) + z.reshape(4)
    assert total.tolist() == [-2, 0, 5, 55]
    assert x.tolist() == [0, 1, 2, 50]
    assert y.tolist() == [[-1, -1], [2, 3]]
    assert z.reshape(4).tolist() == [-1, 0, 1, 2]


def test_a_reader_of_the_new_version_carries_out_the_assignment_once() -> None:
    x = Tensor([1, 2, 3])
    x.assign(x + 1)
    first, second = x * 10, x * 100
    assert first.tolist() == [20, 30, 40]
    assert second.tolist() == [200, 300, 400]
    assert x.tolist() == [2, 3, 4]
    assert first.tolist() == [20, 30, 40]


def test_the_memory_of_an_assigned_tensor_stays_its_own() -> None:
    x = Tensor([1.0, 2.0])
    other = Tensor([5.0, 6.0])
    x.assign(other)
    x.realize()
    x.assign(x + 1)
    assert x.tolist() == [6.0, 7.0]
    assert other.tolist() == [5.0, 6.0]


def test_borrowed_memory_is_never_written() -> None:
    array = np.zeros(4, np.float32)
    x = Tensor.from_numpy(array)
    x.assign(x + 1)
    x[1] = 7
    assert x.tolist() == [1, 7, 1, 1]
    assert array.tolist() == [0, 0, 0, 0]


def test_steady_assignments_find_their_plan() -> None:
    x = Tensor([1.0, 2.0, 3.0])
    x.assign(x + 1).realize()
    before = counters()["schedule_hits"]
    for _ in range(5):
        x.assign(x + 1).realize()
    assert counters()["schedule_hits"] == before + 5
    assert x.tolist() == [7.0, 8.0, 9.0]


# In prepared plans


def test_a_plan_with_an_assignment_steps_at_each_execution() -> None:
    x = Tensor([1, 2, 3])
    x.assign(x * 2)
    plan = x.prepare()
    for _ in range(4):
        plan.execute()
    assert x.tolist() == [16, 32, 48]


def test_a_plan_leaves_outside_readers_the_old_version() -> None:
    x = Tensor([1, 2, 3])
    before = x * 10
    x.assign(x + 1)
    plan = x.prepare()
    for _ in range(3):
        plan.execute()
    assert before.tolist() == [10, 20, 30]
    assert x.tolist() == [4, 5, 6]


def test_a_plan_leaves_outside_readers_a_version_in_between() -> None:
    x = Tensor([1, 2, 3])
    x.assign(x + 1)
    between = x * 10
    x.assign(x * 2)
    plan = x.prepare()
    for _ in range(2):
        plan.execute()
    assert between.tolist() == [20, 30, 40]
    assert x.tolist() == [10, 14, 18]


def test_a_plan_leaves_several_old_versions_to_their_readers() -> None:
    x = Tensor([1, 2, 3])
    first = x * 10
    x.assign(x + 1)
    second = x * 10
    x.assign(x * 2)
    plan = x.prepare()
    plan.execute()
    assert first.tolist() == [10, 20, 30]
    assert second.tolist() == [20, 30, 40]
    assert x.tolist() == [4, 6, 8]


@pytest.mark.parametrize("first", [False, True])
def test_a_plan_leaves_the_old_version_to_what_reads_one_of_its_results(first: bool) -> None:
    x = Tensor([1, 2, 3])
    before = x * 10
    through = before + 1
    x.assign(x + 1)
    plan = Tensor.prepare_batch([before, x] if first else [x, before])
    plan.execute()
    assert through.tolist() == [11, 21, 31]
    assert before.tolist() == [10, 20, 30]
    assert x.tolist() == [2, 3, 4]


def test_readers_of_the_new_version_see_what_the_plan_did() -> None:
    x = Tensor([1, 2, 3])
    x.assign(x + 1)
    after = x * 10
    plan = x.prepare()
    plan.execute()
    assert after.tolist() == [20, 30, 40]
    assert x.tolist() == [2, 3, 4]


def test_reading_a_prepared_assignment_executes_it_once() -> None:
    x = Tensor([1, 2, 3])
    x.assign(x + 1)
    plan = x.prepare()
    assert x.tolist() == [2, 3, 4]
    assert x.tolist() == [2, 3, 4]
    plan.execute()
    assert x.tolist() == [3, 4, 5]


def test_an_optimizer_step_updates_weights_in_place() -> None:
    generator = np.random.default_rng(0)
    weights = generator.standard_normal((5, 3))
    data = generator.standard_normal((7, 5))
    w, d = Tensor(weights), Tensor(data)
    momentum = Tensor(np.zeros((5, 3)))
    gradient = d.T @ (d @ w)
    momentum.assign(momentum * 0.9 + gradient)
    w.assign(w - momentum * 0.01)
    plan = Tensor.prepare_batch([w, momentum])
    held = np.zeros((5, 3))
    for _ in range(5):
        plan.execute()
        held = held * 0.9 + data.T @ (data @ weights)
        weights = weights - held * 0.01
    np.testing.assert_allclose(w.numpy(), weights, rtol=1e-12)
    np.testing.assert_allclose(momentum.numpy(), held, rtol=1e-12)


def test_an_assignment_of_a_value_that_simplifies_is_in_place() -> None:
    x, y = numbers(), numbers()
    memory = buffer_of(memory_leaf(x.node))
    x.assign(y * 1)
    plan = x.prepare()
    plan.execute()
    assert len(plan.kernels) == 1
    assert buffer_of(memory_leaf(x.node)) is memory
