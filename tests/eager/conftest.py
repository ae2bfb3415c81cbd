"""What tests of eager tensors share."""

from __future__ import annotations

import pytest

from ogive.compiler.live.small_graphs import SmallGraphs
from ogive.tensor.eager_sizes import allowance


@pytest.fixture
def no_allowance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large tensors are left to the compiler, as after a while in every process, whatever small
    graphs tests before have computed."""
    monkeypatch.setattr(allowance, "left", 0)
    monkeypatch.setattr(SmallGraphs, "take", lambda self: False)
