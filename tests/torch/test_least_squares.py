"""Least squares with the results of each driver, and gradients of norms of negative order."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch
from ogive.errors import ArgumentError
from tests.raising import raises

MATRIX = numpy.random.default_rng(3).normal(size=(2, 4, 2))
SHORT = MATRIX.transpose(0, 2, 1).copy()
DEFICIENT = numpy.ones((4, 2))


@pytest.mark.parametrize("driver", [None, "gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize(("a", "b"), [
    (MATRIX, MATRIX[:, :, :1]), (MATRIX, MATRIX[:, :, 0]), (SHORT, SHORT[:, :, :3]),
    (MATRIX[0], MATRIX[0, :, 1]), (DEFICIENT, MATRIX[0]),
])
def test_a_driver_gives_the_results_that_it_gives_in_pytorch(
    driver: str | None, a: Any, b: Any
) -> None:
    if driver == "gels" and a is DEFICIENT:
        pytest.skip("it is for matrices of full rank")
    found, wanted = [
        torch.linalg.lstsq(torch.tensor(a), torch.tensor(b), driver=driver)
        for torch in (ogive.torch, pytorch)
    ]
    for ours, theirs in zip(found, wanted, strict=True):
        assert tuple(ours.shape) == tuple(theirs.shape)
        assert str(ours.dtype) == str(theirs.dtype)
        numpy.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-9)


def test_an_unknown_driver_is_refused() -> None:
    x = ogive.torch.ones(2, 2)
    with raises(ArgumentError, match="gelsy"):
        ogive.torch.linalg.lstsq(x, x, driver="qr")


@pytest.mark.parametrize("values", [[0.0, 0.0], [0.0, 2.0], [1.0, -2.0]])
def test_a_negative_norm_has_pytorchs_gradient(values: list[float]) -> None:
    gradients = []
    for torch in (ogive.torch, pytorch):
        x = torch.tensor(values, requires_grad=True)
        torch.linalg.vector_norm(x, -0.5).backward()
        gradients.append(x.grad.tolist())
    assert gradients[0] == pytest.approx(gradients[1], rel=1e-5)


def test_the_target_of_one_example_may_have_an_axis() -> None:
    losses = [
        torch.nn.functional.multi_margin_loss(torch.tensor([0.5, 1.0, 0.2]), torch.tensor([1]))
        for torch in (ogive.torch, pytorch)
    ]
    assert losses[0].item() == pytest.approx(losses[1].item())
