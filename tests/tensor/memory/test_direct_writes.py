"""Memory that is there is written where it is, unless somebody could tell."""

from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.ops import Op
from ogive.errors import GradientError


def is_memory(x: Tensor) -> bool:
    return memory_leaf(x.node).op is Op.BUFFER


EVEN, BACK, ALL = slice(0, 4, 2), slice(None, None, -1), slice(None)


@pytest.mark.parametrize("index", [1, (ALL, 2), (2, 0), (ALL, EVEN), (BACK, 1), (..., 3)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "uint8"])
def test_a_part_of_memory_is_written_at_once(index: Any, dtype: str) -> None:
    array = numpy.arange(12).reshape(3, 4).astype(dtype)
    x = Tensor(array).realize()
    whole, part = x.T, x[1]
    x[index] = 1
    array[index] = 1
    assert is_memory(x)
    numpy.testing.assert_array_equal(x.numpy(), array)
    numpy.testing.assert_array_equal(whole.numpy(), array.T)
    numpy.testing.assert_array_equal(part.numpy(), array[1])


def test_a_part_of_a_constant_is_written_once_it_is_memory() -> None:
    x = ogive.zeros(3, 3)
    row = x[1]
    x[1, 2] = 5
    x[2] = Tensor([1.0, 2.0, 3.0])
    assert is_memory(x)
    assert row.tolist() == [0, 0, 5]
    assert x.tolist() == [[0, 0, 0], [0, 0, 5], [1, 2, 3]]


def test_whoever_is_lazy_keeps_what_was_there() -> None:
    x = Tensor([1.0, 2.0, 3.0]).realize()
    before, copy = x * 10, x.clone()
    x[0] = 7
    assert not is_memory(x)
    assert (before.tolist(), copy.tolist()) == ([10, 20, 30], [1, 2, 3])
    assert x.tolist() == [7, 2, 3]
    x[1] = 8
    assert is_memory(x)
    assert x.tolist() == [7, 8, 3]


def test_an_element_is_written_from_elements() -> None:
    x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
    for i in range(1, 4):
        x[i] = x[i - 1] + x[i]
    assert is_memory(x)
    assert x.tolist() == [1, 3, 6, 10]
    value = x[0] + x[1]
    x[0] = value
    x[1] = 100
    assert (value.item(), x[0].item()) == (4, 4)


def test_an_element_at_positions_in_memory_is_counted_up() -> None:
    counts = ogive.zeros(2, 3, dtype="int64")
    rows, columns = Tensor([0, 1, 1, 0, 1]), Tensor([2, 0, 0, 2, 1])
    for row, column in zip(rows, columns, strict=True):
        counts[row, column] += 1
    assert is_memory(counts)
    assert counts.tolist() == [[0, 0, 2], [2, 1, 0]]


def test_a_view_in_memory_of_its_own_shows_what_is_written() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    turned = x.T.contiguous()
    turned.realize()
    view = x.T
    view.realize()
    x[0, 1] = 9
    assert view.tolist() == [[1, 3], [9, 4]]
    assert turned.tolist() == [[1, 3], [2, 4]]


def test_writing_through_a_view_changes_the_whole() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
    column = x.T[1]
    column[0] = 7
    column += 1
    assert x.tolist() == [[1, 8], [3, 5]]


def test_gradients_are_those_of_the_values_that_were_there() -> None:
    w = Tensor([2.0, 3.0]).requires_grad_()
    x = Tensor([5.0, 7.0]).realize()
    loss = (w * x).sum()
    loss.item()
    x[0] = 100
    loss.backward()
    assert w.grad is not None and w.grad.tolist() == [5, 7]
    assert x.tolist() == [100, 7]


def test_a_leaf_is_written_under_no_grad_only() -> None:
    w = Tensor([2.0, 3.0]).requires_grad_()
    with pytest.raises(GradientError):
        w[0] = 1
    with ogive.no_grad():
        w[0] = 1
        w.assign(w.clone())
        w.assign(Tensor([4.0, 5.0]))
    (w * w).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [8, 10]


def test_what_has_a_gradient_is_not_written_as_a_mere_value() -> None:
    w = Tensor([2.0, 3.0]).requires_grad_()
    x = ogive.zeros(2)
    x[0] = w[1] * 2
    x.sum().backward()
    assert w.grad is not None and w.grad.tolist() == [0, 2]


def test_what_is_lent_or_to_be_filled_by_a_plan_is_not_written() -> None:
    array = numpy.array([1.0, 2.0])
    x = Tensor.from_numpy(array)
    x[0] = 5
    assert (x.tolist(), array.tolist()) == ([5, 2], [1, 2])
    y = Tensor([1.0, 2.0]) * 3
    plan = y.prepare()
    z = y + 0
    y[0] = 9
    assert (y.tolist(), z.tolist()) == ([9, 6], [3, 6])
    del plan


def test_a_captured_function_sees_what_is_written_between_its_calls() -> None:
    state = Tensor([1.0, 2.0]).realize()

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        state[0] = state[0] + x[0]
        return state * x

    assert step(Tensor([1.0, 1.0])).tolist() == [2, 2]
    state[1] = 10
    assert step(Tensor([1.0, 1.0])).tolist() == [3, 10]
    assert state.tolist() == [3, 10]


def test_threads_that_write_elements_lose_none() -> None:
    x = ogive.zeros(4).realize()

    def count(at: int) -> None:
        for _ in range(200):
            x[at] += 1

    threads = [threading.Thread(target=count, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.tolist() == [200] * 4


def test_positions_are_written_without_a_kernel() -> None:
    table = Tensor(numpy.zeros((3, 4), "int64"))
    before = ogive.counters()["schedule_hits"], ogive.counters()["schedules_created"]
    table[1] = ogive.arange(4)
    table[:, 0] = ogive.arange(3)
    assert table.tolist() == [[0, 0, 0, 0], [1, 1, 2, 3], [2, 0, 0, 0]]
    assert before == (ogive.counters()["schedule_hits"], ogive.counters()["schedules_created"])
