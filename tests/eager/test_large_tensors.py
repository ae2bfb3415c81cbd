"""Large tensors are computed with at once at first, and compiled where a program goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive.torch
from benchmarks.token_model import token_model
from ogive.compiler.live.small_graphs import SmallGraphs
from ogive.counters import counters
from ogive.eager.shapes.adding import combine_at
from ogive.tensor.eager_sizes import LARGE, SMALL, Allowance, allowance


def test_small_tensors_take_nothing_from_the_allowance() -> None:
    own = Allowance(10)
    assert not own.is_beyond(SMALL)
    assert own.left == 10


@pytest.mark.usefixtures("no_allowance")
def test_operations_on_large_tensors_use_up_the_allowance() -> None:
    own = Allowance(SMALL + 1)
    assert not own.is_beyond(SMALL + 1)
    assert own.is_beyond(SMALL + 1)
    assert not own.may_hold(SMALL + 1)


def test_what_is_larger_than_any_is_compiled() -> None:
    own = Allowance(1 << 40)
    assert own.is_beyond(LARGE + 1)
    assert not own.may_hold(LARGE + 1)


def test_more_products_than_a_large_tensor_has_elements_are_added_up_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(allowance, "left", 1 << 24)
    x, weight = ogive.torch.ones(8, 64, 16, 16), ogive.torch.ones(192, 64, 3, 3)
    assert ogive.torch.conv2d(x, weight, padding=1).is_eager
    assert allowance.left <= (1 << 24) - 8 * 256 * 192 * 64 * 9 // 32
    monkeypatch.setattr(allowance, "left", 0)
    assert not ogive.torch.conv2d(x, weight, padding=1).is_eager


def train(library: Any, steps: int) -> list[float]:
    random = numpy.random.default_rng(5)
    x = library.tensor(random.normal(size=(800, 100)).astype("float32"))
    y = library.tensor(random.integers(0, 4, 800))
    weights = [
        library.tensor((random.normal(size=shape) * 0.1).astype("float32"), requires_grad=True)
        for shape in ((100, 96), (96, 4))
    ]
    optimizer = library.optim.Adam(weights, lr=0.01)
    losses = []
    for _ in range(steps):
        hidden = (x @ weights[0]).relu()
        loss = library.nn.functional.cross_entropy(hidden @ weights[1], y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_training_goes_on_when_the_allowance_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(allowance, "left", 1 << 21)
    numpy.testing.assert_allclose(train(ogive.torch, 6), train(torch, 6), rtol=1e-4)
    assert allowance.left <= 0


@pytest.mark.parametrize("operation", [numpy.add, numpy.maximum])
@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((5, 4), numpy.array([1, 1, -2])),
        ((5, 4), (numpy.array([0, 0, 4]), numpy.array([3, -1, 2]))),
        ((3, 5, 2), (slice(None), numpy.array([[0, 1], [1, 1]]))),
        ((5, 4), (numpy.array([2]), slice(1, 3))),
        ((6,), numpy.array([5, 5, 0])),
        ((5, 4), numpy.array([True, False, True, False, False])),
    ],
)
def test_combining_at_positions_is_that_of_numpy(operation: Any, shape: Any, index: Any) -> None:
    random = numpy.random.default_rng(1)
    expected = random.normal(size=shape)
    found = expected.copy()
    given = random.normal(size=expected[index].shape)
    operation.at(expected, index, given)
    combine_at(operation, found, index, given)
    numpy.testing.assert_array_equal(found, expected)


def used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave large tensors to the compiler from here on; those that are there stay eager."""
    monkeypatch.setattr(allowance, "left", 0)
    monkeypatch.setattr(SmallGraphs, "take", lambda self: False)


def ones(*shape: int) -> Any:
    return ogive.torch.tensor(numpy.ones(shape, "float32"))


LITTLE: list[tuple[Callable[..., Any], list[tuple[int, ...]]]] = [
    (lambda w, x: torch_linear(x, w), [(1024, 256), (1, 256)]),
    (lambda w, x: x @ w, [(256, 1024), (2, 256)]),
    (lambda w, x: w @ x, [(1024, 256), (256,)]),
    (lambda w, x: ogive.torch.addmm(x, x, w), [(300, 300), (1, 300)]),
    (lambda w: ogive.torch.nn.functional.embedding(ogive.torch.tensor([3, 999]), w), [(1000, 256)]),
    (lambda w: w[5:9], [(1000, 256)]),
    (lambda w: w[ogive.torch.tensor([1, 2])], [(1000, 256)]),
    (lambda w: w.index_select(1, ogive.torch.tensor([1, 2])), [(1000, 256)]),
    (lambda w: w.gather(1, ogive.torch.tensor([[1, 2]])), [(1000, 256)]),
    (lambda w: w.take(ogive.torch.tensor([1, 77777])), [(1000, 256)]),
    (lambda k, row: ogive.torch.cat([k, row], 2), [(1, 4, 500, 64), (1, 4, 1, 64)]),
    (lambda q, k: torch_attention(q, k, k), [(1, 4, 1, 64), (1, 4, 500, 64)]),
    (lambda w: w.T[7], [(1000, 256)]),
]


def torch_linear(x: Any, weight: Any) -> Any:
    return ogive.torch.nn.functional.linear(x, weight)


def torch_attention(query: Any, key: Any, value: Any) -> Any:
    return ogive.torch.nn.functional.scaled_dot_product_attention(query, key, value)


@pytest.mark.parametrize("number", range(len(LITTLE)))
def test_little_work_on_large_tensors_is_done_at_once_for_ever(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation, shapes = LITTLE[number]
    tensors = [ones(*shape) for shape in shapes]
    assert max(tensor.numel() for tensor in tensors) > SMALL
    used_up(monkeypatch)
    result = operation(*tensors)
    assert result.is_eager
    assert all(tensor.is_eager for tensor in tensors)
    assert allowance.left == 0


MUCH: list[tuple[Callable[..., Any], list[tuple[int, ...]]]] = [
    (lambda w: w + 1, [(1000, 256)]),
    (lambda w, x: x @ w, [(256, 1024), (200, 256)]),
    (lambda k, row: ogive.torch.cat([k, row], 2), [(1, 4, 1500, 64), (1, 4, 1, 64)]),
    (lambda w: w.index_select(0, ogive.torch.arange(300)), [(1000, 256)]),
    (lambda w: w.take(ogive.torch.zeros(80000, dtype=ogive.torch.int64)), [(1000, 256)]),
]


@pytest.mark.parametrize("number", range(len(MUCH)))
def test_much_work_is_left_to_the_compiler_when_the_allowance_is_used_up(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    operation, shapes = MUCH[number]
    tensors = [ones(*shape) for shape in shapes]
    used_up(monkeypatch)
    assert not operation(*tensors).is_eager


def test_gradients_of_large_operands_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = ones(1024, 256).requires_grad_()
    used_up(monkeypatch)
    made = torch_linear(ones(1, 256), weight)
    assert not made.is_eager
    made.sum().backward()
    numpy.testing.assert_array_equal(weight.grad.numpy(), numpy.ones((1024, 256)))


def test_a_text_with_a_cache_that_grows_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    generate = token_model(ogive.torch)
    first = generate(5)
    used_up(monkeypatch)
    scheduled = counters()["schedules_created"]
    assert generate(5) == first
    assert counters()["schedules_created"] == scheduled


def test_large_plain_parameters_are_read_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    used_up(monkeypatch)
    table, layer = ogive.torch.nn.Embedding(1000, 256), ogive.torch.nn.Linear(256, 1024)
    assert not layer.weight.is_eager
    with ogive.torch.no_grad():
        layer.weight.fill_(0.5)
        layer.bias.fill_(1.0)
        table.weight.fill_(2.0)
        assert layer.weight.sum().item() + table.weight.sum().item() == 643072
        made = layer(table(ogive.torch.tensor([7])))
        assert made.is_eager
        layer.weight.mul_(2.0)
        assert layer.weight.sum().item() == 262144
        again = layer(table(ogive.torch.tensor([7])))
    assert not (layer.weight.is_eager or table.weight.is_eager)
    assert made.tolist() == [[257.0] * 1024]
    assert again.tolist() == [[513.0] * 1024]
