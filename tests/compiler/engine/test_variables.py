"""Variables through caches and plans: one compiled form for all values, checked before it runs."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor, Variable
from ogive.compiler.ir.ops import Op
from ogive.errors import DivisionByZeroError, ExecuteError, VariableError
from tests.raising import raises

Array = NDArray[Any]
N = Variable("n", 0, 40)
ROWS = np.random.default_rng(1).standard_normal((40, 24)).astype(np.float32)


def work() -> tuple[int, int]:
    """How many graphs were scheduled and kernels compiled so far."""
    counts = ogive.counters()
    return counts["schedules_created"], counts["kernels_compiled"]


def normalized(rows: Array) -> Array:
    """Softmax of the rows, then the product of the columns."""
    weights = np.exp(rows - rows.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)
    return np.asarray(weights.T @ weights)


def test_another_value_schedules_and_compiles_nothing() -> None:
    x = Tensor(ROWS)
    counts = []
    hits = ogive.counters()["schedule_hits"]
    for value in (7, 0, 1, 33, 40):
        soft = x[: N.bind(value)].softmax(-1)
        product = (soft.T @ soft).realize()
        np.testing.assert_allclose(product.numpy(), normalized(ROWS[:value]), 1e-4, 1e-6)
        counts.append(work())
    assert len(set(counts)) == 1
    assert ogive.counters()["schedule_hits"] >= hits + 4


def test_the_order_of_terms_does_not_depend_on_values() -> None:
    x = Tensor(np.ones((4, 30), np.float32))
    a, b, c = (Variable(name, 1, 9) for name in "abc")
    counts = set()
    for values in ((1, 2, 3), (9, 2, 3), (4, 8, 1), (5, 5, 9)):
        i, j, k = (v.bind(value) for v, value in zip((a, b, c), values, strict=True))
        assert x[:, : i + j + k].sum().item() == 4 * sum(values)
        total = ogive.arange(i * j + i * k + j * k).sum().item()
        count = values[0] * values[1] + values[0] * values[2] + values[1] * values[2]
        assert total == count * (count - 1) // 2
        counts.add(work())
    assert len(counts) == 1


def test_large_symbolic_axes_are_shared_out() -> None:
    generator = np.random.default_rng(2)
    data = generator.standard_normal((3000, 200)).astype(np.float32)
    x, size = Tensor(data), Variable("n", 0, 3000)
    weights = generator.standard_normal((200, 64)).astype(np.float32)
    for value in (0, 1, 17, 2049, 3000):
        part = x[: size.bind(value)]
        np.testing.assert_array_equal((part * 2 + 1).numpy(), data[:value] * 2 + 1)
        np.testing.assert_allclose(part.sum(0).numpy(), data[:value].sum(0), 1e-4, 1e-3)
        np.testing.assert_allclose(part.sum().item(), data[:value].sum(dtype=float), 1e-3, 0.3)
        got = (part @ Tensor(weights)).relu().numpy()
        np.testing.assert_allclose(got, np.maximum(data[:value] @ weights, 0), 1e-4, 1e-4)
        np.testing.assert_array_equal(part.T.contiguous().numpy(), data[:value].T)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((100_000,), (0,)), ((3, 70_000), (1,)), ((70_000, 20), (0,)), ((5_000, 30), (0, 1))],
)
@pytest.mark.parametrize("name", ["sum", "amax"])
def test_long_symbolic_reductions_are_made_in_chunks(
    shape: tuple[int, ...], axes: tuple[int, ...], name: str
) -> None:
    array = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float64) - 20
    axis = shape.index(max(shape))
    rows = Variable("rows", 1, shape[axis])
    part = (*[slice(None)] * axis, slice(None, rows.bind(1)))
    result = getattr(Tensor(array)[part], name)(axes)
    plan = result.prepare(config=Config(verify=True))
    assert len(plan.kernels) == 2
    for value in (1, 2, shape[axis] // 2 + 1, shape[axis] - 1, shape[axis]):
        plan.execute_with_vars(rows=value)
        expected = getattr(np, name)(array.take(range(value), axis), axes)
        np.testing.assert_array_equal(result.numpy(), expected)


def test_results_are_the_same_bits_for_any_number_of_threads() -> None:
    data = np.random.default_rng(3).standard_normal((500, 300)).astype(np.float32)
    part = Tensor(data)[: Variable("n", 0, 500).bind(333)]
    one, two = [(part.T @ part).realize(Config(threads=threads)).numpy() for threads in (1, 2)]
    assert one.tobytes() == two.tobytes()


# Plans


def test_a_plan_runs_with_other_values() -> None:
    x = Tensor(ROWS)
    part = x[: N.bind(5)] * 2
    total = part.sum(0)
    plan = Tensor.prepare_batch([part, total])
    before = work()
    for value in (5, 12, 0, 40, 1):
        plan.execute_with_vars(n=value)
        assert repr(part.shape) == f"(n={value}, 24)"
        np.testing.assert_array_equal(part.numpy(), ROWS[:value] * 2)
        np.testing.assert_allclose(total.numpy(), ROWS[:value].sum(0) * 2, 1e-5, 1e-5)
    assert work() == before


def test_names_left_out_keep_their_value() -> None:
    columns = Variable("m", 1, 24)
    part = Tensor(ROWS)[: N.bind(3), : columns.bind(4)] + 1
    plan = part.prepare()
    plan.execute_with_vars(n=8)
    np.testing.assert_array_equal(part.numpy(), ROWS[:8, :4] + 1)
    plan.execute_with_vars(m=24)
    np.testing.assert_array_equal(part.numpy(), ROWS[:8] + 1)
    plan.execute_with_vars()
    np.testing.assert_array_equal(part.numpy(), ROWS[:8] + 1)
    plan.execute()
    assert repr(part.shape) == "(n=8, m=24)"


def test_a_plan_read_before_it_was_executed_has_the_values_it_was_prepared_with() -> None:
    part = Tensor(ROWS)[: N.bind(3)] + 1
    plan = part.prepare()
    np.testing.assert_array_equal(part.numpy(), ROWS[:3] + 1)
    plan.execute_with_vars(n=4)
    np.testing.assert_array_equal(part.numpy(), ROWS[:4] + 1)


def test_only_the_tensors_given_are_rebound() -> None:
    x = Tensor(ROWS)
    shared = x[: N.bind(3)] * 2
    above, given = shared + 1, shared.sum(0)
    plan = given.prepare()
    plan.execute_with_vars(n=6)
    np.testing.assert_allclose(given.numpy(), ROWS[:6].sum(0) * 2, 1e-5, 1e-6)
    assert repr(shared.shape) == repr(above.shape) == "(n=3, 24)"
    np.testing.assert_array_equal(above.numpy(), ROWS[:3] * 2 + 1)


def test_an_output_assigned_to_since_is_left_alone() -> None:
    part = Tensor(ROWS)[: N.bind(3)] + 1
    plan = part.prepare()
    plan.execute()
    part.assign(part * 0)
    plan.execute_with_vars(n=6)
    assert repr(part.shape) == "(n=3, 24)"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"m": 3}, "no variable 'm'; it has n"),
        ({"nn": 3}, r"no variable 'nn' \(did you mean 'n'\?\)"),
        ({"n": 41}, "'n' is between 0 and 40, got 41"),
        ({"n": -1}, "'n' is between 0 and 40, got -1"),
        ({"n": 2.0}, "'n' takes an integer, got 2.0"),
        ({"n": True}, "'n' takes an integer, got True"),
        ({"n": 4, "i0": 1}, "no variable 'i0'"),
    ],
)
def test_wrong_values_are_refused_before_anything_runs(values: Any, words: str) -> None:
    borrowed = ROWS.copy()
    part = Tensor.from_numpy(borrowed)[: N.bind(3)] + 1
    plan = part.prepare()
    plan.execute()
    borrowed[:] = 0
    with raises(VariableError, match=words, quoting=r"test_variables\.py"):
        plan.execute_with_vars(**values)
    assert repr(part.shape) == "(n=3, 24)"
    np.testing.assert_array_equal(part.numpy(), ROWS[:3] + 1)
    plan.execute_with_vars(n=np.int64(4))  # type: ignore[arg-type]
    np.testing.assert_array_equal(part.numpy(), np.ones((4, 24)))


def test_a_plan_without_variables_says_so() -> None:
    plan = (Tensor(ROWS) + 1).prepare()
    with raises(VariableError, match="no variable 'n'; it has none"):
        plan.execute_with_vars(n=3)


def test_a_released_plan_is_not_executed() -> None:
    part = Tensor(ROWS)[: N.bind(3)] + 1
    plan = part.prepare()
    plan.execute()
    plan.release()
    with raises(ExecuteError, match="released"):
        plan.execute_with_vars(n=4)
    np.testing.assert_array_equal(part.numpy(), ROWS[:3] + 1)


def test_a_variable_may_have_any_name() -> None:
    part = Tensor(ROWS)[: Variable("self", 0, 9).bind(3)] + 1
    plan = part.prepare()
    plan.execute_with_vars(self=4)
    assert len(part) == 4


def test_an_input_computed_with_another_value_is_refused() -> None:
    kept = (Tensor(ROWS)[: N.bind(3)] * 2).realize()
    result = kept + 1
    plan = result.prepare()
    with raises(VariableError, match="computed with n=3 and has no values for n=4"):
        plan.execute_with_vars(n=4)
    plan.execute_with_vars(n=3)
    np.testing.assert_array_equal(result.numpy(), ROWS[:3] * 2 + 1)


def test_plans_over_each_others_outputs_follow() -> None:
    first = Tensor(ROWS)[: N.bind(3)] * 2
    one = first.prepare()
    second = first + 1
    two = second.prepare()
    for value in (7, 2, 40):
        one.execute_with_vars(n=value)
        two.execute_with_vars(n=value)
        np.testing.assert_array_equal(second.numpy(), ROWS[:value] * 2 + 1)
    with raises(VariableError, match="computed with n=40"):
        two.execute_with_vars(n=5)


def test_a_part_of_a_known_buffer_has_values_for_everything() -> None:
    part = Tensor(ROWS)[: N.bind(3)]
    assert part.is_realized
    plan = Tensor.prepare_batch([part, part + 1])
    plan.execute_with_vars(n=9)
    np.testing.assert_array_equal(part.numpy(), ROWS[:9])


# Writing


def test_a_cache_filled_row_by_row() -> None:
    place = Variable("i", 0, 15)
    keys, values = [Tensor(np.zeros((2, 16, 8), np.float32)) for _ in range(2)]
    generator = np.random.default_rng(4)
    inputs = generator.standard_normal((16, 3, 2, 8)).astype(np.float32)
    counts = set()
    for step in range(16):
        i = place.bind(step)
        query, key, value = (Tensor(row) for row in inputs[step])
        keys[:, i] = key
        values[:, i : i + 1] = value.unsqueeze(1)
        scores = (keys[:, : i + 1] @ query.unsqueeze(-1)).squeeze(-1) / 8**0.5
        output = (scores.softmax(-1).unsqueeze(1) @ values[:, : i + 1]).squeeze(1)
        Tensor.realize_batch([output, keys, values])
        past = inputs[: step + 1]
        weights = np.exp(np.einsum("tbd,bd->bt", past[:, 1], past[-1, 0]) / 8**0.5)
        weights /= weights.sum(-1, keepdims=True)
        want = np.einsum("bt,tbd->bd", weights, past[:, 2])
        np.testing.assert_allclose(output.numpy(), want, 1e-4, 1e-5)
        if step:
            counts.add(work())
    assert len(counts) == 1
    np.testing.assert_array_equal(keys.numpy(), inputs[:, 1].transpose(1, 0, 2))
    np.testing.assert_array_equal(values.numpy(), inputs[:, 2].transpose(1, 0, 2))


def test_a_plan_that_writes_at_a_symbolic_place() -> None:
    place = Variable("i", 0, 9)
    row = np.zeros(4, np.float32)
    cache = Tensor(np.zeros((10, 4), np.float32))
    i = place.bind(0)
    cache[i] = Tensor.from_numpy(row)
    total = cache[: i + 1].sum(0)
    plan = Tensor.prepare_batch([cache, total])
    for step in range(10):
        row[:] = step + 1
        plan.execute_with_vars(i=step)
        assert total.tolist() == [(step + 1) * (step + 2) / 2] * 4
    np.testing.assert_array_equal(cache.numpy(), np.repeat(np.arange(1, 11)[:, None], 4, 1))


def test_a_store_of_a_symbolic_length_writes_nothing_else() -> None:
    for value in range(41):
        x = Tensor(ROWS)
        x[: N.bind(value)] = 0
        assert x.node.op is Op.AFTER
        want = ROWS.copy()
        want[:value] = 0
        np.testing.assert_array_equal(x.numpy(), want)


def test_only_what_is_there_can_fault() -> None:
    x = Tensor([1, 2, 0, 4, 0, 0, 0, 0, 0])
    quotients = 10 // x[: Variable("n", 0, 9).bind(2)]
    assert quotients.tolist() == [10, 5]
    quotients = 10 // x[: Variable("n", 0, 9).bind(3)]
    with raises(
        DivisionByZeroError, match="by a zero element", quoting=r"quotients = 10 // x\[: Variable"
    ):
        quotients.numpy()
    total = (10 // x[: Variable("n", 0, 9).bind(1)]).sum()
    plan = total.prepare()
    plan.execute_with_vars(n=2)
    assert total.item() == 15
    with pytest.raises(DivisionByZeroError):
        plan.execute_with_vars(n=3)
    plan.execute_with_vars(n=1)
    assert total.item() == 10


def test_threads_with_values_of_their_own() -> None:
    x = Tensor(ROWS).realize()
    wrong: list[int] = []

    def run(value: int) -> None:
        for _ in range(20):
            got = (x[: N.bind(value)] * 3).sum(0).numpy()
            if not np.allclose(got, ROWS[:value].sum(0) * 3, 1e-4, 1e-4):
                wrong.append(value)

    threads = [threading.Thread(target=run, args=(value,)) for value in (1, 7, 22, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
