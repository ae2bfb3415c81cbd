"""Arrays of NumPy's and tensors share memory under `ogive.torch`, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.torch as ours
from ogive.errors import AllocateError
from ogive.tensor.eager_sizes import LARGE
from tests.raising import raises

WRITES = {
    "add_": lambda t, x: x.add_(1),
    "element": lambda t, x: x.__setitem__((0, 1), 7.0),
    "slice": lambda t, x: x.__setitem__((slice(None), 1), x[:, 0] * 3),
    "mask": lambda t, x: x.__setitem__(x > 2, 0.0),
    "positions": lambda t, x: x.__setitem__(t.tensor([1, 0]), t.arange(6.0).reshape(2, 3)),
    "view": lambda t, x: x.view(-1)[2:4].mul_(10),
    "transposed": lambda t, x: x.t()[0].fill_(4),
    "data": lambda t, x: x.data.sub_(3),
    "copy_": lambda t, x: x.copy_(t.ones(2, 3)),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_written_to_a_tensor_is_in_its_array(write: Any) -> None:
    arrays = []
    for namespace in (torch, ours):
        x = namespace.arange(6.0).reshape(2, 3) + 0
        arrays.append(x.numpy())
        write(namespace, x)
        assert numpy.array_equal(arrays[-1], x.tolist())
    assert numpy.array_equal(*arrays)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_written_to_a_tensor_is_in_the_array_it_is_from(write: Any) -> None:
    arrays: list[Any] = []
    for namespace in (torch, ours):
        array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        x = namespace.from_numpy(array)
        write(namespace, x)
        assert numpy.array_equal(array, x.tolist())
        arrays.append(array)
    assert numpy.array_equal(*arrays)


def test_what_is_written_to_an_array_is_in_the_tensor() -> None:
    array = numpy.ones(3)
    x = ours.from_numpy(array)
    numpy.add(array, 1, out=array)
    assert x.tolist() == [2, 2, 2]
    shown = x[1:].numpy()
    shown[:] = 5
    assert (x * 2).tolist() == [4, 10, 10]


def test_lazy_readers_keep_what_they_read() -> None:
    array = numpy.zeros(3)
    x = ours.from_numpy(array)
    before = x + 1
    x.add_(5)
    assert before.tolist() == [1, 1, 1] and array.tolist() == [5, 5, 5]
    y = ours.zeros(3).contiguous()
    shown, before = y.numpy(), y + 1
    y.add_(5)
    assert before.tolist() == [1, 1, 1] and shown.tolist() == [5, 5, 5]


def test_an_array_of_a_parameter_follows_its_training() -> None:
    layer = ours.nn.Linear(3, 2)
    weights = layer.weight.detach().numpy()
    optimizer = ours.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    for _ in range(4):
        optimizer.zero_grad()
        layer(ours.ones(1, 3)).sum().backward()
        before = weights.copy()
        optimizer.step()
        assert numpy.array_equal(weights, layer.weight.tolist())
        assert not numpy.array_equal(weights, before)


def test_memory_that_no_array_shows_any_more_is_its_tensors_own() -> None:
    x = ours.arange(4.0).contiguous()
    del_me = x.numpy()
    del del_me
    x[0] = 9.0
    assert x.tolist() == [9, 1, 2, 3]


def test_views_of_a_tensor_give_views_of_its_array() -> None:
    x = ours.arange(6.0).reshape(2, 3)
    whole, row, turned = x.numpy(), x[1].numpy(), x.t().numpy()
    row[0] = -1
    turned[2, 0] = -2
    assert whole.tolist() == [[0, 1, -2], [-1, 4, 5]] == x.tolist()


@pytest.mark.parametrize("size", [3, LARGE])
def test_the_address_of_a_tensor_is_that_of_its_memory(size: int) -> None:
    x = ours.zeros(2, size)
    start = x.data_ptr()
    assert x.view(-1).data_ptr() == x.detach().data_ptr() == start
    assert x[1].data_ptr() == start + 4 * size
    x.add_(1)
    assert x.data_ptr() == start
    assert x.clone().data_ptr() != start


def test_what_is_too_large_for_an_array_is_a_typed_error() -> None:
    for made in (ours.ones(1 << 62), ours.ones(1).expand(1 << 62)):
        with raises(AllocateError, match="takes a block of"):
            made.numpy()


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
def test_whole_numbers_that_were_rounded_stay_when_shared_memory_is_written_to(name: str) -> None:
    found = []
    for namespace in (torch, ours):
        x = namespace.arange(1, 5)
        view = x.reshape(4).view_as(x)
        array = x.numpy()
        x.addcmul_(view, view)
        rounded = getattr(view, name)()
        namespace.add(x, view, out=view)
        found.append((rounded.tolist(), view.tolist(), x.tolist(), array.tolist()))
    assert found[0] == found[1]
