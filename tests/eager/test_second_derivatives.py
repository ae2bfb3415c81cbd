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
    "error_functions": lambda T, x, w: x.erf() * x + x.erfc().pow(2),
    "logarithms": lambda T, x, w: (x + 3).log2() * (x + 3).log10() + x.exp2(),
    "arcs": lambda T, x, w: (x / 2).asin() * (x / 2).acos() + x.asinh() + (x / 2).atanh()
    + (x + 3).acosh() + x.atan2(w[0] + 2),
    "powers": lambda T, x, w: (x + 2) ** (w[0] + 3) + 2 ** x + (x + 2).pow(w[1]),
    "straight": lambda T, x, w: (x.floor() + x.sign() + x % 1 + x.fmod(0.5)) * x.pow(3),
    "bends": lambda T, x, w: sum(
        getattr(functional(T), name)(x).pow(2)
        for name in ("hardtanh", "relu6", "softshrink", "hardshrink", "hardswish")
    ),
    "gelu": lambda T, x, w: functional(T).gelu(x) * functional(T).gelu(x * x, approximate="tanh"),
    "units": lambda T, x, w: sum(
        getattr(functional(T), name)(x * 2).pow(2)
        for name in ("elu", "celu", "selu", "mish", "logsigmoid", "softsign", "tanhshrink")
    ),
    "softplus": lambda T, x, w: functional(T).softplus(x, 20).pow(2),
    "gates": lambda T, x, w: functional(T).glu(T.cat([x, x * x], 1)).pow(2)
    + functional(T).prelu(x, w[0]) ** 2 + (x / 4 + 0.5).logit(),
    "extremes": lambda T, x, w: T.maximum(x, w[0]) ** 2 * T.minimum(x * x, w[1])
    + x.pow(3).amax(1, keepdim=True) + x.pow(2).max() + x.pow(3).min(0).values,
    "pairs": lambda T, x, w: T.logaddexp(x, w[0]) ** 2 + T.hypot(x, w[1]) + T.lerp(x, w[0], w[1])
    + T.addcmul(x, w[0], w[1]) ** 2 + T.addcdiv(x, w[0], w[1] + 3) + T.xlogy(w[0], x + 2),
    "deviations": lambda T, x, w: x.pow(2).var(1, keepdim=True) * x.std() + x.var(0, correction=0),
    "norms": lambda T, x, w: x.norm(1, dim=0) ** 2 + x.norm(3) * functional(T).normalize(x),
    "prod": lambda T, x, w: x.prod(1, keepdim=True) * x.prod(),
    "order": lambda T, x, w: x.sort(0).values.pow(3) + x.topk(2, 0).values.pow(2).sum()
    + x.pow(2).median() + x.cummax(0).values ** 2 + x.kthvalue(2, 0).values ** 3,
    "chosen": lambda T, x, w: x[[0, 2]][:, [1, 1]].pow(3).sum() + x[x > 0].pow(2).sum()
    + (x * x).masked_select(x < 0).sum() + x.pow(2).take(T.tensor([1, 1])).sum() * x,
    "put": lambda T, x, w: x.index_add(0, T.tensor([1, 1, 0]), w) ** 2
    + x.scatter_add(0, T.tensor([[0, 1, 1]] * 3), w) ** 3
    + x.index_put((T.tensor([2]),), w[0] ** 2) ** 2,
    "repeated": lambda T, x, w: (x.repeat(2, 1) ** 3).sum(0) + x.roll(1, 0) ** 2 * x
    + x.repeat_interleave(2, 1).pow(2).sum() + functional(T).pad(x, (1, 1), value=2.0).pow(3).sum(),
    "diagonals": lambda T, x, w: (w @ w).diagonal() ** 2 * x + (w @ w).trace() ** 2
    + T.diag(x[0] ** 2).pow(2).sum() + T.diag_embed(x**2).sum() * x,
    "running": lambda T, x, w: x.cumsum(1).pow(3) + x.unfold(0, 2, 1).pow(3).sum(),
    "einsum": lambda T, x, w: T.einsum("ij,jk,kl->il", x, w, w) ** 2
    + T.tensordot(x, w, dims=1) ** 2 + T.outer(x[0], w[0]).pow(2).sum(),
    "addmm": lambda T, x, w: T.addmm(x, x, w, beta=0.5).pow(2) + T.addmv(x[:, 0], x, w[0])[:, None],
    "conv1d": lambda T, x, w: functional(T).conv1d(x[None], w[None].tanh().repeat(2, 2, 1)[:, :4],
        x[:2, 0], padding=1).pow(2),
    "conv2d": lambda T, x, w: functional(T).conv2d(x.reshape(1, 2, 2, 3).exp(), w[None, :2, None]
        .repeat(2, 1, 1, 1)[..., :2], padding=1, stride=2) ** 2,
    "conv_transpose2d": lambda T, x, w: functional(T).conv_transpose2d(x.reshape(1, 2, 2, 3),
        w.reshape(1, 3, 3)[:, :2, None].repeat(2, 1, 1, 1), stride=2).pow(3),
    "pools": lambda T, x, w: functional(T).max_pool2d(x[None].pow(2), 2, 1).pow(2).sum()
    + functional(T).avg_pool2d(x[None].pow(2), 2).sum() * x
    + functional(T).interpolate(x[None], scale_factor=2).pow(3).sum(),
    "l1_losses": lambda T, x, w: functional(T).l1_loss(x * x, x.exp())
    + functional(T).smooth_l1_loss(x * x, x.tanh(), beta=0.5)
    + functional(T).huber_loss(x**3, x, reduction="sum"),
    "kl_div": lambda T, x, w: functional(T).kl_div(x.log_softmax(1), w[0].softmax(0).expand(4, 3),
        reduction="batchmean") + functional(T).kl_div(x, x * x, log_target=True),
    "binary": lambda T, x, w: functional(T).binary_cross_entropy(x.sigmoid(), (x > 0).to(x.dtype))
    + functional(T).binary_cross_entropy_with_logits(x, w[0].sigmoid().expand(4, 3),
        pos_weight=T.tensor([1.0, 2.0, 3.0], dtype=x.dtype)),
    "cross_entropy": lambda T, x, w: functional(T).cross_entropy(x @ w, T.tensor([0, 2, 1, -100]),
        label_smoothing=0.1, weight=T.tensor([1.0, 2.0, 0.5], dtype=x.dtype))
    + functional(T).cross_entropy(x, x.softmax(1), reduction="sum")
    + functional(T).nll_loss(x.log_softmax(1), T.tensor([0, 2, 1, 1])),
    "layer_norm": lambda T, x, w: functional(T).layer_norm(x, (3,), w[0], w[1]) ** 3
    + functional(T).rms_norm(x, (3,), w[2]) ** 2,
    "batch_norm": lambda T, x, w: functional(T).batch_norm(x, None, None, w[0], w[1], True).pow(3)
    + functional(T).group_norm(x[None], 2, x[:, 0])[0].pow(2)
    + functional(T).batch_norm(x, w[0].detach(), w[1].detach() ** 2 + 1, w[2]) ** 2,
    "attention": lambda T, x, w: functional(T).scaled_dot_product_attention(x[None], x[None] ** 2,
        x[None] @ w, is_causal=True) ** 2,
    "cdist": lambda T, x, w: T.cdist(x, w + 3,
        compute_mode="use_mm_for_euclid_dist") ** 3,
    "inverses": lambda T, x, w: T.linalg.det(w + 3 * T.eye(3, dtype=x.dtype)) * x
    + T.logdet(w @ w.T + 3 * T.eye(3, dtype=x.dtype)) ** 2
    + T.linalg.solve(w + 3 * T.eye(3, dtype=x.dtype), x.T).T ** 2
    + T.linalg.inv(w + 3 * T.eye(3, dtype=x.dtype)).pow(2).sum(),
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


def test_a_third_derivative_of_a_convolution_is_eager_too() -> None:
    results = []
    for T in (torch, ours):
        random = numpy.random.default_rng(5)
        x = T.tensor(random.normal(size=(1, 2, 5)), requires_grad=True)
        w = T.tensor(random.normal(size=(3, 2, 2)), requires_grad=True)
        (first,) = T.autograd.grad(
            functional(T).conv1d(x, w).pow(4).sum(), x, create_graph=True
        )
        (second,) = T.autograd.grad(first.pow(2).sum(), w, create_graph=True)
        third = T.autograd.grad(second.sum(), [x, w])
        results.append([part.detach().numpy() for part in (first, second, *third)])
    assert second.is_eager
    for one, other in zip(*results, strict=True):
        numpy.testing.assert_allclose(other, one, rtol=1e-9)


def test_a_gradient_of_a_product_that_settles_can_be_differentiated_by_the_graph() -> None:
    results = []
    for T in (torch, ours):
        x = T.tensor([[2.0, 0.5], [0.3, 1.5]], requires_grad=True)
        y = T.outer(x[0], x[1])
        (g,) = T.autograd.grad(y.pow(2).sum(), x, create_graph=True)
        (h,) = T.autograd.grad(T.linalg.matrix_exp(g / 10).sum(), x, create_graph=True)
        (i,) = T.autograd.grad(h.pow(2).sum(), x)
        results.append(i.numpy())
    numpy.testing.assert_allclose(results[0], results[1], rtol=1e-4)


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
        (g,) = T.autograd.grad(T.linalg.matrix_exp(x).sum(), x, create_graph=True)
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
