"""Executing, preparing again and falling out of caches go on for ever: memory stays where it is."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pytest

from ogive import Config, Tensor, Variable, counters
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.compiler.ir.node_parts.node_table import live_uop_ids
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.compiler.live.registry import buffer_count, live_tensor_ids
from tests.compiler.engine.counting import Count

GRAPHS = 12
SMALL = Config(kernel_cache_size=4)
"""Fewer kernels than the graphs have, so that each round pushes some out."""


@pytest.fixture(autouse=True)
def bounded(own_cache: str) -> Iterator[None]:
    graph_cache.clear()
    kernel_cache.clear()
    with graph_cache.bounded_to(4):
        yield


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def census() -> tuple[int, int, int]:
    kept_graphs.clear()  # which are few, but may be more later
    gc.collect()
    return len(live_uop_ids()), buffer_count(), len(live_tensor_ids())


def assert_flat(round_: Callable[[int], None], rounds: int) -> None:
    """Rounds after the first quarter leave no more behind than that one did."""
    early = max(rounds // 4, 100)
    for number in range(early):
        round_(number)
    before, memory = census(), resident_bytes()
    for number in range(rounds - early):
        round_(number)
    for now, then in zip(census(), before, strict=True):
        assert now <= then + 20
    assert resident_bytes() < memory + (6 << 20)


X = np.arange(600, dtype=np.float32).reshape(20, 30)


def evict_and_execute(number: int) -> None:
    """Load a graph that has fallen out of memory, run it, check it, and drop it."""
    number %= GRAPHS
    y = (Tensor(X) * number + 1).sum(1)
    plan = y.prepare(config=SMALL)
    plan.execute()
    assert y[0].item() == 435 * number + 30


def check_evictions(rounds: int) -> None:
    for number in range(GRAPHS):
        evict_and_execute(number)
    with Count() as count:
        assert_flat(evict_and_execute, rounds)
    # The last four graphs of the first turn are still in memory.
    assert count["schedule_disk_hits"] >= rounds - 4
    assert count["schedules_created"] == count["kernels_compiled"] == 0
    assert len(kernel_cache._kernels) <= 4 and len(graph_cache._graphs) <= 4


def check_executions(rounds: int) -> None:
    """One plan, run with other values each time, and realizations beside it."""
    rows = Variable("rows", 1, 20)
    x = Tensor(X)
    total = (x[: rows.bind(3)] * 2).sum(0)
    state = Tensor(np.zeros(30, np.float32))
    state.assign(state * 0.5 + x.sum(0) * 0)
    plan = Tensor.prepare_batch([total, state])
    values = cycle(range(1, 21))
    with Count() as count:

        def round_(_: int) -> None:
            plan.execute()
            plan.execute_with_vars(rows=next(values))

        assert_flat(round_, rounds)
    assert count == {}
    last = next(islice(values, 19, None))
    np.testing.assert_array_equal(total.numpy(), (X[:last] * 2).sum(0))


def check_preparations(rounds: int) -> None:
    """The same graph over other data, again and again, and all its memory used again."""
    config = Config()

    def round_(number: int) -> None:
        y = (Tensor(X) @ Tensor(X.T) + number % 7).softmax(-1).sum()
        plan = y.prepare(config=config)
        plan.execute()
        plan.release()

    for number in range(7):
        round_(number)
    before = counters()
    assert_flat(round_, rounds)
    after = counters()
    assert after["kernels_compiled"] == before["kernels_compiled"]
    assert after["bytes_allocated"] - before["bytes_allocated"] < 1 << 22
    assert after["bytes_reused"] > before["bytes_reused"]


CHECKS = [check_evictions, check_executions, check_preparations]


@pytest.mark.parametrize("check", CHECKS)
def test_memory_stays_flat(check: Callable[[int], None]) -> None:
    check(400)


@pytest.mark.soak
@pytest.mark.parametrize("check", CHECKS)
def test_memory_stays_flat_over_100_000_rounds(check: Callable[[int], None]) -> None:
    check(100_000)
