"""The memory planner never lets two living values share memory, and wastes little."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from ogive.compiler.devices.memory_planner import Life, MemoryPlan, describe, place
from ogive.compiler.ir.memory import ALIGNMENT
from ogive.config import PLANNERS


def plan_memory(
    lives: Mapping[int, Life], left_out: Mapping[int, str], mode: str, devices: str = "A"
) -> MemoryPlan:
    """A plan on devices of one letter, which take turns."""
    slots = [devices[number % len(devices)] for number in range(1 + max(lives, default=0))]
    return describe(place(lives, mode, slots), lives, left_out, slots)


def random_lives(seed: int, count: int) -> dict[int, Life]:
    generator = random.Random(seed)
    lives = {}
    for slot in range(count):
        first = generator.randrange(count)
        last = min(count, first + int(generator.expovariate(1 / 4)))
        lives[slot] = Life(generator.choice([1, 64, 100, 4096, 10_000, 1 << 20]), first, last)
    return lives


def meet(life: Life, other: Life) -> bool:
    return life.first <= other.last and other.first <= life.last


@pytest.mark.parametrize("mode", PLANNERS)
@pytest.mark.parametrize("seed", range(25))
def test_values_that_live_at_the_same_time_never_overlap(mode: str, seed: int) -> None:
    lives = random_lives(seed, 40)
    plan = plan_memory(lives, {}, mode)
    for slot, life in lives.items():
        block, offset = plan.places[slot]
        assert offset % ALIGNMENT == 0
        assert offset + life.nbytes <= plan.blocks[block]
        for other, other_life in lives.items():
            other_block, other_offset = plan.places[other]
            if other == slot or block != other_block or not meet(life, other_life):
                continue
            apart = (
                offset + life.nbytes <= other_offset or other_offset + other_life.nbytes <= offset
            )
            assert apart, (slot, other)


@pytest.mark.parametrize("seed", range(40))
def test_the_arena_stays_close_to_the_largest_living_set(seed: int) -> None:
    plan = plan_memory(random_lives(seed, 60), {}, "arena")
    assert plan.peak <= plan.planned <= 1.10 * plan.peak


def test_a_chain_needs_only_two_values_at_a_time() -> None:
    lives = {slot: Life(1024, slot, slot + 1) for slot in range(50)}
    plan = plan_memory(lives, {}, "arena")
    assert plan.planned == plan.peak == 2048
    assert plan.logical == 50 * 1024
    assert plan_memory(lives, {}, "remap").planned == 2048
    assert plan_memory(lives, {}, "disabled").planned == 50 * 1024


def test_a_value_of_no_bytes_has_a_place() -> None:
    for mode in PLANNERS:
        plan = plan_memory({0: Life(0, 0, 1)}, {}, mode)
        assert plan.places == {0: (0, 0)} and plan.blocks == (0,)


def test_nothing_to_plan_takes_nothing() -> None:
    for mode in PLANNERS:
        plan = plan_memory({}, {3: "an output"}, mode)
        assert plan.blocks == () and plan.peak == 0 and plan.left_out == {3: "an output"}


@pytest.mark.parametrize("mode", PLANNERS)
def test_each_device_is_planned_by_itself(mode: str) -> None:
    lives = random_lives(7, 40)
    plan = plan_memory(lives, {}, mode, "AB")
    own = [
        plan_memory({slot // 2: life for slot, life in lives.items() if slot % 2 == rest}, {}, mode)
        for rest in range(2)
    ]
    assert plan.by_device == {"A": own[0].planned, "B": own[1].planned}
    assert plan.peak == own[0].peak + own[1].peak
    for slot, (block, _) in plan.places.items():
        assert plan.devices[block] == "AB"[slot % 2]
