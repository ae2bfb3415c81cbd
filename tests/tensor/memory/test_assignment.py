"""Assignment makes a new version: readers of the old one keep it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.ir.ops import Op
from ogive.errors import ArgumentTypeError, ShapeError
from tests.raising import raises
from tests.tensor.interpreter import WAYS

Read = Callable[[Tensor], Any]


@pytest.fixture(params=WAYS)
def read(request: pytest.FixtureRequest) -> Read:
    """A tensor's values, by the interpreter and by the engine."""
    return WAYS[request.param]


def test_assign_stores_into_the_buffer(read: Read) -> None:
    x = Tensor([1, 2, 3])
    old = x.node
    assert x.assign(x + 1) is x
    assert x.node.op is Op.AFTER
    value, store = x.node.src
    assert value is old and store.op is Op.ASSIGN and store.src[0] is old
    assert read(x).tolist() == [2, 3, 4]


def test_readers_of_the_old_value_keep_it(read: Read) -> None:
    x = Tensor([1, 2, 3])
    before = x * 10
    x.assign(0)
    x[1] = 7
    assert read(before).tolist() == [10, 20, 30]
    assert read(x).tolist() == [0, 7, 0]
    assert read(x * 10).tolist() == [0, 70, 0]


def test_assignment_broadcasts_and_casts(read: Read) -> None:
    x = Tensor(np.zeros((2, 3), np.int32))
    x.assign(Tensor([1.5, 2.5, 3.5]))
    assert x.dtype is ogive.int32
    assert read(x).tolist() == [[1, 2, 3]] * 2
    x[:, 0] = 9.9
    assert read(x).tolist() == [[9, 2, 3]] * 2


def test_overlapping_parts_read_the_old_values(read: Read) -> None:
    x = Tensor(np.arange(6))
    x[1:] = x[:-1]
    assert read(x).tolist() == [0, 0, 1, 2, 3, 4]


def test_a_lazy_tensor_just_takes_the_new_value(read: Read) -> None:
    x = Tensor([1.0, 2.0]).exp()
    value = Tensor([5.0, 6.0])
    x.assign(value)
    assert x.node is value.node
    zeros = ogive.zeros(4)
    zeros[1::2] = 1
    assert Op.ASSIGN not in {node.op for node in zeros.node.walk()}
    assert read(zeros).tolist() == [0, 1, 0, 1]


def test_borrowed_memory_is_never_a_target(read: Read) -> None:
    array = np.arange(4)
    x = Tensor.from_numpy(array)
    x[0] = 9
    y = Tensor.from_numpy(array).assign(5)
    for tensor in (x, y):
        assert Op.ASSIGN not in {node.op for node in tensor.node.walk()}
    assert read(x).tolist() == [9, 1, 2, 3]
    assert array.tolist() == [0, 1, 2, 3]


def test_a_view_writes_through_and_a_clone_does_not(read: Read) -> None:
    x = Tensor([1, 2, 3])
    part, copy = x[:2], x.clone()
    part[0] = 9
    copy[1] = 8
    assert read(x).tolist() == [9, 2, 3]
    assert read(part).tolist() == [9, 2]
    assert read(copy).tolist() == [1, 8, 3]


def test_many_assignments_cost_the_same_each(read: Read) -> None:
    x = Tensor(np.zeros(50))
    for position in range(50):
        x[position] = position
    assert read(x).tolist() == list(range(50))


def test_a_value_that_does_not_fit_changes_nothing() -> None:
    x = Tensor([1, 2, 3])
    before = x.node
    with raises(ShapeError, match=r"shape \(2,\) does not broadcast to \(3,\)"):
        x.assign(Tensor([1, 2]))
    with raises(ArgumentTypeError, match="assign takes tensors, numbers and NumPy arrays"):
        x.assign("text")
    assert x.node is before


def test_augmented_operators_write_to_the_tensor_itself(read: Read) -> None:
    x = Tensor([1, 2])
    same, before = x, x * 10
    x += 1
    assert read(same).tolist() == [2, 3]
    assert read(before).tolist() == [10, 20]
