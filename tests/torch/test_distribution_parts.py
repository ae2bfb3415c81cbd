"""`torch.distributions.utils`, which programs make distributions of their own with."""

from __future__ import annotations

import pytest
import torch as pytorch

import ogive.torch as torch
from tests.raising import raises

utils = torch.distributions.utils
theirs = pytorch.distributions.utils


@pytest.mark.parametrize("diagonal", [0, 1, -1, 2])
def test_a_triangle_as_a_vector_and_back(diagonal: int) -> None:
    rows = [[float(4 * i + j) for j in range(4)] for i in range(4)]
    vector = utils.tril_matrix_to_vec(torch.tensor([rows, rows]), diagonal)
    wanted = theirs.tril_matrix_to_vec(pytorch.tensor([rows, rows]), diagonal)
    assert vector.tolist() == wanted.tolist()
    matrix = utils.vec_to_tril_matrix(vector, diagonal)
    assert matrix.tolist() == theirs.vec_to_tril_matrix(wanted, diagonal).tolist()


def test_what_is_no_triangle_is_refused() -> None:
    with raises(ValueError, match="no square matrix has 4 entries"):
        utils.vec_to_tril_matrix(torch.ones(4))
    with raises(ValueError, match="outside"):
        utils.tril_matrix_to_vec(torch.ones(2, 2), 2)


def test_probabilities_are_kept_off_0_and_1() -> None:
    found = utils.clamp_probs(torch.tensor([0.0, 0.5, 1.0]))
    assert found.tolist() == theirs.clamp_probs(pytorch.tensor([0.0, 0.5, 1.0])).tolist()
    assert utils._standard_normal((2, 3), torch.float64, "cpu").dtype is torch.float64


def test_shapes_of_distributions_are_sizes() -> None:
    for library in (torch, pytorch):
        matrix = library.eye(3).expand(2, 3, 3)
        found = library.distributions.MultivariateNormal(library.zeros(2, 3), matrix)
        assert found.event_shape.numel() == 3
        assert found.batch_shape == library.Size([2])
        assert isinstance(found.batch_shape + found.event_shape, library.Size)
