"""Images read at places of a grid, at once, with PyTorch's values and gradients."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.torch

IDENTITY = numpy.array([[[1, 0, 0], [0, 1, 0]]] * 2, "float32")
TURNED = numpy.random.default_rng(2).normal(size=(2, 2, 3)).astype("float32")


def sample(library: Any, theta: Any, padding_mode: str, align_corners: bool) -> list[Any]:
    F = library.nn.functional
    random = numpy.random.default_rng(3)
    image = library.tensor(random.normal(size=(2, 3, 7, 9)).astype("float32"), requires_grad=True)
    maps = library.tensor(theta, requires_grad=True)
    grid = F.affine_grid(maps, (2, 3, 7, 9), align_corners=align_corners)
    found = F.grid_sample(
        image, grid, padding_mode=padding_mode, align_corners=align_corners
    )
    (found * found.detach().cos()).sum().backward()
    return [found.detach(), grid.detach(), image.grad, maps.grad]


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding_mode", ["zeros", "border"])
@pytest.mark.parametrize("theta", [IDENTITY, TURNED], ids=["identity", "turned"])
def test_a_sampled_image_is_that_of_pytorch(
    theta: Any, padding_mode: str, align_corners: bool
) -> None:
    """At the identity places lie on the centres of pixels: the gradient is that of one side."""
    expected = sample(torch, theta, padding_mode, align_corners)
    found = sample(ogive.torch, theta, padding_mode, align_corners)
    assert found[0].is_eager
    for own, other in zip(found, expected, strict=True):
        numpy.testing.assert_allclose(own.numpy(), other.numpy(), rtol=1e-4, atol=2e-4)
