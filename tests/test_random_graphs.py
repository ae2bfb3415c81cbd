"""Random programs give what NumPy gives. `tests/random_programs` makes them."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from ogive.engine.steps import execution_levels
from ogive.passes.fuse import choose_kept, choose_staged
from ogive.passes.graph import pack_operands, split_reductions, split_scans
from tests.random_programs import config_for, generate, run

GROUP = 20
"""Programs in one test."""

SMALL: dict[ModuleType, dict[str, int]] = {
    split_reductions: {
        "CHUNK": 16, "ROW_STEP": 2, "MANY_IN_ROWS": 64, "MANY_IN_SHORT_ROWS": 64,
        "LEAST_ROW_CHUNKS": 2, "JOINED_BYTES": 8, "LONG": 64,
    },
    split_scans: {"CHUNK_BYTES": 64, "COLUMNS": 4},
    pack_operands: {"LEAST_ROWS": 2, "LEAST_WORK": 16, "MANY_COLUMNS": 8, "CACHE_PERIOD": 16},
    choose_kept: {"TINY_WORK": 16, "ROW_COST": 2},
    choose_staged: {"SCORE_BYTES": 64, "SCORE_ROWS": 2, "SCORE_GROWTH": 1},
    execution_levels: {"LEAST_WORK": 1},
}
"""Sizes from which on work is cut into pieces, such that small programs reach them."""


def run_group(group: int, length: int, cached: bool = True) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            config = config_for(seed)
            if not cached:
                config = replace(config, schedule_cache=False, disk_cache=False)
            run(generate(seed, length), config)
        except Exception as error:
            command = f"python -m tests.random_programs {seed} {seed + 1} {length}"
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


@pytest.fixture
def in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, sizes in SMALL.items():
        for name, size in sizes.items():
            assert hasattr(module, name)
            monkeypatch.setattr(module, name, size)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("group", range(100, 102))
def test_random_programs_cut_into_pieces_give_what_numpy_gives(group: int) -> None:
    # What is cached does not know these sizes.
    run_group(group, 14, cached=False)


@pytest.mark.soak
@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("group", range(3000, 3100))
def test_many_random_programs_cut_into_pieces_give_what_numpy_gives(group: int) -> None:
    run_group(group, 16, cached=False)
