"""Which kernels run side by side, and that nothing depends on it."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.compiler.engine import Plan
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.steps.compiled_graph import CompiledGraph, Launch
from ogive.compiler.targets.costs import CPU_COSTS, Costs
from ogive.errors import DivisionByZeroError
from tests.raising import raises

THREADS = (1, 2, 5)


SIDE_BY_SIDE = CPU_COSTS.with_changes(sharing={"level_work": 0})
"""Kernels share a level however little there is to do."""


def uncached(costs: Costs | None = None, **settings: Any) -> Config:
    return Config(schedule_cache=False, disk_cache=False, costs=costs, **settings)


def graph_of(plan: Plan) -> CompiledGraph:
    return plan._graph


def groups_of(plan: Plan) -> list[int]:
    """How many steps each level has."""
    given = list(graph_of(plan).levels)
    return [given.count(level) for level in range(given[-1] + 1)]


def rows(count: int, width: int, seed: int = 0) -> list[NDArray[numpy.float64]]:
    generator = numpy.random.default_rng(seed)
    return [generator.standard_normal((2, width + at)) for at in range(count)]


def two_stages(x: Tensor) -> Tensor:
    """A sum, and what cannot be in one kernel with it."""
    return (x.exp().sum(0) + 1).log().sum()


def test_independent_small_kernels_share_a_level() -> None:
    outputs = [two_stages(Tensor(row)) for row in rows(5, 7)]
    plan = Tensor.prepare_batch(outputs, config=uncached(SIDE_BY_SIDE))
    sizes = groups_of(plan)
    assert sum(sizes) == len(plan.kernels) and max(sizes) == 5


def test_little_work_keeps_the_order_of_the_schedule() -> None:
    outputs = [two_stages(Tensor(row)) for row in rows(5, 7)]
    graph = graph_of(Tensor.prepare_batch(outputs, config=uncached()))
    assert graph.order == graph.levels == tuple(range(len(graph.steps)))


def test_enough_work_is_shared_out_without_being_asked() -> None:
    outputs = [Tensor(row).exp().tanh() for row in rows(8, 2000)]
    plan = Tensor.prepare_batch(outputs, config=uncached())
    assert groups_of(plan) == [8]


def test_side_by_side_does_not_cost_more_memory_than_it_may() -> None:
    def memory(costs: Costs) -> int:
        outputs = [two_stages(Tensor(row)) for row in rows(6, 40)]
        return Tensor.prepare_batch(outputs, config=uncached(costs)).memory.peak

    little = SIDE_BY_SIDE.with_changes(sharing={"level_memory": 64})
    assert memory(little) < memory(SIDE_BY_SIDE)


def overlapping(plan: Plan) -> list[tuple[int, int]]:
    """Pairs of steps of one level of which one writes bytes that the other touches."""
    graph = graph_of(plan)

    def ranges(slots: tuple[int, ...]) -> list[tuple[int, int]]:
        buffers = [plan._buffers[slot] for slot in slots]
        return [(each.address, each.address + each.nbytes) for each in buffers]

    found = []
    for first, one in enumerate(graph.steps):
        for second, other in enumerate(graph.steps):
            if first == second or graph.levels[first] != graph.levels[second]:
                continue
            for begin, end in ranges(one.written):
                if any(begin < stop and start < end for start, stop in ranges(other.slots)):
                    found.append((first, second))
    return found


def random_outputs(seed: int) -> list[Tensor]:
    """Chains that meet now and then, with assignments in between."""
    choose = random.Random(seed)
    data = rows(4, 5, seed)
    pool = [Tensor(row[:, :5]) for row in data]
    kept = list(pool)
    for _ in range(14):
        x, y = choose.choice(pool), choose.choice(pool)
        made = x.exp().sum(0, keepdim=True).log() + y * 0.5
        if choose.random() < 0.3:
            target = choose.choice(kept)
            target.assign(made.tanh())
            made = target + 1
        pool.append(made)
    return [*pool[4:], *kept]


@pytest.mark.parametrize("mode", ["arena", "remap", "disabled"])
@pytest.mark.parametrize("seed", range(6))
def test_steps_of_a_level_never_touch_what_another_writes(
    seed: int, mode: str
) -> None:
    plan = Tensor.prepare_batch(random_outputs(seed), config=uncached(SIDE_BY_SIDE, planner=mode))
    assert max(groups_of(plan)) > 1, "nothing is side by side"
    assert overlapping(plan) == []


@pytest.mark.parametrize("seed", range(6))
def test_results_do_not_depend_on_levels_or_threads(seed: int) -> None:
    expected = [t.numpy().tobytes() for t in random_outputs(seed)]
    for least in (0, 1 << 62):
        costs = CPU_COSTS.with_changes(sharing={"level_work": least})
        for threads in THREADS:
            outputs = random_outputs(seed)
            plan = Tensor.prepare_batch(outputs, config=uncached(costs, threads=threads))
            plan.execute()
            assert [t.numpy().tobytes() for t in outputs] == expected


def test_host_steps_are_barriers(tmp_path: Path) -> None:
    path = tmp_path / "values.bin"
    path.write_bytes(numpy.arange(12.0).tobytes())

    def double(given: NDArray[Any], result: NDArray[Any]) -> None:
        result[...] = given * 2

    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
    file = Tensor.from_file(path, (12,), "float64")
    outputs = [x.exp(), ogive.custom(double, [x + 1], ((2,), "float32")).sum(), file.sum(), y.exp()]
    plan = Tensor.prepare_batch(outputs, config=uncached(SIDE_BY_SIDE))
    graph = graph_of(plan)
    for position, step in enumerate(graph.steps):
        if not isinstance(step, Launch):
            assert graph.levels.count(graph.levels[position]) == 1
    plan.execute()
    assert outputs[1].item() == 10.0 and outputs[2].item() == 66.0


def test_a_store_runs_beside_stores_alone() -> None:
    targets = [Tensor(row) for row in rows(3, 4)]
    values = [Tensor(row) for row in rows(3, 4, seed=1)]
    results = [value.exp().sum() for value in values]
    for target in targets:
        target += 1
    plan = Tensor.prepare_batch([*targets, *results], config=uncached(SIDE_BY_SIDE))
    graph = graph_of(plan)
    kinds: dict[int, set[bool]] = {}
    for level, step in zip(graph.levels, graph.steps, strict=True):
        stores = graph.slots[step.slots[0]].parameter is not None
        kinds.setdefault(level, set()).add(stores)
    assert all(len(each) == 1 for each in kinds.values())
    assert max(groups_of(plan)) == 3
    plan.execute()
    for target, row in zip(targets, rows(3, 4), strict=True):
        numpy.testing.assert_array_equal(target.numpy(), row + 1)


@pytest.mark.parametrize("threads", THREADS)
def test_the_line_of_a_fault_is_found_among_moved_steps(threads: int) -> None:
    numbers = [Tensor([[4, 2], [1, at]]) for at in range(4)]
    outputs = []
    for at, each in enumerate(numbers):
        total = each.sum(0)
        outputs.append((total // 1).sum() if at != 2 else (total // (each.sum(0) - 4)).sum())
    plan = Tensor.prepare_batch(outputs, config=uncached(SIDE_BY_SIDE, threads=threads))
    graph = graph_of(plan)
    assert graph.order != tuple(range(len(graph.steps)))
    with raises(
        DivisionByZeroError, match="floor division", quoting=r"test_execution_levels\.py"
    ):
        plan.execute()


def test_a_graph_from_the_disk_is_arranged_like_the_one_that_was_kept() -> None:
    made = []
    for _ in range(2):
        graph_cache.clear()
        outputs = [two_stages(Tensor(row)) for row in rows(4, 6)]
        graph = graph_of(Tensor.prepare_batch(outputs, config=Config(costs=SIDE_BY_SIDE)))
        made.append((graph.order, graph.levels, graph.places("arena")))
    assert ogive.counters()["schedule_disk_hits"] > 0
    assert made[0] == made[1]
    assert made[0][0] != tuple(range(len(made[0][0])))
