"""A few of PyTorch's samples for every operator that we have, and the lists about the others."""

from __future__ import annotations

import pytest

from tests.conformance.check import check
from tests.conformance.database import OPERATORS
from tests.conformance.names import find
from tests.conformance.reasons import DIFFERENCES, TORCH_ALONE, UNDETERMINED, Difference
from tests.conformance.report import PAGE, absent_names

PRESENT = [label for label in OPERATORS if find(label) is not None]
COMPLEX = (
    "addcdiv", "corrcoef", "cov", "logaddexp", "logcumsumexp", "logdet", "logsumexp",
    "masked.logsumexp", "nn.functional.conv1d", "nn.functional.conv2d",
    "nn.functional.conv_transpose1d", "nn.functional.l1_loss", "nn.functional.normalize",
    "nn.functional.rms_norm", "nn.functional.silu (complex)", "nn.functional.softsign",
    "nn.functional.tanhshrink", "nn.functional.triplet_margin_loss", "normal (in_place)",
    "rand_like", "randn", "randn_like", "sigmoid", "sinc", "uniform",
)  # fmt: skip
"""Operators that take complex numbers and are no simple formula of those that do."""

INTEGERS = tuple(
    f"nn.functional.{name}"
    for name in (
        "avg_pool1d", "avg_pool2d", "avg_pool3d", "cosine_embedding_loss", "margin_ranking_loss",
        "poisson_nll_loss", "triplet_margin_loss",
    )
)  # fmt: skip
BOOLS = (
    "index_add", "scatter", "scatter_add", "scatter_reduce (amax)", "scatter_reduce (amin)",
    "scatter_reduce (prod)", "scatter_reduce (sum)",
)  # fmt: skip
OF_OTHER_DTYPES = [
    *[(name, "complex128") for name in COMPLEX], *[(name, "int64") for name in INTEGERS],
    *[(name, "bool") for name in BOOLS],
]  # fmt: skip

EXCEPTIONS = [
    pytest.param(difference, operator, id=f"{operator}: {difference.reason}")
    for difference in DIFFERENCES
    for operator in difference.operators
    if operator not in TORCH_ALONE
]


@pytest.mark.parametrize("label", PRESENT)
def test_values_and_gradients_are_those_of_pytorch(label: str) -> None:
    result = check(OPERATORS[label], limit=1, dtypes=("float64",))
    assert result is not None
    assert not result.unexplained, "\n".join(map(str, result.unexplained))


@pytest.mark.parametrize(("label", "dtype"), OF_OTHER_DTYPES)
def test_other_dtypes_give_what_they_give_in_pytorch(label: str, dtype: str) -> None:
    result = check(OPERATORS[label], limit=2, dtypes=(dtype,))
    assert result is not None and result.forward
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
    assert set(UNDETERMINED) - TORCH_ALONE <= set(PRESENT)


def test_the_page_lists_what_is_absent() -> None:
    absent = absent_names({label: None for label in OPERATORS if label not in PRESENT})
    _, _, listed = PAGE.read_text().partition("## Absent")
    assert sorted(listed.split("`")[1::2]) == absent
