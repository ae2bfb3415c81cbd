"""What a tile of a kernel is said to cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

from ogive import Tensor, Variable
from ogive.compiler.engine.caches.compile_graph import compile_graph
from ogive.compiler.engine.steps.compiled_graph import Launch
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.compiler.targets.target import describe_cpu
from ogive.config import Config
from tests.compiler.passes.parametric import normalize

TARGET = describe_cpu("x86_64-unknown-linux-gnu", "haswell", "+avx,+avx2,+fma")


def launch_of(value: Tensor) -> Launch:
    (step,) = compile_graph(normalize((value.node,)).sink, {"CPU": TARGET}, Config()).steps
    assert isinstance(step, Launch)
    return step


def floats(*shape: int) -> Tensor:
    return Tensor(numpy.zeros(shape, numpy.float32))


def totals(step: Launch, **values: int) -> tuple[int, ...]:
    given = {**values, **dict(step.fixed)}
    tiles = evaluate(step.tiles, given)
    return tuple(tiles * evaluate(cost, given) for cost in step.kernel.record.costs)


def test_an_addition_loads_adds_and_stores_vectors() -> None:
    count = 1 << 16
    instructions, read, written = totals(launch_of(floats(count) + floats(count)))
    # Two loads, an addition and a store, and whether there are so many elements.
    assert instructions == 5 * count // 8
    assert (read, written) == (8 * count, 4 * count)


def test_a_multiplication_that_is_added_up_is_one_instruction() -> None:
    rows, columns = 64, 1024
    vectors = rows * columns // 8
    given = floats(rows, columns)
    instructions, read, written = totals(launch_of((given * given).sum(1)))
    assert instructions == 2 * vectors + rows
    assert (read, written) == (4 * rows * columns, 4 * rows)


def test_irregular_lanes_count_one_by_one() -> None:
    table, indices = floats(1000), Tensor(numpy.zeros(4096, numpy.int64))
    regular = totals(launch_of(floats(4096) + floats(4096)))[0]
    assert totals(launch_of(table[indices]))[0] > 4096 > regular


@pytest.mark.parametrize("length", [1, 100, 1024])
def test_a_symbolic_loop_is_counted_at_its_length(length: int) -> None:
    def rows(count: int) -> Tensor:
        return floats(512, 1024)[:, : Variable("n", 1, 1024).bind(count)]

    step = launch_of(rows(7).sum(1))
    read = totals(step, n=length)[1]
    lanes = -(-length // 8) * 8
    assert 512 * 4 * length <= read <= 512 * 4 * (lanes + 64)


MANY: dict[str, Callable[[], Tensor]] = {
    "products": lambda: floats(1, 1 << 20) * floats(1 << 20, 1),
    "a sum": lambda: (floats(1, 1 << 20) * floats(1 << 20, 1)).sum(0),
}


@pytest.mark.parametrize("name", MANY)
def test_costs_fit_into_a_record(name: str) -> None:
    from ogive.compiler.store.records import pack_kernel, unpack_kernel

    sink = normalize((MANY[name]().node,)).sink
    for step in compile_graph(sink, {"CPU": TARGET}, Config()).launches:
        assert unpack_kernel(pack_kernel(step.kernel.record)).costs == step.kernel.record.costs
