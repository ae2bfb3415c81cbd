"""Python functions as steps of a plan."""

from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.errors import (
    ArgumentError,
    ArgumentTypeError,
    DtypeError,
    ExecuteError,
    ShapeError,
)
from tests.compiler.engine.counting import Count
from tests.raising import raises

Array = NDArray[Any]


def values(*shape: int, seed: int = 0) -> Array:
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


def sort(given: Array, result: Array) -> None:
    result[...] = numpy.sort(given)


def test_a_function_is_computed_between_kernels() -> None:
    array = values(9)
    y = ogive.custom(sort, [Tensor(array) * 2], ((9,), "float32")) + 1
    plan = y.prepare()
    assert [str(step).split()[0] for step in plan.steps] == ["<launch", "<call", "<launch"]
    assert "sort" in str(plan.steps[1]) and len(plan.kernels) == 2
    plan.execute()
    numpy.testing.assert_array_equal(y.numpy(), numpy.sort(array * 2) + 1)


def test_nothing_runs_until_a_value_is_asked_for_and_once_then() -> None:
    calls: list[int] = []

    def count(given: Array, result: Array) -> None:
        calls.append(1)
        result[...] = given + len(calls)

    y = ogive.custom(count, [Tensor([1.0])], ((1,), "float32"))
    assert not calls
    a, b = y * 2, y * 3
    Tensor.realize_batch([y, a, b])
    assert (len(calls), y.item(), a.item(), b.item()) == (1, 2.0, 4.0, 6.0)


def test_two_calls_of_one_function_are_two() -> None:
    calls: list[int] = []

    def count(result: Array) -> None:
        calls.append(1)
        result[...] = len(calls)

    a = ogive.custom(count, [], ((), "int64"))
    b = ogive.custom(count, [], ((), "int64"))
    Tensor.realize_batch([a, b])
    assert sorted([a.item(), b.item()]) == [1, 2]


def test_several_outputs_come_from_one_call() -> None:
    calls: list[int] = []

    def divide(left: Array, right: Array, quotient: Array, remainder: Array) -> None:
        calls.append(1)
        numpy.divmod(left, right, quotient, remainder)

    left, right = Tensor([7, 8, 9]), Tensor([2, 3, 4])
    parts = ogive.custom(divide, [left, right], [((3,), "int64"), ((3,), "int64")])
    quotient, remainder = parts
    again = quotient * right + remainder
    assert again.tolist() == [7, 8, 9]
    assert len(calls) == 1
    assert (remainder + 0).tolist() == [1, 2, 1]


def test_inputs_are_read_only_and_outputs_fresh() -> None:
    kept: list[Array] = []
    seen: list[Any] = []

    def look(given: Array, result: Array) -> None:
        seen.append((given.flags.writeable, given.shape, given.dtype, result.tolist()))
        with raises(ValueError, match="read-only"):
            given[0] = 1
        kept.extend([given, result])
        result[...] = 5

    x = Tensor(values(2, 3)).T
    y = ogive.custom(look, [x], ((2,), "int32"))
    plan = y.prepare()
    for _ in range(2):
        plan.execute()
    assert seen == [(False, (3, 2), numpy.float32, [0, 0])] * 2
    del plan
    assert y.tolist() == [5, 5]
    del x, y
    assert kept[0].tolist() == values(2, 3).T.tolist()  # its own to keep


def test_inputs_of_every_kind() -> None:
    def copy(given: Array, result: Array) -> None:
        result[...] = given

    array = values(4, 3)
    x = Tensor(array)
    realized = (x + 1).realize()
    first = ogive.custom(copy, [x], ((4, 3), "float32"))
    for given in (
        x, x.T, x[1:3], x + 1, realized, first, first.reshape(12), Tensor(3.0), ogive.ones((2, 2)),
        ogive.arange(5), x[2:2], x.sum(), x.detach(), x.reshape(2, 6), Tensor.from_numpy(array),
    ):  # fmt: skip
        made = ogive.custom(copy, [given], (given.shape, given.dtype))
        numpy.testing.assert_array_equal((made * 1).numpy(), given.numpy())


@pytest.mark.parametrize("order", [0, 1])
def test_a_call_reads_the_version_it_was_given(order: int) -> None:
    def copy(given: Array, result: Array) -> None:
        result[...] = given

    x = Tensor([1.0, 2.0]).realize()
    before = ogive.custom(copy, [x], ((2,), "float32"))
    x.assign(x + 10)
    after = ogive.custom(copy, [x], ((2,), "float32"))
    both = before + after
    tensors = [before, after, both, x]
    Tensor.realize_batch(tensors if order else tensors[::-1])
    assert before.tolist() == [1.0, 2.0]
    assert after.tolist() == x.tolist() == [11.0, 12.0]
    assert both.tolist() == [12.0, 14.0]


def test_what_a_function_computes_may_be_assigned() -> None:
    x = Tensor([3.0, 1.0, 2.0]).realize()
    x.assign(ogive.custom(sort, [x], ((3,), "float32")))
    x[1:] = ogive.custom(sort, [x[:2] * -1], ((2,), "float32"))
    assert x.tolist() == [1.0, -2.0, -1.0]


def test_an_error_names_the_function_and_the_line_and_the_plan_stays_usable() -> None:
    healthy = [False]

    def moody(given: Array, result: Array) -> None:
        if not healthy[0]:
            raise KeyError("not today")
        result[...] = given

    x = Tensor([1.0, 2.0])
    y = ogive.custom(moody, [x + 1], ((2,), "float32"), name="mood") * 2  # here
    plan = y.prepare()
    for _ in range(2):
        with raises(ExecuteError, "'mood' raised KeyError: 'not today'", "# here") as caught:
            plan.execute()
        assert isinstance(caught.value.__cause__, KeyError)
    healthy[0] = True
    plan.execute()
    assert y.tolist() == [4.0, 6.0]


def test_a_failed_realization_leaves_tensors_as_they_were() -> None:
    fails = [True]

    def moody(given: Array, result: Array) -> None:
        if fails.pop():
            raise ValueError("once")
        result[...] = given

    x = Tensor([1.0, 2.0]).realize()
    x.assign(x + 1)
    y = ogive.custom(moody, [x], ((2,), "float32"))
    with raises(ExecuteError, match="once"):
        y.realize()
    fails.append(False)
    assert (x.tolist(), y.tolist()) == ([2.0, 3.0], [2.0, 3.0])


def test_a_function_that_returns_something_is_told() -> None:
    def sorted_copy(given: Array, result: Array) -> Any:
        return numpy.sort(given)

    y = ogive.custom(sorted_copy, [Tensor([1.0])], ((1,), "float32"))
    with raises(ExecuteError, match="returned ndarray"):
        y.realize()


def test_bad_arguments_are_told_at_once() -> None:
    x = Tensor([1.0])
    with raises(ArgumentTypeError, match="function"):
        ogive.custom(3, [x], ((1,), "float32"))  # type: ignore[arg-type]
    with raises(ArgumentTypeError, match="list of tensors"):
        ogive.custom(sort, x, ((1,), "float32"))  # type: ignore[arg-type]
    with raises(ArgumentTypeError, match="list of tensors"):
        ogive.custom(sort, [1.0], ((1,), "float32"))  # type: ignore[list-item]
    with raises(ArgumentTypeError, match="shape and dtype"):
        ogive.custom(sort, [x], (1,))
    with raises(ArgumentError, match="at least one output"):
        ogive.custom(sort, [x], [])
    with pytest.raises(DtypeError):
        ogive.custom(sort, [x], ((1,), "float33"))
    with raises(ShapeError, match="negative"):
        ogive.custom(sort, [x], ((-1,), "float32"))


def test_other_functions_of_the_same_form_hit_the_cache() -> None:
    def apply(function: Any) -> Any:
        given = Tensor([1.0, 4.0, 9.0]) + 0.5
        made = ogive.custom(
            lambda x, y: numpy.copyto(y, function(x)), [given], ((3,), "float32"), name="apply"
        )
        return (made * 7.5).tolist()

    apply(numpy.sqrt)
    with Count() as counts:
        found = apply(numpy.negative)
    assert found == [-11.25, -33.75, -71.25]
    assert counts == {"schedule_hits": 1}


def test_planner_modes_agree() -> None:
    array = values(40, 30)
    results = []
    for planner in ("arena", "remap", "disabled"):
        x = Tensor(array)
        a = x.exp().contiguous()
        b = ogive.custom(sort, [a], ((40, 30), "float32"))
        c = ogive.custom(sort, [(b.T + a.T).contiguous()], ((30, 40), "float32"))
        d = (c.sum() + b).contiguous() * a
        results.append(d.realize(Config(planner=planner)).numpy())
    for result in results[1:]:
        assert result.tobytes() == results[0].tobytes()


def test_a_function_may_use_tensors_itself() -> None:
    def nested(given: Array, result: Array) -> None:
        result[...] = (Tensor(given) * 2 + 1).numpy()

    y = ogive.custom(nested, [Tensor([1.0, 2.0]) * 2], ((2,), "float32")) * 2
    assert y.tolist() == [10.0, 18.0]


def test_a_jitted_function_may_call_one() -> None:
    @ogive.jit
    def ranked(x: Tensor) -> Tensor:
        made: Tensor = ogive.custom(sort, [x * 2], ((4,), "float32"))
        return made + x

    for seed in range(3):
        array = values(4, seed=seed)
        expected = numpy.sort(array * 2) + array
        numpy.testing.assert_array_equal(ranked(Tensor(array)).numpy(), expected)


def test_threads_call_at_the_same_time() -> None:
    failures: list[object] = []

    def work(seed: int) -> None:
        array = values(50, seed=seed)
        for _ in range(20):
            found = (ogive.custom(sort, [Tensor(array)], ((50,), "float32")) * 2).numpy()
            if not numpy.array_equal(found, numpy.sort(array) * 2):
                failures.append(found)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_function_that_resizes_its_output_is_an_error_with_the_line_that_asked() -> None:
    def resize(given: Array, result: Array) -> None:
        result.resize((5,), refcheck=False)

    y = ogive.custom(resize, [Tensor([1.0, 2.0])], ((2,), "float32"))  # this line
    with raises(ExecuteError, match="'resize' made its output 0", quoting="this line"):
        y.numpy()


def normalize_rows(rows: Array, sums: Array, scaled: Array) -> None:
    assert rows.flags.c_contiguous and scaled.flags.c_contiguous
    sums[...] = rows.sum(1)
    scaled[...] = rows / sums[:, None]


def test_a_function_of_symbolic_shapes_gets_arrays_of_the_lengths_that_are_bound() -> None:
    array, n = abs(values(8, 4)), ogive.Variable("n", 1, 8)
    for count in (3, 8, 1):
        rows = (Tensor(array) * 2)[: n.bind(count)]
        outputs = [((rows.shape[0],), "float32"), (rows.shape, "float32")]
        sums, scaled = ogive.custom(normalize_rows, [rows], outputs)
        assert str(scaled.shape) == f"(n={count}, 4)"
        part = 2 * array[:count]
        numpy.testing.assert_allclose(sums.numpy(), part.sum(1), rtol=1e-6)
        numpy.testing.assert_allclose((scaled + 1).numpy(), part / part.sum(1)[:, None] + 1, 1e-6)


def test_a_plan_calls_a_function_with_other_lengths() -> None:
    array, n = values(8, 2), ogive.Variable("n", 0, 8)
    columns = Tensor(array).T[:, : n.bind(2)]
    y = ogive.custom(sort, [columns], (columns.shape, "float32"))
    plan = y.prepare()
    for count in (2, 5, 8, 0):
        plan.execute_with_vars(n=count)
        numpy.testing.assert_array_equal(y.numpy(), numpy.sort(array.T[:, :count]))


def test_a_captured_function_calls_one_of_symbolic_complex_shape() -> None:
    def conjugate(given: Array, result: Array) -> None:
        result[...] = given.conj()

    array = (values(6) + 1j * values(6, seed=1)).astype(numpy.complex64)
    n = ogive.Variable("n", 1, 6)
    flip = ogive.jit(lambda x: ogive.custom(conjugate, [x], (x.shape, "complex64")) * 2)
    for count in (2, 5):
        found = flip(Tensor(array)[: n.bind(count)])
        numpy.testing.assert_allclose(found.numpy(), 2 * array[:count].conj(), rtol=1e-6)


def in_a_thread(work: Any) -> None:
    """Do something in another thread, and wait for it."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive(), "it waits for the one that waits for it"


@pytest.mark.parametrize("way", ["realize", "plan", "captured"])
def test_a_function_may_wait_for_a_thread_that_assigns(way: str) -> None:
    other = Tensor([0.0, 0.0]).realize()
    x = Tensor([1.0, 2.0]).realize()

    def wait(given: Array, result: Array) -> None:
        in_a_thread(lambda: other.assign(other + 1).realize())
        result[...] = given

    def advance(x: Tensor) -> Tensor:
        return x.assign(x + ogive.custom(wait, [x * 1], ((2,), "float32")))

    if way == "captured":
        ogive.jit(advance)(x)
    elif way == "plan":
        advance(x).prepare().execute()
    else:
        advance(x).realize()
    assert x.tolist() == [2.0, 4.0]
    assert other.tolist() == [1.0, 1.0]


def test_a_thread_that_reads_what_is_being_assigned_waits_for_the_end() -> None:
    x = Tensor([1.0, 2.0]).realize()
    seen: list[Any] = []
    readers: list[threading.Thread] = []

    def wait(given: Array, result: Array) -> None:
        for read in (x.tolist, (x * 10).tolist):
            readers.append(threading.Thread(target=lambda read=read: seen.append(read())))
            readers[-1].start()
            readers[-1].join(0.2)
        result[...] = given

    x.assign(x + ogive.custom(wait, [x * 1], ((2,), "float32")))
    x.realize()
    for reader in readers:
        reader.join(60)
    assert sorted(seen) == [[2.0, 4.0], [20.0, 40.0]]


def test_a_function_that_uses_what_its_own_run_assigns_is_told_so() -> None:
    x = Tensor([1.0, 2.0]).realize()

    def read(given: Array, result: Array) -> None:
        result[...] = x.numpy()

    x.assign(x + ogive.custom(read, [x * 1], ((2,), "float32")))
    with raises(ExecuteError, match="the run which calls it assigns to"):
        x.realize()
    assert x.tolist() == [1.0, 2.0]
