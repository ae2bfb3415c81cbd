"""`data`: values that are read and changed without gradients taking notice."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy

import ogive
from ogive import Tensor, nn
from ogive.errors import TraceError
from tests.raising import raises


def leaf() -> Tensor:
    return Tensor([1.0, 2.0], dtype="float64", requires_grad=True)


def test_data_is_what_the_tensor_is_at_any_time() -> None:
    w = leaf()
    data = w.data
    with ogive.no_grad():
        w.assign(w * 3)
    assert data.tolist() == [3.0, 6.0]
    data.add_(1)
    assert w.tolist() == data.tolist() == [4.0, 7.0]
    assert (data * 2).tolist() == [8.0, 14.0]
    assert w.is_leaf and w.requires_grad and not data.requires_grad


def test_no_gradient_flows_through_data() -> None:
    w = leaf()
    (w.data * w).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [1.0, 2.0]
    w.grad.data.zero_()
    assert w.grad.tolist() == [0.0, 0.0]


def test_parts_of_data_are_assigned_to() -> None:
    w = leaf()
    w.data[0] = 5
    w.data[w.data > 4] -= 1
    w.data /= 2
    assert w.tolist() == [2.0, 1.0]


def test_data_changed_in_place_is_still_shown_by_others() -> None:
    w = leaf()
    data, part = w.data, w.data[1:]
    w.data -= w.data * 3
    w.data[0] = 7
    assert w.tolist() == data.tolist() == [7.0, -4.0]
    w.data *= 2
    assert part.tolist() == [-8.0]


def test_data_of_another_shape_and_dtype_takes_the_place() -> None:
    w = leaf()
    w.data = Tensor([[1.0, 2.0, 3.0]])
    assert w.shape == (1, 3) and w.dtype is ogive.float32 and w.is_leaf and w.requires_grad
    (w * w).sum().backward()
    assert w.grad is not None and w.grad.tolist() == [[2.0, 4.0, 6.0]]


def test_initializers_fill_data() -> None:
    layer: Any = nn.Linear(3, 2)
    nn.init.constant_(layer.weight.data, 0.5)
    layer.bias.data.fill_(2)
    assert layer(ogive.ones(1, 3)).tolist() == [[3.5, 3.5]]


def test_captured_functions_change_and_return_data() -> None:
    w, v = leaf(), leaf()
    data = w.data

    @ogive.jit
    def change(values: Tensor, by: Tensor) -> tuple[Tensor, Tensor]:
        values.div_(by)
        w.data.add_(values)
        return values, data

    for expected in ([1.5, 3.0], [1.75, 3.5]):
        halved, found = change(v.data, Tensor(2.0, dtype="float64"))
        assert w.tolist() == found.tolist() == data.tolist() == expected
        assert v.tolist() == halved.tolist()
    assert change.cache_info().traces == 1


def test_a_captured_function_sets_data_where_there_are_no_views() -> None:
    w = leaf()

    @ogive.jit
    def change() -> None:
        w.data = w.data * 2

    change()
    change()
    assert w.tolist() == [4.0, 8.0]
    view = w.data
    with raises(TraceError, match=r"which memory a tensor .* shows"):
        change.clear()
        change()
    assert view.tolist() == w.tolist() == [4.0, 8.0]


def test_data_is_realized_copied_and_pickled_as_a_tensor() -> None:
    w = leaf()
    y = w * 2
    data = y.data
    Tensor.realize_batch([data])
    assert data.is_realized and y.requires_grad and not data.requires_grad
    for other in (copy.deepcopy(w.data), pickle.loads(pickle.dumps(w.data))):
        other += 1
        assert type(other) is Tensor and other.tolist() == [2.0, 3.0]
    assert w.tolist() == [1.0, 2.0]
    numpy.testing.assert_array_equal(numpy.asarray(w.data), [1.0, 2.0])
