"""Programs of lines that PyTorch accepts give under `ogive.torch` what they give under PyTorch."""

from __future__ import annotations

import warnings

import pytest

from tests.line_programs import MAKERS, difference

GROUP = 20
GROUPS = {"lines": 8, "writes": 8, "loops": 2, "captured loops": 1, "training": 1, "indices": 4}
MANY_GROUPS = 500


def run_group(maker: str, group: int) -> None:
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(group * GROUP, (group + 1) * GROUP):
            lines = MAKERS[maker](seed)
            words = difference(lines)
            if words is not None:
                found.append(f"seed {seed}: {words}\n" + "\n".join(lines))
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize(
    ("maker", "group"),
    [(maker, group) for maker, count in GROUPS.items() for group in range(count)],
)
def test_lines_give_what_pytorch_gives(maker: str, group: int) -> None:
    run_group(maker, group)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(1000, 1000 + MANY_GROUPS))
@pytest.mark.parametrize("maker", GROUPS)
def test_many_lines_give_what_pytorch_gives(maker: str, group: int) -> None:
    run_group(maker, group)
