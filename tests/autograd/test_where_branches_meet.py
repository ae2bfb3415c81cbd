"""Derivatives exactly where a function changes its formula: ties, zeros, bounds; as PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive.torch as torch

POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 3.0, 6.0, 20.0, -20.0]

FIRST = """
F.l1_loss(x, torch.zeros_like(x), reduction="none")
F.softplus(x)
F.softplus(x, beta=2.0, threshold=6.0)
F.hardswish(x)
F.hardtanh(x)
F.relu6(x)
F.hardsigmoid(x)
x.clamp(0, 1)
x.fmod(2)
x.fmod(-3)
x % 2
torch.maximum(x, torch.zeros_like(x))
torch.special.i0(x)
torch.special.i0e(x)
torch.special.i1(x)
torch.special.erfcx(x.clamp(-3, 3))
F.margin_ranking_loss(x, torch.zeros_like(x), torch.ones_like(x), reduction="none")
F.hinge_embedding_loss(x, -torch.ones_like(x), reduction="none")
F.multi_margin_loss(torch.stack((x, x * 2, -x), 1), zeros, reduction="none")
F.multilabel_margin_loss(torch.stack((x, x * 2), 1), torch.stack((zeros, zeros - 1), 1))
F.triplet_margin_loss(x[:, None], x[:, None] * 0, x[:, None] * 2, reduction="none")
F.cosine_embedding_loss(x[:, None], x[:, None] * 2, zeros - 1, margin=1.0, reduction="none")
F.binary_cross_entropy((x * 100).sigmoid(), torch.full_like(x, 0.3), reduction="none")
F.binary_cross_entropy(x.clamp(0, 1), torch.full_like(x, 0.3), reduction="none")
""".strip().splitlines()
"""Of those the first derivative; the second is PyTorch's only between the bounds."""

SECOND = """
F.logsigmoid(x)
torch.logaddexp(x, x.detach())
torch.logaddexp(x, x * 2)
torch.logaddexp2(x, torch.ones_like(x))
F.mse_loss(x, torch.ones_like(x), reduction="none")
F.smooth_l1_loss(x, torch.zeros_like(x), reduction="none")
F.huber_loss(x, torch.zeros_like(x), reduction="none")
F.binary_cross_entropy_with_logits(x, torch.full_like(x, 0.3), reduction="none")
F.binary_cross_entropy_with_logits(x, torch.ones_like(x), pos_weight=torch.ones_like(x) * 3)
F.multilabel_soft_margin_loss(torch.stack((x, x * 2), 1), torch.stack((x * 0, x * 0 + 1), 1))
torch.special.erfcx(x.abs())
x.sigmoid()
x.tanh()
F.gelu(x)
F.silu(x)
x ** 3
torch.hypot(x, torch.full_like(x, 3.0))
torch.stack((x, x * 2)).logsumexp(0)
torch.stack((x, x, x * 0)).prod(0)
torch.stack((x, x * 2, x)).logcumsumexp(0)[2]
""".strip().splitlines()


def derivatives(library: Any, expression: str, order: int) -> list[Any]:
    """The values and derivatives up to an order, each of a sum with other weights."""
    x = library.tensor(POINTS, dtype=library.float64, requires_grad=True)
    zeros = library.zeros(len(POINTS), dtype=library.int64)
    names = {"torch": library, "F": library.nn.functional, "x": x, "zeros": zeros}
    value = eval(expression, names)
    found = [value.detach().numpy()]
    for number in range(order):
        weights = library.arange(value.numel(), dtype=library.float64).reshape(value.shape)
        total = (value * (weights + number).cos()).sum()
        (value,) = library.autograd.grad(total, x, create_graph=True)
        found.append(value.detach().numpy())
    return found


@pytest.mark.parametrize(
    ("expression", "order"), [(f, 1) for f in FIRST] + [(f, 2) for f in SECOND]
)
def test_derivatives_where_branches_meet_are_pytorchs(expression: str, order: int) -> None:
    wanted, found = (derivatives(library, expression, order) for library in (pytorch, torch))
    for one, other in zip(wanted, found, strict=True):
        numpy.testing.assert_allclose(other, one, rtol=1e-7, atol=1e-9)


def test_a_saturated_sigmoid_gives_binary_cross_entropy_a_finite_gradient() -> None:
    x = torch.tensor([-1000.0, 1000.0, 0.0], requires_grad=True)
    torch.nn.functional.binary_cross_entropy(x.sigmoid(), torch.tensor([1.0, 0.0, 1.0])).backward()
    assert x.grad is not None
    numpy.testing.assert_allclose(x.grad.numpy(), [0.0, 0.0, -1 / 6], rtol=1e-6)
