"""Imperative programs do what they do in PyTorch. `tests/imperative_programs` makes them."""

from __future__ import annotations

import pytest

from tests.imperative_programs import generate, run

GROUP = 25
"""Programs in one test."""


def run_group(group: int, length: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            run(generate(seed, length))
        except Exception as error:
            command = f"python -m tests.hunt --only imperative --seed {seed}"
            error.add_note(f"{command} cuts it down")
            raise


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", range(10))
def test_imperative_programs_do_what_they_do_in_pytorch(group: int) -> None:
    run_group(group, 14)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", range(1000, 1400))
def test_many_imperative_programs_do_what_they_do_in_pytorch(group: int) -> None:
    run_group(group, 14)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("group", range(2000, 2040))
def test_long_imperative_programs_do_what_they_do_in_pytorch(group: int) -> None:
    run_group(group, 50)
