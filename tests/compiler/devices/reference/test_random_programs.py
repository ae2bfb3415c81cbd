"""Random programs, run by the reference, give what NumPy gives."""

from __future__ import annotations

import pytest

from tests.random_programs import config_for, generate, run

GROUP = 20
"""Programs in one test."""


def run_group(group: int, length: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        run(generate(seed, length), config_for(seed), "REFERENCE")


@pytest.mark.parametrize("group", range(4))
def test_the_reference_gives_what_numpy_gives(group: int) -> None:
    run_group(group, 14)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(1000, 1100))
def test_the_reference_gives_what_numpy_gives_for_many_programs(group: int) -> None:
    run_group(group, 20)
