"""Random programs, evaluated region by region, give what NumPy gives."""

from __future__ import annotations

import pytest

from ogive import Config, Tensor
from ogive.devices.reference.number_formats import Array
from tests.devices.reference.scheduled import evaluate_tensors
from tests.random_programs import config_for, generate, run

GROUP = 20
"""Programs in one test."""


def evaluated(tensor: Tensor, config: Config | None) -> Array:
    """What a tensor holds, by the reference; it stays lazy."""
    (value,) = evaluate_tensors([tensor], config)
    return value


def run_group(group: int, length: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        run(generate(seed, length), config_for(seed), evaluated)


@pytest.mark.parametrize("group", range(4))
def test_the_reference_gives_what_numpy_gives(group: int) -> None:
    run_group(group, 14)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(1000, 1100))
def test_the_reference_gives_what_numpy_gives_for_many_programs(group: int) -> None:
    run_group(group, 20)
