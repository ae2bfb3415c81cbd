"""`Graph(measure=True)`: schedules are timed beside each other, and the fastest is compiled."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from ogive import Config, Graph, Tensor, counters
from ogive.compiler.engine.caches.found_placements import placement_cache
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.pipeline.region_passes import loops_of, placement_for
from ogive.compiler.search.search_result import Result
from ogive.errors import ConfigError
from tests.raising import raises

MEASURED = Config(
    exactness="rounding", search=Graph(measure=True, seconds=0.5), schedule_cache=False,
    disk_cache=False,
)  # fmt: skip


def random(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).uniform(0.5, 1.5, shape).astype(np.float32))


def chain() -> Tensor:
    return (random(96, 64) @ random(64, 96, seed=1)) @ random(96, seed=2)


def read_twice() -> Tensor:
    root = random(40, 40).sqrt()
    return root[:, 1:] * root[:, :-1]


@pytest.fixture
def times() -> Iterator[list[Callable[[UOp], float]]]:
    """What a kernel takes, by its region: the last function that a test puts there."""
    given: list[Callable[[UOp], float]] = []

    def search(
        regions: Mapping[UOp, int], target: Any, config: Config, _: Any
    ) -> tuple[dict[UOp, Result], int]:
        found = {
            region: Result(
                placement_for(loops_of(region, target, config), target, config),
                1.0, True, given[-1](region),
            )
            for region in regions
        }  # fmt: skip
        return found, len(regions)

    placement_cache.clear()
    with placement_cache.searching_by(search):
        yield given
    placement_cache.clear()


def products(region: UOp) -> float:
    """How many products a region sums up."""
    sums = [node for node in region.walk() if node.op is Op.REDUCE_AXES]
    return float(1 + sum(math.prod(node.operand.shape) for node in sums))


def test_the_way_of_least_measured_time_is_taken(times: list[Callable[[UOp], float]]) -> None:
    """A @ (B @ v), or (A @ B) @ v, which has a product of matrices."""
    times.append(products)
    assert "product" not in repr(chain().prepare(config=MEASURED).kernels)
    placement_cache.clear()
    times.append(lambda region: 1 / products(region))
    assert "product" in repr(chain().prepare(config=MEASURED).kernels)


@pytest.mark.parametrize("dear, kernels", [(Op.SQRT, 2), (Op.CONST, 1)])
def test_what_is_kept_is_measured(
    times: list[Callable[[UOp], float]], dear: Op, kernels: int
) -> None:
    """Where each kernel of a square root that multiplies takes long, the root is kept."""

    def taken(region: UOp) -> float:
        ops = {node.op for node in region.walk()}
        return 10.0 if {Op.MUL, dear} <= ops else 1.0

    times.append(taken)
    value = read_twice()
    assert len(value.prepare(config=MEASURED).kernels) == kernels
    root = np.sqrt(random(40, 40).numpy())
    np.testing.assert_allclose(value.numpy(), root[:, 1:] * root[:, :-1], rtol=1e-6)


def test_results_are_those_of_the_model_within_rounding() -> None:
    found = chain().realize(config=MEASURED).numpy()
    expected = chain().realize(config=Config(search=Graph(rounds=0))).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_nothing_is_measured_unless_it_is_asked_for() -> None:
    before = counters()["kernels_searched"]
    chain().realize(config=Config(search=Graph(), disk_cache=False))
    assert counters()["kernels_searched"] == before


@pytest.mark.parametrize("wrong", [{"measure": 1}, {"seconds": 0}, {"seconds": float("inf")}])
def test_settings_of_measuring_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with raises(ConfigError, match="graph search"):
        Graph(**wrong)
