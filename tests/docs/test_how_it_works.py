"""The pages run: every Python block of a page, in order, in one namespace."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.markdown import ROOT, python_blocks, run_block

PAGES = [
    "README.md",
    "docs/how-it-works.md",
    "docs/passes.md",
    "docs/autograd.md",
    "docs/training.md",
    "docs/interchange.md",
    "docs/io.md",
    "docs/search.md",
    "docs/caching.md",
    "docs/random.md",
    "docs/data.md",
    "docs/models.md",
    "docs/distributed.md",
    "docs/devices.md",
]


@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs(page: str) -> None:
    blocks = python_blocks(ROOT / page)
    assert blocks, "a page without code has no place here"
    namespace: dict[str, Any] = {"__name__": "__page__"}
    for block in blocks:
        run_block(block, namespace)
