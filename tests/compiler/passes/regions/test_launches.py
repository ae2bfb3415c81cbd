"""Kernels that serve several launches: for other lengths (`flatten`) and positions (`reroll`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.engine.steps.compiled_graph import Launch
from ogive.errors import IndexRangeError, VariableError
from tests.compiler.engine.counting import Count
from tests.raising import raises

MEMORY_ONLY = Config(disk_cache=False, generalize=False)


def data(*shape: int) -> Any:
    return numpy.random.default_rng(sum(shape)).normal(size=shape).astype(numpy.float32)


def launches(tensor: Tensor) -> list[Launch]:
    plan = tensor.prepare(config=MEMORY_ONLY)
    return [step for step in plan.steps if isinstance(step, Launch)]


def test_elementwise_work_is_compiled_once_for_all_shapes() -> None:
    shapes = [(3, 4), (7,), (100, 33), (2, 2, 2), (65536,)]
    with Count() as count:
        for shape in shapes:
            x, y = data(*shape), data(*shape, 1)[..., 0]
            made = (Tensor(x) * 0.3371 + Tensor(y)).realize(config=MEMORY_ONLY)
            numpy.testing.assert_allclose(made.numpy(), x * 0.3371 + y, rtol=1e-5)
    assert count["kernels_compiled"] == 1
    assert count["schedules_created"] == len(shapes)


def test_a_launch_carries_the_length() -> None:
    (launch,) = launches(Tensor(data(12, 5)) + Tensor(data(12, 5)))
    assert launch.fixed == (("#n", 60),)
    assert "N" in launch.kernel.name


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x + x.sum(),  # a reduction
        lambda x: x + x[0],  # a row for all rows
        lambda x: x.T * 2,  # another order
        lambda x: x[:, :2] * 2,  # a part
        lambda x: x.flip(0) * 2,
    ],
)
def test_work_that_knows_its_shape_keeps_it(make: Callable[[Tensor], Tensor]) -> None:
    assert all(not launch.fixed for launch in launches(make(Tensor(data(4, 3)))))


def test_a_scalar_in_memory_serves_every_length() -> None:
    x, scale = data(4, 3), Tensor(data(1)).realize()
    made = Tensor(x) * scale + scale
    (launch,) = launches(made)
    assert launch.fixed
    numpy.testing.assert_allclose(made.numpy(), x * data(1) + data(1), rtol=1e-6)


def test_a_fault_in_shared_code_names_the_users_line() -> None:
    x = Tensor([[1, 2], [3, 4]])
    with raises(ZeroDivisionError, match="by a zero element", quoting="made = x // zero"):
        zero = x - x
        made = x // zero
        made.realize()


def recurrence(gates: Any, state: Any, weight: Any, stack: Any, tanh: Any) -> Any:
    states = []
    for row in gates:
        state = tanh(row + state @ weight)
        states.append(state)
    return stack(states)


def test_a_loop_over_rows_is_compiled_once() -> None:
    gates, weight, state = data(16, 4, 8), data(8, 8) / 3, data(4, 8)
    with Count() as short:
        run_recurrence(gates[:6], state, weight)
    with Count() as long:
        run_recurrence(gates, state, weight)
    assert long["kernels_compiled"] <= 2 < short["kernels_compiled"] + 3
    expected = recurrence(gates * 1.5, state, weight, numpy.stack, numpy.tanh)
    numpy.testing.assert_allclose(
        run_recurrence(gates, state, weight).numpy(), expected, rtol=1e-4, atol=1e-5
    )


def run_recurrence(gates: Any, state: Any, weight: Any) -> Tensor:
    kept = (Tensor(gates) * 1.5).contiguous()
    made = recurrence(kept, Tensor(state), Tensor(weight), ogive.stack, Tensor.tanh)
    return made.realize(config=MEMORY_ONLY)  # type: ignore[no-any-return]


def test_positions_are_fixed_for_each_launch_and_cannot_be_bound() -> None:
    gates, state = (Tensor(data(5, 4, 8)) * 1.5).contiguous(), Tensor(data(4, 8))
    made = recurrence(gates, state, Tensor(data(8, 8)), ogive.stack, Tensor.tanh)
    plan = made.prepare(config=MEMORY_ONLY)
    rows = [dict(step.fixed) for step in plan.steps if getattr(step, "fixed", ())]
    assert len(rows) >= 3
    with raises(VariableError, match="'#0'"):
        plan.execute_with_vars(**{"#0": 2})


def test_paddings_at_other_places_share_a_kernel() -> None:
    parts = [data(2, 7) for _ in range(6)]
    sums = sum(
        (Tensor(part).exp().contiguous().pad([0, 0, 2 * i, 10 - 2 * i]) * 2).contiguous()
        for i, part in enumerate(parts)
    )
    assert isinstance(sums, Tensor)
    with Count() as count:
        sums.realize(config=MEMORY_ONLY)
    assert count["kernels_compiled"] <= 3
    expected = numpy.concatenate([2 * numpy.exp(part) for part in parts])
    numpy.testing.assert_allclose(sums.numpy(), expected, rtol=1e-5)


def test_a_fault_in_a_rerolled_loop_names_the_users_line() -> None:
    table = Tensor(data(6, 3)).exp().contiguous()
    index = Tensor([0, 9, 1])
    rows = [table[i : i + 1, :].expand(3, 3).gather(0, index[None].expand(1, 3)) for i in range(4)]
    with raises(IndexRangeError, match="outside the tensor it selects from", quoting="rows = "):
        Tensor.realize_batch(rows, config=MEMORY_ONLY)
