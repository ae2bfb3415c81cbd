"""Random programs give what NumPy gives. `tests/random_programs` makes them."""

from __future__ import annotations

import pytest

from tests.random_programs import config_for, generate, run

GROUP = 20
"""Programs in one test."""


def run_group(group: int, length: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            run(generate(seed, length), config_for(seed))
        except Exception as error:
            command = f"python -m tests.random_programs {seed} {seed + 1} {length}"
            error.add_note(f"{command} cuts it down")
            raise


@pytest.mark.parametrize("group", range(15))
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
