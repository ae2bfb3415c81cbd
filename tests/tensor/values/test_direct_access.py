"""Views of memory are read where they are."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor
from tests.compiler.engine.counting import Count
from tests.raising import raises


def memory(*shape: int) -> Tensor:
    values = numpy.random.default_rng(3).standard_normal(shape).astype(numpy.float32)
    return Tensor(values).realize()


@pytest.mark.parametrize(
    "key", [2, (1, 3), slice(1, 4), (slice(None), 2), (slice(0, 2), slice(1, 5)), (None, 0)]
)
def test_what_a_view_of_memory_shows_is_read_without_a_kernel(key: Any) -> None:
    x = memory(5, 6)
    array = x.numpy()
    with Count() as count:
        numpy.testing.assert_array_equal(x[key].numpy(), array[key])
        numpy.testing.assert_array_equal(x.T[1:3].numpy(), array.T[1:3])
        assert [float(value) for value in x[0]] == array[0].tolist()
    assert count == {}


def test_a_view_shows_what_is_assigned_to_its_memory() -> None:
    x = memory(4)
    row = x[1:3]
    first = row.tolist()
    x[1] = 7.0
    assert first != row.tolist() and row.tolist()[0] == 7.0


def test_a_value_computed_before_an_assignment_keeps_what_it_was() -> None:
    x = memory(4)
    lazy = x[1:3] * 1
    before = x[1:3].tolist()
    x += 1
    assert lazy.tolist() == before


def test_a_view_of_what_a_plan_will_fill_executes_it() -> None:
    x = memory(3)
    y = x * 2
    y.prepare()
    assert y[1].item() == 2 * x[1].item()


def test_views_in_captured_functions_have_no_values() -> None:
    with raises(ogive.errors.TraceError, match="asks for values"):
        ogive.jit(lambda x: x * x[0].item())(memory(3))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64"])
def test_a_number_is_read_where_views_show_it(dtype: str) -> None:
    array = numpy.arange(24).reshape(2, 3, 4).astype(dtype)
    x = Tensor(array).realize()
    for i, j, k in numpy.ndindex(2, 3, 4):
        numbers = [
            x[i, j, k].item(),
            x.permute(2, 0, 1)[k, i, j].item(),
            x.reshape(6, 4)[3 * i + j, k].item(),
            x[i:, j:, k:].transpose(0, 2)[:1, 0, :1].expand(1, 1).item(),
            x[:, j, None].expand(2, 5, 4)[i, 3, k].item(),
            x.T[k].T[i, j].item(),
        ]
        assert numbers == [array[i, j, k].item()] * 6
        assert {type(number) for number in numbers} == {type(array[i, j, k].item())}


def test_positions_are_read_without_a_kernel() -> None:
    x = ogive.arange(50)
    with Count() as count:
        assert [x[i].item() for i in (0, 7, -1)] == [0, 7, 49]
        assert x.reshape(5, 10)[2, 1:4].tolist() == [21, 22, 23]
    assert count == {}
