"""Gradients of gradients stay eager, and are PyTorch's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive.torch as ours

Case = Callable[..., Any]


def functional(module: Any) -> Any:
    return importlib.import_module(module.__name__ + ".nn.functional")


CASES: dict[str, Case] = {
    "add_sub": lambda T, x, w: ((x + w[0]) * (2 - x) - x.sub(w[0], alpha=0.5)).pow(2),
    "div": lambda T, x, w: x / (w[0] + 3) + 1 / (x + 3),
    "pow": lambda T, x, w: x ** 3 + x ** 2 + x ** 1 + (x + 3) ** -1.5 + x.square() + x ** 0,
    "curves": lambda T, x, w: x.exp() + (x + 3).log() + x.sin() * x.cos() + (x + 3).sqrt(),
    "more_curves": lambda T, x, w: x.expm1() + (x + 3).log1p() + (x + 3).rsqrt() + x.abs() * x,
    "tanh": lambda T, x, w: x.tanh() * (x + 3).reciprocal(),
    "sigmoid": lambda T, x, w: x.sigmoid() + functional(T).silu(x) + functional(T).softplus(x),
    "relu": lambda T, x, w: x.relu() * x + functional(T).leaky_relu(x * x - 1, 0.2) * x,
    "sum": lambda T, x, w: x.pow(3).sum(1) * x.sum(0).mean() + x.mean(1, keepdim=True).exp().sum(),
    "norm": lambda T, x, w: (x * x).norm(2, dim=1) + x.pow(2).norm(),
    "softmax": lambda T, x, w: x.softmax(-1) * x + x.log_softmax(0),
    "mse_loss": lambda T, x, w: functional(T).mse_loss(x * x, x.tanh()),
    "matmul": lambda T, x, w: (x @ w).tanh() @ w.t() + x @ w[:, 0].reshape(3, 1),
    "vector": lambda T, x, w: ((x * x) @ w[:, 0]) * (x[0] @ w[:, 1]),
    "batches": lambda T, x, w: (T.stack([x, x * x]) @ w).exp(),
    "linear": lambda T, x, w: functional(T).linear(x.tanh(), w.t(), w[0]).pow(2),
    "movements": lambda T, x, w: (x * x).reshape(3, 4).t().flatten().unsqueeze(0).expand(2, 12)
    ** 2,
    "parts": lambda T, x, w: x[1:].pow(2) * T.cat([x[0:1], x[0:2] ** 2])
    + x[1:, 1].pow(3).unsqueeze(1),
    "masked_fill": lambda T, x, w: (x * x).masked_fill(x > 0, 2.0) * x,
    "cat": lambda T, x, w: T.cat([x, x * x], 1).pow(3),
    "narrow": lambda T, x, w: x.narrow(0, 1, 2).pow(3) * x.select(1, -1).pow(2)[0],
    "permute": lambda T, x, w: (x * x).reshape(2, 2, 3).permute(2, 0, -2).flip(0) ** 2,
    "triangles": lambda T, x, w: x.pow(3).tril() + x.pow(2).triu(1),
    "where": lambda T, x, w: T.where(x > 0, x.pow(3), x.pow(2)) + (x**2).where(x < 0, x),
    "clamp": lambda T, x, w: x.clamp(-0.5, 0.5).pow(3) + x.clamp_min(0.1) ** 2,
    "clamp_max": lambda T, x, w: x.clamp(max=0) ** 2 + x.clamp_max(0.3).pow(3),
    "picked": lambda T, x, w: x.gather(0, T.tensor([[0, 0, 1]])).pow(3)
    + x.index_select(0, T.tensor([1, 1])).pow(2).sum(),
    "logsumexp": lambda T, x, w: x.logsumexp(1) + x.logsumexp(0, keepdim=True).sum(),
    "cast": lambda T, x, w: x.double().pow(3).float(),
}  # fmt: skip


def second_gradients(T: Any, case: Case, x: Any, w: Any) -> tuple[Any, Any, Any]:
    out = case(T, x, w)
    (first,) = T.autograd.grad(out.sum(), x, create_graph=True)
    found = T.autograd.grad((first * first).sum(), [x, w], allow_unused=True)
    return first, found[0], found[1]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_gradient_can_be_differentiated_again(name: str, dtype: str) -> None:
    random = numpy.random.default_rng(3)
    arrays = [random.uniform(-1.5, 1.5, shape).astype(dtype) for shape in ((4, 3), (3, 3))]
    expected, found = [
        second_gradients(T, CASES[name], *[T.tensor(array).requires_grad_() for array in arrays])
        for T in (torch, ours)
    ]
    assert found[0].is_eager
    limit = 1e-4 if dtype == "float32" else 1e-10
    for one, other in zip(found, expected, strict=True):
        assert (one is None) == (other is None)
        if other is not None:
            numpy.testing.assert_allclose(
                one.detach().numpy(), other.detach().numpy(), rtol=limit, atol=limit
            )


def test_a_third_derivative_is_eager_too() -> None:
    x = ours.tensor([0.5, -0.3], requires_grad=True)
    found = (x**4).sum()
    for _ in range(3):
        (gradient,) = ours.autograd.grad(found, x, create_graph=True)
        found = gradient.sum()
    assert gradient.is_eager
    numpy.testing.assert_allclose(gradient.detach().numpy(), [12.0, -7.2], rtol=1e-5)


def test_weights_of_a_gradient_may_have_gradients_themselves() -> None:
    results = []
    for T in (torch, ours):
        x = T.tensor([1.0, 2.0], requires_grad=True)
        v = T.tensor([0.5, -1.0], requires_grad=True)
        (g,) = T.autograd.grad(x**3, x, grad_outputs=v * v, create_graph=True)
        results.append([part.numpy() for part in T.autograd.grad(g.sum(), [x, v])])
    numpy.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_what_has_no_rule_is_differentiated_twice_by_the_graph() -> None:
    results = []
    for T in (torch, ours):
        x = T.tensor([[2.0, 0.5], [0.3, 1.5]], requires_grad=True)
        (g,) = T.autograd.grad(T.linalg.det(x), x, create_graph=True)
        (h,) = T.autograd.grad((g * g).sum(), x)
        results.append(h.numpy())
    numpy.testing.assert_allclose(results[0], results[1], rtol=1e-4)


def test_a_leaf_that_was_changed_since_is_refused() -> None:
    x = ours.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with ours.no_grad():
        x += 1
    with pytest.raises(RuntimeError):
        ours.autograd.grad(y, x, create_graph=True)
