"""From one placement to its neighbours, one change at a time."""

from __future__ import annotations

import pytest

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.pipeline.region_passes import placement_for
from ogive.compiler.passes.place.place_axes import place_axes
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.search.placement_actions import Actions
from ogive.compiler.search.placement_encoding import (
    MOST_TILE,
    pack_placement,
    placement_key,
)
from ogive.errors import OptimizeError
from tests.compiler.search.kernels import CONFIG, TARGET, data, loops, placement_from

KERNELS = {
    "product": lambda: data(60, 48) @ data(48, 70),
    "softmax": lambda: data(64, 100).softmax(-1),
    "sum of columns": lambda: data(200, 300).sum(0),
    "transpose": lambda: data(130, 18).T + 1,
    "scalar": lambda: data(1) + 1,
}


def heuristic(root: UOp) -> Placement:
    return placement_for(root, TARGET, CONFIG)


def possible(root: UOp, placements: list[Placement]) -> list[Placement]:
    found = []
    for placement in placements:
        try:
            place_axes(root, placement)
            found.append(placement)
        except OptimizeError:
            pass
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_neighbours_are_new_distinct_and_can_be_sent(name: str) -> None:
    root = loops(KERNELS[name]())
    start = heuristic(root)
    found = Actions.of(root, TARGET).neighbours(start)
    keys = [placement_key(placement) for placement in found]
    assert len(set(keys)) == len(keys)
    assert placement_key(start) not in keys
    for placement in found:
        assert placement_key(placement_from(pack_placement(placement))) in keys


@pytest.mark.parametrize("name", list(KERNELS)[:-1])
def test_most_neighbours_are_possible(name: str) -> None:
    root = loops(KERNELS[name]())
    found = Actions.of(root, TARGET).neighbours(heuristic(root))
    assert len(possible(root, found)) > len(found) // 2


def test_every_kind_of_change_is_there() -> None:
    root = loops(data(60, 48) @ data(48, 70))
    start = Placement({1: 16}, {1: 2, 0: 4}, (0, 1), 1)
    found = Actions.of(root, TARGET).neighbours(start)
    assert Placement({1: 8}, start.upcast, (0, 1), 1) in found
    assert Placement({0: 16}, {1: 2, 0: 4}, (0, 1), 1) in found
    assert Placement({1: 16}, {1: 2, 0: 6}, (0, 1), 1) in found
    assert Placement({1: 16}, {1: 2, 0: 4, 2: 2}, (0, 1), 1) in found
    assert Placement({1: 16}, start.upcast, (1, 0), 1) in found
    assert {placement.parallel for placement in found} == {0, 1, 2}


def test_the_loops_of_a_softmax_can_change_together() -> None:
    root = loops(data(64, 256).softmax(-1))
    start = heuristic(root)
    doubled = {axis: 2 * count for axis, count in start.lanes.items()}
    assert len(doubled) > 1
    assert any(p.lanes == doubled for p in Actions.of(root, TARGET).neighbours(start))


def test_no_axis_is_padded_to_twice_its_length_and_no_tile_is_huge() -> None:
    actions = Actions((0, 1), {0: 5, 1: 1 << 20, 2: 1 << 20}, 16)
    reached = [Placement({1: 16}, {1: 32, 2: 128})]
    for _ in range(4):
        reached = [near for placement in reached[:20] for near in actions.neighbours(placement)]
    for placement in reached:
        assert placement.lanes.get(0, 1) * placement.upcast.get(0, 1) < 10
        assert placement.upcast.get(1, 1) * placement.upcast.get(2, 1) <= MOST_TILE
