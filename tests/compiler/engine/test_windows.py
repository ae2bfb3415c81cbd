"""Parts of a buffer that are memory as they stand are slots of their own."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor, Variable
from ogive.compiler.devices.buffer import Buffer
from ogive.errors import ArgumentError
from tests.compiler.engine.counting import Count
from tests.compiler.passes.parametric import normalize
from tests.raising import raises

Array = NDArray[Any]


@pytest.fixture
def data() -> Array:
    return numpy.random.default_rng(0).standard_normal((9, 5, 7)).astype(numpy.float32)


def test_rows_of_a_tensor_share_one_compiled_graph(data: Array) -> None:
    x = Tensor(data)
    (x[0].exp() + 1).realize()
    with Count() as counted:
        for row in range(1, len(data)):
            numpy.testing.assert_allclose(
                (x[row].exp() + 1).numpy(), numpy.exp(data[row]) + 1, rtol=1e-6
            )
    assert counted == {"schedule_hits": len(data) - 1}


def test_batches_of_a_tensor_share_one_compiled_graph(data: Array) -> None:
    x, weights = Tensor(data), Tensor(data[0].T.copy())
    (x[0:2] @ weights).realize()
    with Count() as counted:
        for start in (2, 4, 6, 7):
            numpy.testing.assert_allclose(
                (x[start : start + 2] @ weights).numpy(),
                data[start : start + 2] @ data[0].T,
                rtol=1e-4,
                atol=1e-5,
            )
    assert counted == {"schedule_hits": 4}


def test_batches_of_a_detached_tensor_share_one_compiled_graph(data: Array) -> None:
    x = Tensor(data).detach()
    (x[0:2].cos() * 3).realize()
    with Count() as counted:
        for start in (2, 4, 6, 7):
            part = (x[start : start + 2].cos() * 3).numpy()
            numpy.testing.assert_allclose(part, numpy.cos(data[start : start + 2]) * 3, rtol=1e-5)
    assert counted == {"schedule_hits": 4}


def test_a_result_never_shares_the_memory_it_was_cut_from(data: Array) -> None:
    x = Tensor(data)
    part = x[3].clone().realize()
    x += 1
    x.realize()
    numpy.testing.assert_array_equal(part.numpy(), data[3])
    part *= 0
    numpy.testing.assert_array_equal(part.numpy(), 0 * data[3])
    numpy.testing.assert_array_equal(x.numpy(), data + 1)


def slots(*tensors: Tensor) -> list[tuple[int, int]]:
    """Start and length of each slot."""
    windows = normalize(tuple([tensor.node for tensor in tensors])).windows
    return [(window.start, window.length) for window in windows]


def test_two_names_for_the_same_elements_share_a_slot(data: Array) -> None:
    x = Tensor(data)
    assert slots(x[2] + x[2].reshape(7, 5).permute(1, 0) + x[1:4][1]) == [(70, 35)]


def test_overlapping_windows_are_slots_of_their_own(data: Array) -> None:
    x = Tensor(data)
    assert slots(x[1:] - x[:-1]) == [(35, 280), (0, 280)]
    numpy.testing.assert_array_equal((x[1:] - x[:-1]).numpy(), data[1:] - data[:-1])


def test_what_is_read_whole_or_not_in_one_piece_has_one_slot(data: Array) -> None:
    x = Tensor(data)
    assert slots(x + x[2]) == [(0, 315)]
    assert slots(x[:, 2] * 2) == [(0, 315)]
    assert slots(x[:, 2] + x[0, 3]) == [(0, 315)]
    assert slots(x[4, 1:3] * 2) == [(147, 14)]


@pytest.mark.parametrize("factor", [None, 1, 2])
def test_windows_of_what_is_assigned_to_keep_program_order(data: Array, factor: Any) -> None:
    x = Tensor(data)
    # A product with 1 is the window itself, and so is what is stored to.
    before = x[2].clone() if factor is None else x[2] * factor
    x[2] = x[3] + x[2]
    after = x[2] if factor is None else x[2] * factor
    Tensor.realize_batch([after, before])
    numpy.testing.assert_array_equal(before.numpy(), (factor or 1) * data[2])
    numpy.testing.assert_array_equal(after.numpy(), (factor or 1) * (data[2] + data[3]))


def test_a_window_of_a_prepared_result_runs_its_plan(data: Array) -> None:
    y = Tensor(data) * 2
    plan = y.prepare()
    numpy.testing.assert_array_equal((y[3] + 0).numpy(), 2 * data[3])
    plan.execute()


def test_a_plan_over_a_window_reads_what_is_there_at_each_run(data: Array) -> None:
    array = data.copy()
    y = Tensor.from_numpy(array)[4].sum()
    plan = y.prepare()
    plan.execute()
    array[4] += 1
    plan.execute()
    numpy.testing.assert_allclose(y.item(), array[4].astype(numpy.float64).sum(), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["uint8", "bool", "float16", "int64", "float64"])
def test_windows_at_any_element_are_right(dtype: str) -> None:
    array = numpy.arange(301).astype(dtype)
    x = Tensor(array)
    for start in (1, 2, 3, 17):
        expected = array[start : start + 130]
        got = ogive.where(x[start : start + 130] == 0, x[start : start + 130], 1).numpy()
        numpy.testing.assert_array_equal(got, numpy.where(expected == 0, expected, 1))


def test_jitted_functions_take_windows_of_arguments(data: Array) -> None:
    jitted = ogive.jit(lambda x: x[2].exp() + x[5])
    for factor in (1.0, 2.0):
        x = Tensor(data * numpy.float32(factor))
        expected = numpy.exp(factor * data[2]) + factor * data[5]
        numpy.testing.assert_allclose(jitted(x).numpy(), expected, rtol=1e-5)


def test_a_symbolic_part_stays_symbolic(data: Array) -> None:
    x = Tensor(data)
    for length in (1, 4):
        n = Variable("n", 1, 9).bind(length)
        total = x[:n].sum() + x[2].sum()
        expected = data[:length].sum(dtype=float) + data[2].sum(dtype=float)
        numpy.testing.assert_allclose(total.item(), expected, rtol=1e-4)


def test_results_do_not_depend_on_windows(data: Array) -> None:
    config = Config(schedule_cache=False, disk_cache=False, verify=True)
    x = Tensor(data)
    got = (x[1:8].exp().sum(0) * x[3]).realize(config=config).numpy()
    whole = (Tensor(data[1:8]).exp().sum(0) * Tensor(data[3])).realize(config=config).numpy()
    assert got.tobytes() == whole.tobytes()


def test_a_view_out_of_range_is_refused() -> None:
    with raises(ArgumentError, match="not all inside a buffer of 16"):
        Buffer(16).view(8, 12)
