"""Chains of movement before every kind of consumer give what PyTorch gives in float64, and what the
reference gives to almost all digits."""

from __future__ import annotations

import pytest

from tests.movement_chains import draw_case, run_cases
from tests.movement_chains.targets import running_on

GROUP = 20
"""Cases in one realization."""

GROUPS = {"host": 24, "avx2": 8, "wide": 6, "narrow": 6, "tiny": 6, "scalar": 3}


def run_group(target: str, group: int) -> None:
    cases = [draw_case(seed) for seed in range(group * GROUP, (group + 1) * GROUP)]
    with running_on(target) as config:
        differences = run_cases(cases, config)
    assert not differences, "\n".join([f"{case}\n  {words}" for case, words in differences])


@pytest.mark.parametrize(
    ("target", "group"),
    [(target, group) for target, count in GROUPS.items() for group in range(count)],
)
def test_chains_of_movement_give_what_pytorch_gives(target: str, group: int) -> None:
    run_group(target, group)
