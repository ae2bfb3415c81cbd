"""Reductions that share a loop stand in the same block; the others have loops of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.compile_region import linearize_placed
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.lower.linearize import Item, Loop
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.pipeline.region_passes import loops_of, placement_for
from tests.compiler.passes.parametric import normalize

Pair = Callable[[Tensor, Tensor], Tensor]
CONFIG = Config(verify=True)

CASES: dict[str, Pair] = {
    "sums": lambda x, y: x.sum(1) + y.sum(1),
    "product of sums": lambda x, y: x.square().sum(1) * y.square().sum(1),
    "three sums": lambda x, y: (x * y).sum(1) / (x.square().sum(1) * y.square().sum(1)),
    "with the first": lambda x, y: (x * y).sum(1) * x.square().sum(1),
    "with the second": lambda x, y: (x * y).sum(1) * y.square().sum(1),
    "of sums": lambda x, y: (
        (x - x.mean(1, keepdim=True)).square().sum(1)
        * (y + y.amax(1, keepdim=True)).square().sum(1)
    ),
}  # fmt: skip


def pair() -> tuple[Tensor, Tensor]:
    """Values of one shape, each alike along another axis."""
    random = np.random.default_rng(0)
    first, second = random.normal(size=(1, 3, 2)), random.normal(size=(3, 1, 2))
    return Tensor(first).expand(3, 3, 2), Tensor(second).expand(3, 3, 2)


@pytest.mark.parametrize("name", CASES)
def test_reductions_of_values_alike_along_different_axes_are_right(name: str) -> None:
    got = CASES[name](*pair()).numpy()
    wanted = CASES[name](*[Tensor(x.numpy()).contiguous().realize() for x in pair()]).numpy()
    np.testing.assert_allclose(got, wanted, rtol=1e-12)


def test_a_sum_of_sums_shares_no_loop_with_what_goes_through_all_of_it() -> None:
    """What is alike along the first axis is summed up once; the loops inside then stand alone."""
    row = np.random.default_rng(0).random((1, 9, 1, 3))
    sums = Tensor(row).expand(3, 9, 3, 3).sum((0, 1, 2))
    most = ogive.full((1, 1, 3, 1), 50.0).expand(3, 9, 3, 3).amax((0, 1, 2))
    got = sums.maximum(most).realize(config=CONFIG).numpy()
    np.testing.assert_allclose(got, np.maximum(9 * row.sum((0, 1, 2)), 50.0), rtol=1e-12)


def program_of(tensor: Tensor) -> list[Item]:
    target = host_target()
    (step,) = schedule_graph(normalize((tensor.node,)).sink, target, CONFIG).kernels
    loops = loops_of(step.region.graph, target, CONFIG)
    untiled = replace(placement_for(loops, target, CONFIG), upcast={})
    return linearize_placed(loops, untiled, CONFIG).program


def reductions_in(items: list[Item]) -> int:
    return sum(
        len(item.starts) + reductions_in(item.body) for item in items if isinstance(item, Loop)
    )


def test_what_an_outer_loop_does_not_change_is_reduced_before_it() -> None:
    x, y = pair()
    program = program_of(x.sum(1) + y.sum(1))
    loops = [item for item in program if isinstance(item, Loop)]
    assert [len(loop.starts) for loop in loops] == [1, 0]
    assert reductions_in(loops[1].body) == 1
    assert [s.op for s in loops[0].starts] == [Op.REDUCE]


def test_siblings_that_depend_on_the_same_loops_share_one() -> None:
    x = Tensor(np.ones((5, 70, 2)))
    (rows,) = [item for item in program_of(x.sum(1) * x.amax(1)) if isinstance(item, Loop)]
    (both,) = [item for item in rows.body if isinstance(item, Loop)]
    assert len(both.starts) == 2
