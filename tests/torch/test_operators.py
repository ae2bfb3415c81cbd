"""Operators as PyTorch's own database calls them: found by name, called by its signatures."""

from __future__ import annotations

import pytest
import torch as pytorch

import ogive.torch
from tests.conformance.check import check
from tests.conformance.database import OPERATORS
from tests.torch.operator_database import find

ABSENT = 21
"""How many of PyTorch's operators are not there; docs/pytorch.md says why. It only falls."""

ADDED = (
    "alias_copy", "as_strided", "as_strided_copy", "diagonal_copy", "expand_copy", "fill",
    "grid_sampler_2d", "lu", "lu_solve", "native_batch_norm", "native_layer_norm",
    "split_with_sizes_copy",
    "unbind_copy", "unfold_copy", "_chunk_cat", "_softmax_backward_data", "_unsafe_masked_index",
    "_unsafe_masked_index_put_accumulate",
)  # fmt: skip


def test_no_more_operators_are_absent_than_before() -> None:
    assert sum(find(operator) is None for operator in OPERATORS.values()) <= ABSENT


@pytest.mark.parametrize("label", ADDED)
def test_an_operator_gives_what_pytorch_gives(label: str) -> None:
    operator = OPERATORS[label]
    result = check(operator, 1, ("float64",), function=find(operator))
    assert result is not None
    assert not result.unexplained, "\n".join(map(str, result.unexplained))


def test_masked_positions_may_lie_outside() -> None:
    for torch in (pytorch, ogive.torch):
        x = torch.arange(6.0)
        places, mask = torch.tensor([0, 9, 1]), torch.tensor([True, False, True])
        found = torch._unsafe_masked_index(x, mask, [places], -1.0)
        assert found.tolist() == [0.0, -1.0, 1.0]
        added = torch._unsafe_masked_index_put_accumulate(x, mask, [places], torch.ones(3))
        assert added.tolist() == [1.0, 2.0, 2.0, 3.0, 4.0, 5.0]
        assert torch.empty_strided((2, 3), (1, 2)).shape == (2, 3)
