"""Random programs over small tensors give what they give under PyTorch."""

from __future__ import annotations

import pytest
import torch as pytorch

import ogive.torch as ours
from tests.eager.random_programs import Maker, difference


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 600, 100))
def test_programs_agree(first: int) -> None:
    for seed in range(first, first + 100):
        found = difference(Maker(seed).program(20), pytorch, ours)
        assert found is None, f"seed {seed}: {found}"


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(10_000, 60_000, 1000))
def test_many_programs_agree(first: int) -> None:
    for seed in range(first, first + 1000):
        found = difference(Maker(seed).program(30), pytorch, ours)
        assert found is None, f"seed {seed}: {found}"
