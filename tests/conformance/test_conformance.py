"""A few of PyTorch's samples for every operator that we have, and the lists about the others."""

from __future__ import annotations

import pytest

from tests.conformance.check import check
from tests.conformance.database import OPERATORS
from tests.conformance.names import find
from tests.conformance.reasons import DIFFERENCES, UNDETERMINED, Difference
from tests.conformance.report import PAGE, absent_names

PRESENT = [label for label in OPERATORS if find(label) is not None]
EXCEPTIONS = [
    pytest.param(difference, operator, id=f"{operator}: {difference.reason}")
    for difference in DIFFERENCES
    for operator in difference.operators
]


@pytest.mark.parametrize("label", PRESENT)
def test_values_and_gradients_are_those_of_pytorch(label: str) -> None:
    result = check(OPERATORS[label], limit=1, dtypes=("float64",))
    assert result is not None
    assert not result.unexplained, "\n".join(map(str, result.unexplained))


@pytest.mark.parametrize(("difference", "operator"), EXCEPTIONS)
def test_a_stated_difference_is_there(difference: Difference, operator: str) -> None:
    dtypes = difference.dtypes or ("float64",)
    assert any(
        difference.explains(failure)
        for limit in (1, 6, 15)  # most show it at once
        if (result := check(OPERATORS[operator], limit, dtypes)) is not None
        for failure in result.failures
    )


def test_random_operators_are_there() -> None:
    assert set(UNDETERMINED) <= set(PRESENT)


def test_the_page_lists_what_is_absent() -> None:
    absent = absent_names({label: None for label in OPERATORS if label not in PRESENT})
    _, _, listed = PAGE.read_text().partition("## Absent")
    assert sorted(listed.split("`")[1::2]) == absent
