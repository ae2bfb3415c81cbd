"""`torch.nn.utils.fusion`: one layer gives what two gave."""

from __future__ import annotations

from typing import Any

import pytest

import ogive.torch as torch
from ogive.errors import ArgumentError, StateError
from tests.raising import raises

nn: Any = torch.nn
fusion: Any = torch.nn.utils.fusion


def with_statistics(bn: Any) -> Any:
    torch.manual_seed(0)
    with torch.no_grad():
        bn.running_mean.normal_()
        bn.running_var.uniform_(0.5, 2)
        if bn.affine:
            bn.weight.normal_()
            bn.bias.normal_()
    return bn.eval()


@pytest.mark.parametrize(("layer", "bn", "shape", "transpose"), [
    (lambda: nn.Conv2d(3, 4, 3), lambda: nn.BatchNorm2d(4), (2, 3, 5, 5), False),
    (lambda: nn.Conv1d(4, 4, 3, groups=2, bias=False), lambda: nn.BatchNorm1d(4, affine=False),
     (2, 4, 6), False),
    (lambda: nn.ConvTranspose2d(3, 4, 2), lambda: nn.BatchNorm2d(4), (2, 3, 5, 5), True),
])
def test_a_convolution_takes_the_normalization_after_it(
    layer: Any, bn: Any, shape: tuple[int, ...], transpose: bool
) -> None:
    conv, norm = layer().eval(), with_statistics(bn())
    fused = fusion.fuse_conv_bn_eval(conv, norm, transpose)
    x = torch.randn(*shape)
    assert torch.allclose(fused(x), norm(conv(x)), atol=1e-5)
    assert fused.weight is not conv.weight


def test_a_linear_layer_takes_the_normalization_after_it() -> None:
    linear, norm = nn.Linear(3, 4).eval(), with_statistics(nn.BatchNorm1d(4))
    x = torch.randn(5, 3)
    assert torch.allclose(fusion.fuse_linear_bn_eval(linear, norm)(x), norm(linear(x)), atol=1e-5)


def test_layers_that_are_training_are_refused() -> None:
    with raises(StateError, match="eval"):
        fusion.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1))


def test_layers_of_other_widths_are_refused() -> None:
    with raises(ArgumentError, match="4 features"):
        fusion.fuse_linear_bn_eval(nn.Linear(3, 4).eval(), nn.BatchNorm1d(3).eval())
