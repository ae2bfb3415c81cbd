"""Updates in place, donated arguments, threads, and memory."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.ir.node_parts.node_table import live_uop_ids
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.live.registry import buffer_count, live_tensor_ids
from ogive.errors import ArgumentError
from tests.raising import raises


def test_a_training_step_equals_the_eager_one() -> None:
    generator = np.random.default_rng(0)
    data = generator.standard_normal((7, 5))
    start = generator.standard_normal((5, 3))

    def run(capture: Any) -> Any:
        w, momentum = Tensor(start), Tensor(np.zeros((5, 3)))

        def step(x: Tensor, rate: float) -> Tensor:
            error = x @ w
            gradient = x.T @ error
            momentum.assign(momentum * 0.9 + gradient)
            w.assign(w - momentum * rate)
            return (error * error).sum()

        chosen = capture(step)
        losses = [chosen(Tensor(data), 0.01).item() for _ in range(10)]
        return losses, w.numpy(), momentum.numpy()

    eager, captured = run(lambda step: step), run(ogive.jit)
    np.testing.assert_allclose(captured[0], eager[0], rtol=1e-12)
    np.testing.assert_allclose(captured[1], eager[1], rtol=1e-12)
    np.testing.assert_allclose(captured[2], eager[2], rtol=1e-12)


def test_a_view_that_goes_while_the_function_is_captured_changes_nothing() -> None:
    class Cycle:
        def __init__(self, view: Tensor) -> None:
            self.itself, self.view = self, view

    w = Tensor([1.0, 2.0]).realize()

    @ogive.jit
    def step() -> Tensor:
        doubled = w * 2
        gc.collect()  # the only other tensor that shows the memory of w
        w.assign(w + doubled)
        return w.sum()

    gc.disable()
    try:
        Cycle(w.detach())
        assert step().item() == 9
    finally:
        gc.enable()
    assert step().item() == 27
    assert w.tolist() == [9, 18]


def test_arguments_are_updated() -> None:
    @ogive.jit
    def step(state: dict[str, Tensor], x: Tensor) -> Tensor:
        state["w"].assign(state["w"] + x)
        state["w"][0] = -1
        return state["w"]

    state = {"w": Tensor([1.0, 2.0])}
    for number in range(1, 4):
        assert step(state, Tensor([1.0, 1.0])) is state["w"]
        assert state["w"].tolist() == [-1.0, 2.0 + number]
    other = {"w": Tensor([5.0, 5.0])}
    step(other, Tensor([1.0, 1.0]))
    assert other["w"].tolist() == [-1.0, 6.0]
    assert state["w"].tolist() == [-1.0, 5.0]
    assert step.cache_info().traces == 1


def test_whoever_read_an_old_version_keeps_it() -> None:
    w = Tensor([1.0, 2.0])

    @ogive.jit
    def step() -> None:
        w.assign(w * 2)

    readers = []
    for _ in range(4):
        readers.append((w + 0, w.clone().reshape(2, 1)))
        step()
    assert w.tolist() == [16.0, 32.0]
    for number, (copy, view) in enumerate(readers):
        assert copy.tolist() == [2.0**number, 2.0 ** (number + 1)]
        assert view.reshape(-1).tolist() == [2.0**number, 2.0 ** (number + 1)]
    assert step.cache_info().traces == 1


def test_a_prepared_plan_goes_on_reading_what_is_updated() -> None:
    w = Tensor([1.0])
    double = w * 2
    plan = double.prepare()

    @ogive.jit
    def step() -> None:
        w.assign(w + 1)

    for number in range(3):
        reader = w + 0
        step()
        plan.execute()
        assert double.tolist() == [2.0 * (number + 2)]
        assert reader.tolist() == [number + 1.0]


def test_captured_and_eager_updates_mix() -> None:
    w = Tensor([1.0])

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        w.assign(w + x)
        return w * 10

    expected = 1.0
    for _ in range(4):
        w.assign(w * 2)
        expected = expected * 2 + 1
        assert step(Tensor([1.0])).item() == expected * 10
        assert w.item() == expected


def test_two_tensors_swap_their_values() -> None:
    a, b = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])

    @ogive.jit
    def swap(a: Tensor, b: Tensor) -> None:
        kept = a * 1
        a.assign(b)
        b.assign(kept)

    for number in range(3):
        swap(a, b)
        expected = [[3.0, 4.0], [1.0, 2.0]][:: -1 if number % 2 else 1]
        assert [a.tolist(), b.tolist()] == expected


def test_an_update_that_reads_elsewhere_is_right() -> None:
    x = Tensor(np.arange(6, dtype=np.float32))

    @ogive.jit
    def shift(x: Tensor) -> Tensor:
        old = x * 10
        x[1:] = x[:-1]
        return old

    assert shift(x).tolist() == [0, 10, 20, 30, 40, 50]
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    assert shift(x).tolist() == [0, 0, 10, 20, 30, 40]
    assert x.tolist() == [0, 0, 0, 1, 2, 3]


def test_versions_of_an_argument_part_inside() -> None:
    def apart(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x.clone().reshape(2, 2)
        y.assign(y + 100)
        x.assign(x * 2)
        z = x.clone().reshape(2, 2)
        x.assign(x + 1)
        return y, z

    captured = ogive.jit(apart)
    for _ in range(2):
        x = Tensor([0.0, 1.0, 2.0, 3.0])
        other = Tensor([0.0, 1.0, 2.0, 3.0])
        for one, two in zip(captured(x), apart(other), strict=True):
            assert one.tolist() == two.tolist()
        assert x.tolist() == other.tolist() == [1.0, 3.0, 5.0, 7.0]


def test_borrowed_tensors_move_to_memory_of_their_own() -> None:
    array = np.zeros(2, np.float32)
    w = Tensor.from_numpy(array)

    @ogive.jit
    def step(x: Tensor) -> None:
        w.assign(w + 1)
        x.assign(x + 2)

    x = Tensor.from_numpy(array)
    for number in range(1, 4):
        step(x)
        assert w.tolist() == [number, number]
        assert x.tolist() == [2 * number, 2 * number]
    assert array.tolist() == [0, 0]
    assert step.cache_info().traces <= 3


def test_an_argument_that_is_also_found_changes_as_it_does_without_capture() -> None:
    w = Tensor([1.0])

    @ogive.jit
    def reads(x: Tensor) -> Tensor:
        return x + w

    @ogive.jit
    def writes(x: Tensor) -> Tensor:
        w.assign(w + 1)
        return x + w

    assert reads(w).tolist() == [2.0]
    assert writes(w.clone()).tolist() == [3.0]
    assert w.tolist() == [2.0]
    assert writes(w.reshape(1)).tolist() == [6.0]
    assert w.tolist() == [3.0]
    assert writes(w).tolist() == [8.0]
    assert w.tolist() == [4.0]


def test_an_argument_that_changes_and_is_also_found_is_seen_through_both_names() -> None:
    w = Tensor([1.0])

    @ogive.jit
    def writes(x: Tensor) -> Tensor:
        x.mul_(10)
        return x + w

    assert writes(Tensor([2.0])).tolist() == [21.0]
    assert writes(w).tolist() == [20.0]
    assert writes(w.detach()).tolist() == [200.0]
    assert writes(Tensor([3.0])).tolist() == [130.0]


def test_a_copy_of_a_found_tensor_keeps_the_old_values() -> None:
    w = Tensor([1.0, 2.0])

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        w.assign(w + 1)
        return x.reshape(-1) * 10 + w

    def plain(x: Tensor) -> Tensor:
        w.assign(w + 1)
        return x.reshape(-1) * 10 + w

    for function in (plain, step, step):
        w = Tensor([1.0, 2.0])
        view = w.clone().reshape(2, 1)
        assert function(view).tolist() == [12.0, 23.0]
        assert view.tolist() == [[1.0], [2.0]]
        assert w.tolist() == [2.0, 3.0]


def test_a_fault_stops_before_the_update() -> None:
    w = Tensor([6, 6])

    @ogive.jit
    def step(x: Tensor) -> None:
        w.assign(w // x)

    step(Tensor([1, 2]))
    with pytest.raises(ZeroDivisionError):
        step(Tensor([1, 0]))
    assert w.tolist() == [6, 3]
    step(Tensor([2, 1]))
    assert w.tolist() == [3, 3]


# Donation


def test_a_donated_argument_gives_its_memory_and_cannot_be_used() -> None:
    @ogive.jit(donate="x")
    def step(x: Tensor, y: Tensor) -> Tensor:
        return x * 2 + y

    x, y = step(Tensor([0.0, 0.5]), Tensor([1.0, 1.0])), Tensor([1.0, 1.0])
    for _ in range(3):
        buffers = buffer_count()
        before, x = x, step(x, y)
        assert buffer_count() <= buffers + 1
        with raises(ArgumentError, match=r"was donated to .*step.* as x, which has used up"):
            before.tolist()
        with raises(ArgumentError, match="was donated"):
            (before + 1).realize()
        with raises(ArgumentError, match="was donated"):
            step(before, y)
        assert "lazy" in repr(before)
    assert x.tolist() == [15.0, 23.0]
    assert y.tolist() == [1.0, 1.0]
    assert step.cache_info().traces == 1


def test_results_take_the_memory_of_donated_arguments() -> None:
    from ogive.tensor.creation.user_data import memory_of

    step = ogive.jit(lambda x: x * 2, donate=(0,))
    x = Tensor([1.0, 2.0])
    memory = memory_of(x.node)
    assert memory_of(step(x).node) is memory


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.T,
        lambda x: x @ x,
        lambda x: x.sum(0),
        lambda x: (x + 1, x * 2),
        lambda x: (x.T + x, x - 1),
        lambda x: x,
        lambda x: ogive.ones(3, 3),
        lambda x: x.cast("int32"),
        lambda x: None,
    ],
)
def test_donation_changes_no_result(function: Any) -> None:
    from tests.jit.test_functions import plain

    array = np.arange(9, dtype=np.float32).reshape(3, 3)
    donating = ogive.jit(function, donate=(0,))
    for _ in range(3):
        x = Tensor(array)
        reader, view = x * 3, x.reshape(-1)
        assert plain(donating(x)) == plain(function(Tensor(array)))
        np.testing.assert_array_equal(reader.numpy(), array * 3)
        np.testing.assert_array_equal(view.numpy(), array.reshape(-1))


def test_arrays_cannot_be_donated() -> None:
    with raises(ArgumentError, match=r"x of .* is a NumPy array"):
        ogive.jit(lambda x: x + 1, donate=(0,))(np.ones(2))


# Threads and memory


def test_threads_may_call_one_function() -> None:
    w = Tensor(np.eye(16, dtype=np.float32))
    function = ogive.jit(lambda x: ((x @ w).exp().log() @ w).softmax(-1) * x.max())
    inputs = [np.random.default_rng(n).random((8, 16), np.float32) + 1 for n in range(8)]
    wanted = [function(Tensor(x)).numpy() for x in inputs]
    function.clear()
    wrong: list[Any] = []

    def work(number: int) -> None:
        x = Tensor(inputs[number])
        for _ in range(100):
            if not np.array_equal(function(x).numpy(), wanted[number]):
                wrong.append(number)

    run_threads(work, 8)
    assert not wrong
    assert function.cache_info().traces == 2


def run_threads(work: Any, count: int) -> None:
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_threads_may_update_one_tensor_and_trace_at_once() -> None:
    w = Tensor([0.0])

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        w.assign(w + x.sum())
        return w * 1

    def work(number: int) -> None:
        for size in range(1, 26):
            step(Tensor(np.full(size % 5 + 1, 1.0 / (size % 5 + 1))))

    run_threads(work, 4)
    assert w.item() == 100.0
    assert step.cache_info().traces == 5


def test_other_threads_do_not_see_a_trace() -> None:
    w = Tensor([1.0])
    seen: list[Any] = []

    def look() -> None:
        seen.append(w.tolist())
        reader = w * 10
        w.assign(w + 4)
        seen.append((reader.tolist(), w.tolist()))

    @ogive.jit
    def step(x: Tensor) -> None:
        w.assign(w * x)
        if not seen:
            run_threads(lambda number: look(), 1)

    w.realize()
    step(Tensor([3.0]))
    assert seen == [[1.0], ([10.0], [5.0])]
    assert w.tolist() == [15.0]


def steady(count: int) -> tuple[int, int, int]:
    """How many tensors, nodes and buffers more there are after `count` calls of each kind."""
    w = Tensor([1.0, 2.0])
    pure = ogive.jit(lambda x: (x * 2, {"a": x.sum()}))
    reads = ogive.jit(lambda x: x + w)
    donating = ogive.jit(lambda x: x + 1, donate=(0,))

    @ogive.jit
    def update(x: Tensor) -> None:
        w.assign(w + x)

    def run(times: int) -> None:
        x = Tensor([1.0, 1.0])
        y = Tensor([1.0, 1.0])
        for number in range(times):
            pure(x)
            kept = w * 2 if number % 3 == 0 else None
            update(x)
            y = donating(reads(x))
            if number % 50 == 0:
                w.assign(Tensor([1.0, 1.0]))
        del kept, y

    run(30)
    kept_graphs.clear()  # which are few, but may be more later
    gc.collect()
    before = len(live_tensor_ids()), len(live_uop_ids()), buffer_count()
    run(count)
    kept_graphs.clear()
    gc.collect()
    after = len(live_tensor_ids()), len(live_uop_ids()), buffer_count()
    return tuple(new - old for new, old in zip(after, before, strict=True))  # type: ignore[return-value]


def test_steady_calls_leak_nothing() -> None:
    assert max(steady(500)) <= 5


@pytest.mark.soak
def test_many_steady_calls_leak_nothing() -> None:
    assert max(steady(10_000)) <= 5


def test_a_function_that_goes_takes_its_memory_along() -> None:
    def use() -> None:
        w = Tensor(np.ones(1000))
        function = ogive.jit(lambda x: (x + w).sum() + Tensor([1.0]))
        function(Tensor(np.ones(1000)))
        function(Tensor(np.ones((2, 1000))))

    use()
    gc.collect()
    before = buffer_count(), len(live_tensor_ids())
    for _ in range(3):
        use()
    gc.collect()
    assert (buffer_count(), len(live_tensor_ids())) == before


def test_tensors_that_go_take_their_traces_along() -> None:
    function = ogive.jit(lambda model, x: model.w * x)

    class Model:
        w: Tensor

    def use() -> None:
        model = Model()
        model.w = Tensor(np.ones(1000))
        function(model, Tensor(np.ones(1000)))

    for _ in range(3):
        use()
    gc.collect()
    assert function.cache_info().kept == 0


def test_memory_that_was_lent_meanwhile_is_not_written_to() -> None:
    w, x = Tensor([1.0, 2.0]).realize(), Tensor([1.0, 1.0])

    @ogive.jit
    def step(x: Tensor) -> None:
        w.assign(w + x)

    step(x)
    lent = np.from_dlpack(w)
    step(x)
    assert (lent.tolist(), w.tolist()) == ([2.0, 3.0], [3.0, 4.0])


@pytest.mark.parametrize("device", ["CPU", "CPU:1"])
def test_tensors_that_began_as_one_value_are_changed_apart(device: str) -> None:
    like = Tensor(np.ones(2, "float32"), device=device)
    first, second = ogive.zeros_like(like), ogive.zeros_like(like)

    @ogive.jit
    def step() -> Tensor:
        first.assign(first * 0.5 + 1)
        return second.assign(second + first)

    assert [step().tolist()[0] for _ in range(3)] == [1.0, 2.5, 4.25]
