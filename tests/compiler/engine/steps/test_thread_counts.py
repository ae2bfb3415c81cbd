"""Plans are told how many threads their steps are worth, and results do not depend on it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

import numpy
import pytest

from ogive import Tensor, Variable
from ogive.compiler.devices.cpu.machine_speeds import machine_speeds
from ogive.compiler.devices.cpu.speeds import Speeds, usual_speeds
from ogive.compiler.engine.plan import Plan
from ogive.compiler.engine.realize import prepare
from ogive.compiler.targets.target import describe_cpu
from ogive.config import Config

SIXTEEN = usual_speeds(describe_cpu("x86_64-linux-gnu", cores=16))
EAGER = dataclasses.replace(
    SIXTEEN, instructions=1, sharing=(0,) * len(SIXTEEN.threads), launch=0
)
"""A machine on which every thread helps, with however little."""


@pytest.fixture(autouse=True)
def machine() -> Iterator[Callable[[Speeds], None]]:
    """A machine of sixteen cores, or of whatever else is said."""
    with contextlib.ExitStack() as stack:

        def be(given: Speeds) -> None:
            stack.enter_context(machine_speeds.taken_for(given))

        be(SIXTEEN)
        yield be


def numbers(*shape: int) -> Tensor:
    random = numpy.random.default_rng(len(shape))
    return Tensor(random.standard_normal(shape).astype(numpy.float32))


def threads_of(plan: Plan) -> list[int]:
    assert plan._execution is not None
    return [int(count) for count in plan._execution.native.threads]


def test_the_threads_of_a_step_follow_from_its_size() -> None:
    config = Config(threads=16)
    counts = [
        threads_of((numbers(size) + numbers(size)).prepare(config=config))
        for size in (1, 1000, 30_000, 100_000, 10_000_000)
    ]
    # Narrower vectors take more instructions, which are worth more threads.
    assert counts in ([[1], [1], [1], [2], [4]], [[1], [1], [1], [4], [4]])


def test_a_pool_of_two_has_no_more() -> None:
    plan = (numbers(1000, 1000) @ numbers(1000, 1000)).prepare(config=Config(threads=2))
    assert max(threads_of(plan)) == 2


def test_kernels_side_by_side_are_worth_what_they_do_together() -> None:
    def plan_of(count: int) -> Plan:
        given = [numbers(30, 310 + width) for width in range(count)]
        return prepare([each.exp().sum(1) for each in given], Config(threads=16))

    assert threads_of(plan_of(1)) == [1]
    several = plan_of(40)
    assert len(set(several._graph.levels)) < 40, "nothing runs side by side"
    assert min(threads_of(several)) > 1


def test_symbolic_lengths_decide_when_they_have_values() -> None:
    rows = Variable("rows", 1, 4096)
    total = (numbers(4096, 512)[: rows.bind(4096)].exp() * 2).sum(1)
    plan = total.prepare(config=Config(threads=16))
    many = max(threads_of(plan))
    plan.execute_with_vars(rows=2)
    few = max(threads_of(plan))
    plan.execute_with_vars(rows=4096)
    assert (many, few, max(threads_of(plan))) == (16, 1, 16)


def test_a_symbolic_loop_inside_a_tile_decides_too() -> None:
    columns = Variable("columns", 1, 1 << 16)
    total = numbers(64, 1 << 16)[:, : columns.bind(1 << 16)].exp().sum(1)
    plan = total.prepare(config=Config(threads=16))
    many = max(threads_of(plan))
    plan.execute_with_vars(columns=3)
    assert (many > 1, max(threads_of(plan))) == (True, 1)


def test_what_is_compiled_does_not_depend_on_the_machines_speed(
    machine: Callable[[Speeds], None],
) -> None:
    from ogive.counters import counters

    def compiled() -> int:
        before = counters()["kernels_compiled"]
        (numbers(123, 457).softmax(-1) * 3).realize(config=Config(threads=3))
        return counters()["kernels_compiled"] - before

    first = compiled()
    machine(EAGER)
    assert (first > 0, compiled()) == (True, 0)


def scattered() -> Tensor:
    indices = numpy.random.default_rng(0).integers(0, 999, 60_000)
    return numbers(999).scatter_add(0, Tensor(indices), numbers(60_000))


ROWS: dict[str, Callable[[], Tensor]] = {
    "elementwise": lambda: numbers(100_003).exp() + 1,
    "sum": lambda: numbers(1_000_003).sum(),
    "rows": lambda: numbers(401, 1003).sum(1),
    "columns": lambda: numbers(1001, 277).sum(0),
    "matmul": lambda: numbers(177, 511) @ numbers(511, 131),
    "softmax": lambda: numbers(301, 703).softmax(-1),
    "cumsum": lambda: numbers(133, 801).cumsum(1),
    "long cumsum": lambda: numbers(100_001).cumsum(0),
    "conv": lambda: numbers(2, 8, 31, 27).conv2d(numbers(12, 8, 3, 3)),
    "scatter": scattered,
}


@pytest.mark.parametrize("name", ROWS)
def test_results_are_the_same_to_the_last_bit_for_any_number_of_threads(
    name: str, machine: Callable[[Speeds], None]
) -> None:
    machine(EAGER)
    results = []
    for threads in (1, 2, 3, 7, 16):
        value = ROWS[name]()
        plan = value.prepare(config=Config(threads=threads))
        assert max(threads_of(plan)) == threads
        for _ in range(3):
            plan.execute()
        results.append(value.numpy().tobytes())
    assert results == results[:1] * 5
