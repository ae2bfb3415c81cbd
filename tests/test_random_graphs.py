"""Random programs give what NumPy gives. `tests/random_programs` makes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ogive.compiler.targets.costs import Costs
from tests.costs import IN_PIECES
from tests.random_programs import config_for, generate, run

PIECES_SIDE_BY_SIDE = IN_PIECES.with_changes(sharing={"level_work": 1})
"""Lets small steps run side by side, too."""

GROUP = 20
"""Programs in one test."""

def run_group(group: int, length: int, costs: Costs | None = None) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            run(generate(seed, length), replace(config_for(seed), costs=costs))
        except Exception as error:
            command = f"python -m tests.hunt --only expressions --seed {seed}"
            error.add_note(f"{command} cuts it down")
            raise


@pytest.mark.parametrize("group", range(10))
def test_random_programs_give_what_numpy_gives(group: int) -> None:
    run_group(group, 14)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(1000, 1200))
def test_many_random_programs_give_what_numpy_gives(group: int) -> None:
    run_group(group, 14)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(2000, 2020))
def test_long_random_programs_give_what_numpy_gives(group: int) -> None:
    run_group(group, 60)


@pytest.mark.parametrize("group", range(100, 102))
def test_random_programs_cut_into_pieces_give_what_numpy_gives(group: int) -> None:
    run_group(group, 14, PIECES_SIDE_BY_SIDE)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(3000, 3100))
def test_many_random_programs_cut_into_pieces_give_what_numpy_gives(group: int) -> None:
    run_group(group, 16, PIECES_SIDE_BY_SIDE)
