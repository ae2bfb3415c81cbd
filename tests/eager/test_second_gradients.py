"""Gradients of gradients of small tensors, at once and beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.torch

FUNCTIONS: dict[str, Any] = {
    "sums": lambda T, x, w: (x + w).mul(w + x).sum() + (2 - x).sum() + (x - w * 2).pow(3).sum(),
    "added in parts": lambda T, x, w: (T.add(x, w, alpha=3) * T.sub(w, x, alpha=2)).sum(),
    "quotients": lambda T, x, w: (x / w + 3 / x + w / 2.0).sum(),
    "broadcast": lambda T, x, w: (x * w[0] + w[:, :1] * x * x).sum(),
    "powers": lambda T, x, w: (x**2.5 + w**1 * w**0 + x.square() * w).sum(),
    "exponentials": lambda T, x, w: (x.exp() * w.log() + w.log1p() * x.expm1()).sum(),
    "waves": lambda T, x, w: (x.sin() * w.cos() + (x / 3).tan() + w.atan()).sum(),
    "hyperbolic": lambda T, x, w: (x.sinh() + (x * w).cosh() + x.tanh() * w.sigmoid()).sum(),
    "roots": lambda T, x, w: (x.sqrt() * w + w.rsqrt() + x.reciprocal() * w.abs()).sum(),
    "activations": lambda T, x, w: (
        T.nn.functional.silu(x) + T.relu(x - w) * T.relu(w - x / 2) + T.relu(x - w) ** 2
    ).sum(),
    "reductions": lambda T, x, w: (
        (x * x).sum(1) * w.sum(0, keepdim=True).mean() + (x * w).mean(dim=1).pow(2)
    ).sum(),
    "products": lambda T, x, w: ((x @ w.T) @ (w @ x[0]) + (w[0] @ x.T) * (x[1] @ w[1])).sum(),
    "batches": lambda T, x, w: T.bmm(x[None] * 2, w.T[None]).pow(2).sum(),
    "layers": lambda T, x, w: T.tanh(T.nn.functional.linear(x, w, w[:, 0])).pow(2).sum(),
    "movements": lambda T, x, w: (
        x.reshape(-1) * w.transpose(0, 1).flatten() + x.T.unsqueeze(0).squeeze().reshape(-1)
    ).pow(2).sum() + x.clone().view(-1)[1:4].expand(2, 3).pow(3).sum(),
    "joined": lambda T, x, w: (
        T.cat([x, w * w, x], 1).sin().sum() * T.stack([x * x, w], 1).pow(2).sum()
    ),
    "cut": lambda T, x, w: (x.split(2, 1)[0] * w.unbind(0)[0][:2]).pow(2).sum(),
}


def _second(library: Any, name: str) -> tuple[list[Any], Any]:
    """The gradients of a weighted sum of the gradients of a function."""
    draw = numpy.random.default_rng(3)
    values = [draw.uniform(0.5, 1.5, (3, 3)) for _ in range(3)]
    x, w = [library.tensor(each, requires_grad=True) for each in values[:2]]
    weights = library.tensor(values[2])
    first = library.autograd.grad(FUNCTIONS[name](library, x, w), (x, w), create_graph=True)
    second = library.autograd.grad((first[0] * weights + first[1].sin()).sum(), (x, w))
    return [*first, *second], first


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_of_gradients_are_computed_at_once(name: str) -> None:
    given, first = _second(ogive.torch, name)
    wanted, _ = _second(torch, name)
    assert all(each.is_eager for each in first)
    for one, other in zip(given, wanted, strict=True):
        numpy.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-10)


def test_backward_adds_gradients_that_have_gradients() -> None:
    found = []
    for library in (ogive.torch, torch):
        x = library.tensor([1.0, 2.0], requires_grad=True)
        (x**3).sum().backward(create_graph=True)
        (x**2).sum().backward(create_graph=True)
        first = x.grad
        x.grad = None
        first.pow(2).sum().backward()
        found.append((first.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


def test_an_operation_without_a_rule_leaves_second_gradients_to_the_compiler() -> None:
    found = []
    for library in (ogive.torch, torch):
        x = library.tensor([[0.5, 2.0], [1.0, 3.0]], requires_grad=True)
        (first,) = library.autograd.grad(x.softmax(1).log().sum(), x, create_graph=True)
        found.append(library.autograd.grad((first * first).sum(), x)[0].numpy())
    numpy.testing.assert_allclose(found[0], found[1], rtol=1e-5, atol=1e-6)


def test_second_gradients_under_no_grad_are_recorded() -> None:
    x = ogive.torch.tensor([2.0], requires_grad=True)
    y = (x**3).sum()
    with ogive.torch.no_grad():
        (first,) = ogive.torch.autograd.grad(y, x, create_graph=True)
    assert first.requires_grad
    assert ogive.torch.autograd.grad(first.sum(), x)[0].tolist() == [12.0]


def test_a_leaf_that_was_changed_is_left_to_the_compiler() -> None:
    x = ogive.torch.tensor([2.0], requires_grad=True)
    y = (x * x).sum()
    with ogive.torch.no_grad():
        x += 1
    with pytest.raises(RuntimeError):
        ogive.torch.autograd.grad(y, x, create_graph=True)
