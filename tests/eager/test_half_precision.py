"""Tensors of float16 and bfloat16 are computed with at once, and rounded as PyTorch rounds them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive.torch as ours
from tests.raising import raises

DTYPES = ["float16", "bfloat16"]
RANDOM = numpy.random.default_rng(31)
FIRST, SECOND = RANDOM.normal(size=(2, 5, 7)).astype("float32")
CLASSES = RANDOM.integers(0, 5, 6)

EXACT: dict[str, Callable[..., Any]] = {
    "exp": lambda module, x, y: x.exp(),
    "tanh": lambda module, x, y: x.tanh(),
    "sqrt": lambda module, x, y: x.abs().sqrt(),
    "sigmoid": lambda module, x, y: x.sigmoid(),
    "relu": lambda module, x, y: x.relu(),
    "gelu": lambda module, x, y: module.nn.functional.gelu(x),
    "silu": lambda module, x, y: module.nn.functional.silu(x),
    "a sum": lambda module, x, y: x + y,
    "a product": lambda module, x, y: x * y,
    "a quotient": lambda module, x, y: x / y,
    "a number": lambda module, x, y: x * 2.7 - 1,
    "integers": lambda module, x, y: x * module.arange(7),
    "a number as a tensor": lambda module, x, y: x * module.tensor(2.7),
    "float32": lambda module, x, y: x * y.float(),
    "a comparison": lambda module, x, y: x < y,
    "where": lambda module, x, y: module.where(x < y, x, y.float()),
    "all": lambda module, x, y: x.sum(),
    "mean": lambda module, x, y: x.mean(0),
    "greatest": lambda module, x, y: x.max(1).values,
    "position": lambda module, x, y: x.argmax(1),
    "cumsum": lambda module, x, y: x.cumsum(1),
    "softmax": lambda module, x, y: x.softmax(-1),
    "matmul": lambda module, x, y: x @ y.T,
    "linear": lambda module, x, y: module.nn.functional.linear(x, y),
    "attention": lambda module, x, y: module.nn.functional.scaled_dot_product_attention(
        x[None], y[None], y[None]
    ),
    "layer norm": lambda module, x, y: module.nn.functional.layer_norm(x, (7,)),
    "layer norm of float32 parameters": lambda module, x, y: module.nn.functional.layer_norm(
        x, (7,), module.ones(7), module.zeros(7)
    ),
    "cat": lambda module, x, y: module.cat([x, y]),
    "cat with float32": lambda module, x, y: module.cat([x, y.float()]),
    "a part": lambda module, x, y: x[1:, ::2],
    "elements": lambda module, x, y: x[module.tensor([0, 3, 3])],
    "rows": lambda module, x, y: module.nn.functional.embedding(module.tensor(CLASSES), x),
    "a view": lambda module, x, y: x.T.reshape(5, 7),
    "a copy": lambda module, x, y: x.clone(),
    "pad": lambda module, x, y: module.nn.functional.pad(x, (1, 2)),
    "another dtype": lambda module, x, y: x.double(),
    "integers of floats": lambda module, x, y: (x * 100).to(module.int64),
    "zeros": lambda module, x, y: module.zeros_like(x),
    "full": lambda module, x, y: module.full((2,), 1.1, dtype=x.dtype),
}


def operands(module: Any, dtype: str) -> tuple[Any, Any]:
    kind = getattr(module, dtype)
    x, y = module.tensor(FIRST).to(kind), module.tensor(SECOND).to(kind)
    return x.requires_grad_(), y.requires_grad_()


def values(tensor: Any) -> Any:
    return tensor.detach().double().numpy()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_results_are_pytorchs_to_the_bit(name: str, dtype: str) -> None:
    wanted = EXACT[name](torch, *operands(torch, dtype))
    found = EXACT[name](ours, *operands(ours, dtype))
    assert found.is_eager
    assert str(found.dtype) == str(wanted.dtype)
    numpy.testing.assert_array_equal(values(found), values(wanted))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", EXACT)
def test_gradients_are_pytorchs_to_rounding(name: str, dtype: str) -> None:
    found = []
    for module in (torch, ours):
        x, y = operands(module, dtype)
        made = EXACT[name](module, x, y)
        if not made.requires_grad:
            return
        weights = numpy.linspace(0.5, 1.5, made.numel(), dtype="float32").reshape(made.shape)
        made.backward(module.tensor(weights).to(made.dtype))
        assert x.grad is not None
        assert x.grad.dtype == x.dtype
        found.append([values(each.grad) for each in (x, y) if each.grad is not None])
    step = {"float16": 2**-11, "bfloat16": 2**-8}[dtype]
    for ours_found, wanted in zip(found[1], found[0], strict=True):
        numpy.testing.assert_allclose(ours_found, wanted, rtol=6 * step, atol=12 * step)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operands_of_two_dtypes_are_refused_where_pytorch_refuses_them(dtype: str) -> None:
    x, y = operands(ours, dtype)
    with raises(Exception, match=r"dtype|float32"):
        (x @ y.float().T).realize()


def train(module: Any, dtype: str, by_autocast: bool) -> tuple[list[float], Any]:
    layers, functional = module.nn, module.nn.functional
    random = numpy.random.default_rng(6)
    model = layers.Sequential(
        layers.Conv2d(1, 4, 3, padding=1), layers.BatchNorm2d(4), layers.ReLU(),
        layers.MaxPool2d(2), layers.Flatten(), layers.Linear(64, 32), layers.LayerNorm(32),
        layers.GELU(), layers.Linear(32, 5),
    )  # fmt: skip
    with module.no_grad():
        for parameter in model.parameters():
            noise = random.normal(size=tuple(parameter.shape)) * 0.2
            parameter.copy_(module.tensor(noise.astype("float32")))
    x = module.tensor(random.normal(size=(6, 1, 8, 8)).astype("float32"))
    y = module.tensor(CLASSES)
    kind = getattr(module, dtype)
    if not by_autocast:
        model, x = model.to(kind), x.to(kind)
    optimizer = module.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        if by_autocast:
            with module.autocast("cpu", dtype=kind):
                loss = functional.cross_entropy(model(x), y)
        else:
            loss = functional.cross_entropy(model(x).float(), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert module is torch or all(each.is_eager for each in (*model.parameters(), loss))
    return losses, next(iter(model.parameters())).dtype


@pytest.mark.parametrize("by_autocast", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_models_are_trained_in_half_precision_at_once(dtype: str, by_autocast: bool) -> None:
    wanted, kind = train(torch, dtype, by_autocast)
    found, own_kind = train(ours, dtype, by_autocast)
    assert str(own_kind) == str(kind)
    numpy.testing.assert_allclose(found, wanted, rtol=2e-2)


def test_what_autocast_does_not_know_computes_in_the_dtypes_it_is_given() -> None:
    for module in (torch, ours):
        x, y = module.tensor(FIRST), module.tensor(SECOND)
        with module.autocast("cpu", dtype=module.bfloat16):
            products = [x @ y.T, module.mm(x, y.T), module.einsum("ij,kj->ik", x, y)]
            kept = [x + y, x.exp(), x.softmax(-1), x.sum()]
            kept.append(module.nn.functional.layer_norm(x, (7,)))
            mixed = x[:, :5] + x @ y.T
            losses = [module.nn.functional.mse_loss(x @ y.T, x @ x.T)]
        assert {each.dtype for each in products} == {module.bfloat16}
        assert {each.dtype for each in (*kept, mixed, *losses)} == {module.float32}


def test_views_of_half_precision_are_written_through() -> None:
    for dtype in DTYPES:
        x = ours.zeros(3, 4, dtype=getattr(ours, dtype))
        kept = x[1]
        y = (x * 1).requires_grad_()
        loss = (y.T * 2).sum()
        x[1, 2] = 1.5
        kept[0] += 2
        loss.backward()
        assert x.is_eager
        assert x.tolist()[1] == [2.0, 0.0, 1.5, 0.0]
        assert kept.tolist() == [2.0, 0.0, 1.5, 0.0]
        assert y.grad.tolist() == [[2.0] * 4] * 3


@pytest.mark.parametrize("dtype", [*DTYPES, "float32", "float64"])
def test_the_limits_of_a_dtype_have_all_their_names(dtype: str) -> None:
    found, wanted = ours.finfo(getattr(ours, dtype)), torch.finfo(getattr(torch, dtype))
    for name in ("eps", "max", "min", "tiny", "smallest_normal", "resolution", "bits"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name))
    assert repr(found) == repr(wanted)
