"""Chains over symbolic sizes, compiled once, give what PyTorch gives for each size."""

from __future__ import annotations

import pytest

from tests.hunt.makers import run

GROUP = 5
"""Programs in one test: some 350 cases each."""

GROUPS = {"host": 4, "avx2": 2, "narrow": 2, "tiny": 2, "scalar": 2}


@pytest.mark.parametrize(
    ("target", "group"),
    [(target, group) for target, count in GROUPS.items() for group in range(count)],
)
def test_chains_over_symbolic_sizes_give_what_pytorch_gives(target: str, group: int) -> None:
    outcome = run("sizes", range(group * GROUP, (group + 1) * GROUP), target)
    assert not outcome.differences, outcome.differences
    assert outcome.cases > 100 * GROUP
