"""Realizing: what becomes memory, what stays as it is, and who notices."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

import ogive
from ogive import Config, Tensor, Variable
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node_parts.node_table import live_uop_ids
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import buffer_count
from ogive.errors import ExecuteError
from tests.compiler.engine.counting import Count
from tests.raising import raises


def grid() -> Tensor:
    return Tensor(np.arange(12, dtype=np.float32).reshape(3, 4))


def test_views_of_memory_are_copies_that_leave_it_alone() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    x = Tensor(array)
    views = [x.T, x[1:], x.flip(0), x[::2, 1:3], x.permute(1, 0)[:, ::-1], x.expand(2, 3, 4)]
    wanted = [
        array.T, array[1:], np.flip(array, 0), array[::2, 1:3], array.T[:, ::-1],
        np.broadcast_to(array, (2, 3, 4)),
    ]  # fmt: skip
    Tensor.realize_batch(views)
    for view, value in zip(views, wanted, strict=True):
        np.testing.assert_array_equal(view.numpy(), value)
    np.testing.assert_array_equal(x.numpy(), array)


def test_views_of_an_assigned_tensor_are_copies() -> None:
    x = grid()
    x.assign(x + 1)
    views = [x.T, x[1:], x.reshape(4, 3), x.flip(1)]
    Tensor.realize_batch([*views, x])
    array = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
    wanted = [array.T, array[1:], array.reshape(4, 3), np.flip(array, 1), array]
    for view, value in zip([*views, x], wanted, strict=True):
        np.testing.assert_array_equal(view.numpy(), value)


def test_detached_tensors_are_realized_in_any_shape() -> None:
    x = grid()
    assert x.detach().reshape(12).tolist() == list(range(12))
    assert x.reshape(12).detach().tolist() == list(range(12))
    lazy = x + 1
    detached = lazy.detach().reshape(12)
    lazy.realize()
    assert detached.tolist() == list(range(1, 13))
    x.assign(x * 2)
    shaped = x.detach().reshape(2, 6)
    x.realize()
    assert shaped.tolist() == (np.arange(12).reshape(2, 6) * 2).tolist()


def test_a_realized_constant_stays_a_constant_in_other_graphs() -> None:
    zero = ogive.full((), 0.0)
    x = Tensor([1.0, -3.0]) + 1
    positive = x > 0
    Tensor.realize_batch([zero, x])
    assert any(node.op is Op.CONST for node in positive.node.walk())
    assert positive.tolist() == [True, False]
    assert zero.item() == 0.0


def test_constants_are_written_out_when_realized() -> None:
    assert ogive.full((2, 3), 7).realize().is_realized
    assert ogive.arange(5).realize().tolist() == [0, 1, 2, 3, 4]
    assert Tensor(2.5).realize().item() == 2.5


def test_values_that_simplify_to_constants_are_written_out() -> None:
    counting = (ogive.arange(5) - 0).realize()
    assert counting.is_realized and counting.tolist() == [0, 1, 2, 3, 4]
    assert ((ogive.arange(6) * 1).reshape(2, 3) + 0).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (ogive.arange(3) * 0).tolist() == [0, 0, 0]
    assert (Tensor(Variable("n", 1, 5).bind(3)) + 0).item() == 3


def test_a_part_without_elements_can_be_assigned_to_a_lazy_tensor() -> None:
    x = grid() + 1
    x[1:1] = 5
    x[::2, 2:2] = Tensor(np.zeros((2, 0), np.float32))
    np.testing.assert_array_equal(x.numpy(), np.arange(12).reshape(3, 4) + 1)


def test_an_empty_batch_does_nothing_and_an_empty_plan_is_refused() -> None:
    Tensor.realize_batch([])
    with raises(ogive.errors.ArgumentError, match="at least one tensor"):
        Tensor.prepare_batch([])


def test_what_is_realized_or_empty_costs_nothing() -> None:
    x, empty = grid().realize(), grid()[:0] * 2 + 1
    Tensor.realize_batch([x, empty])
    before = buffer_count(), len(live_uop_ids())
    with Count() as count:
        for _ in range(3):
            Tensor.realize_batch([x, empty, x])
    assert count == {}
    assert (buffer_count(), len(live_uop_ids())) == before
    assert Tensor.prepare_batch([x, empty]).steps == ()


def test_the_outputs_of_a_plan_are_the_tensors_given_in_their_order() -> None:
    x = grid()
    tensors = [x.T * 2, x + 1, x.sum(0)]
    for order in ([0, 1, 2], [2, 0, 1], [1, 1, 0]):
        asked = [tensors[number] for number in order]
        plan = Tensor.prepare_batch(asked)
        assert [id(tensor) for tensor in plan.outputs] == [id(tensor) for tensor in asked]
    for tensor, wanted in zip(tensors, (x.T * 2, x + 1, x.sum(0)), strict=True):
        assert memory_leaf(tensor.node).op is Op.BUFFER
        np.testing.assert_array_equal(tensor.numpy(), wanted.numpy())


def test_the_outputs_of_a_released_plan_remain() -> None:
    y = grid() * 3
    plan = y.prepare()
    plan.execute()
    plan.release()
    np.testing.assert_array_equal(y.numpy(), grid().numpy() * 3)
    with raises(ExecuteError, match="released"):
        plan.execute()


def test_one_tensor_may_be_asked_for_twice() -> None:
    x = grid() * 2
    Tensor.realize_batch([x, x, x])
    plan = Tensor.prepare_batch([x, x])
    plan.execute()
    assert x.tolist() == (np.arange(12).reshape(3, 4) * 2).tolist()


def test_realizing_a_part_of_a_graph_lets_the_rest_use_it() -> None:
    x = grid()
    middle = (x + 1).exp()
    top = middle.sum(-1)
    middle.realize()
    assert not any(node.op is Op.EXP for node in top.node.walk())
    np.testing.assert_allclose(top.numpy(), np.exp(x.numpy() + 1).sum(-1), rtol=1e-6)


def test_a_plan_rebinds_only_the_tensors_it_was_prepared_for() -> None:
    x = grid()
    middle = x + 1
    top = middle * 2
    plan = top.prepare()
    assert not middle.is_realized
    plan.execute()
    np.testing.assert_array_equal(top.numpy(), (x.numpy() + 1) * 2)
    np.testing.assert_array_equal(middle.numpy(), x.numpy() + 1)


def test_a_plan_reads_borrowed_memory_anew_at_each_execution() -> None:
    array = np.zeros(4, np.float32)
    result = Tensor.from_numpy(array) + 1
    plan = result.prepare()
    for value in range(3):
        array[:] = value
        plan.execute()
        assert result.tolist() == [value + 1] * 4


def test_results_with_and_without_the_schedule_cache_are_equal_bit_by_bit() -> None:
    array = np.random.default_rng(0).standard_normal((37, 41)).astype(np.float32)
    builds: tuple[Callable[[Tensor], Tensor], ...] = (
        lambda x: x.softmax(-1), lambda x: x @ x.T, lambda x: x.sum(), lambda x: x.std(0),
    )
    for build in builds:
        first = build(Tensor(array)).numpy()
        again = build(Tensor(array)).realize(Config(schedule_cache=False)).numpy()
        np.testing.assert_array_equal(first, again)


def test_readers_never_see_a_half_written_version() -> None:
    x = Tensor(np.zeros(500_000, np.int64))
    stop = threading.Event()
    problems: list[str] = []

    def read() -> None:
        try:
            while not stop.is_set():
                values = (x + 0).numpy()
                if values.min() != values.max():
                    problems.append("torn")
        except Exception as error:
            problems.append(repr(error))

    def write() -> None:
        while not stop.is_set():
            x.assign(x + 1).realize()

    threads = [threading.Thread(target=target) for target in (read, read, write)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    stop.set()
    for thread in threads:
        thread.join()
    assert not problems, problems[0]


def test_threads_may_realize_parts_of_one_graph() -> None:
    for _ in range(10):
        x = Tensor(np.arange(1000, dtype=np.float64))
        values = [x]
        for _ in range(8):
            values.append(values[-1] * 1.5 + 1)
        threads = [threading.Thread(target=value.realize) for value in reversed(values)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        wanted = np.arange(1000, dtype=np.float64)
        for value in values:
            np.testing.assert_allclose(value.numpy(), wanted, rtol=1e-14)
            wanted = wanted * 1.5 + 1
