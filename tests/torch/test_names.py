"""Of PyTorch's names, those that are absent are in docs/pytorch.md, with the reason."""

from __future__ import annotations

from tests.torch.absent import (
    NOT_YET,
    PAGE,
    START,
    absent_names,
    missing_parameters,
    reason_for,
)

NAMES_NOT_YET = 67
PARAMETERS_NOT_YET = 28
"""How much is left to do; these numbers only fall."""


def test_the_page_lists_what_is_absent() -> None:
    listed = PAGE.read_text().partition(START)[2]
    names = {name for absent in absent_names().values() for name in absent}
    left_out = [name for name in sorted(names) if f"`{name}`" not in listed]
    assert not left_out, "run python -m tests.torch.absent"


def test_no_more_names_are_absent_without_a_reason_than_before() -> None:
    names = [name for absent in absent_names().values() for name in absent]
    assert sum(reason_for(name) == NOT_YET for name in names) <= NAMES_NOT_YET


def test_no_more_parameters_are_missing_than_before() -> None:
    assert sum(len(left) for left in missing_parameters().values()) <= PARAMETERS_NOT_YET
