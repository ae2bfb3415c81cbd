"""Recurrent layers of eager tensors, compared with PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive.torch as ours
from ogive.nn.layers.sequences.recurrent import histories
from tests.eager.both_libraries import numbers

LAYERS: list[tuple[str, dict[str, Any]]] = [
    (kind, options)
    for kind in ("RNN", "LSTM", "GRU")
    for options in (
        {}, {"num_layers": 2, "batch_first": True}, {"bidirectional": True}, {"bias": False},
    )
] + [("RNN", {"nonlinearity": "relu"})]  # fmt: skip


def _pair(kind: str, *sizes: int, **options: Any) -> list[Any]:
    """The same layer in both libraries, with the same weights in float64."""
    layers = [getattr(library.nn, kind)(*sizes, **options).double() for library in (ours, torch)]
    for mine, theirs in zip(*[layer.parameters() for layer in layers], strict=True):
        values = numbers(*mine.shape, dtype="float64") * 0.5
        with torch.no_grad(), ours.no_grad():
            mine.copy_(ours.tensor(values))
            theirs.copy_(torch.tensor(values))
    return layers


def _run(layer: Any, library: Any, inputs: list[Any]) -> tuple[Any, list[Any]]:
    """What a layer gives, and the gradients of a sum of squares of all of it."""
    x, *state = [library.tensor(each).requires_grad_() for each in inputs]
    given = () if not state else (tuple(state) if len(state) > 1 else state[0],)
    made = layer(x, *given)
    flat: list[Any] = []
    for part in made if isinstance(made, tuple) else (made,):
        flat += part if isinstance(part, tuple) else [part]
    total: Any = 0
    for n, part in enumerate(flat):
        upstream = library.tensor(numbers(*part.shape, dtype="float64", seed=n))
        total = library.nn.functional.mse_loss(part, upstream, reduction="sum") + total
    total.backward()
    return tuple(flat), [each.grad for each in (x, *state, *layer.parameters())]


@pytest.mark.parametrize(("kind", "options"), LAYERS)
def test_layers(kind: str, options: dict[str, Any]) -> None:
    mine, theirs = _pair(kind, 3, 4, **options)
    count = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    shape = (2, 5, 3) if "batch_first" in options else (5, 2, 3)
    x = numbers(*shape, dtype="float64")
    state = [numbers(count, 2, 4, dtype="float64", seed=n) for n in (1, 2)]
    inputs = [x, *state[: 2 if kind == "LSTM" else 1]]
    expected, right = _run(theirs, torch, inputs)
    found, gradients = _run(mine, ours, inputs)
    for one, other in zip((*found, *gradients), (*expected, *right), strict=True):
        numpy.testing.assert_allclose(
            one.detach().numpy(), other.detach().numpy(), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_layer_is_done_at_once(kind: str, reverse: bool) -> None:
    layer = getattr(ours.nn, kind)(3, 4)
    parts = 2 if kind == "LSTM" else 1
    x = ours.tensor(numbers(5, 2, 3)).requires_grad_()
    state = tuple([ours.tensor(numbers(2, 4, seed=n)) for n in range(parts)])
    weights = (*layer.parameters(), None)
    made = histories(x, state, weights, kind, "tanh", reverse)
    assert made.is_eager and made.shape == (parts, 5, 2, 4)
    made.backward(ours.tensor(numbers(parts, 5, 2, 4)))
    assert x.is_eager and x.grad.is_eager


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
def test_states_that_settle_are_the_same_expression(kind: str) -> None:
    mine, theirs = _pair(kind, 3, 4)
    x = numbers(5, 2, 3, dtype="float64")
    given, right = ours.tensor(x).requires_grad_(), torch.tensor(x, requires_grad=True)
    made = mine(given)[0]
    made.node  # noqa: B018  (it settles)
    made.square().sum().backward()
    theirs(right)[0].square().sum().backward()
    numpy.testing.assert_allclose(given.grad.numpy(), right.grad.numpy(), rtol=1e-6)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("shape", [(5, 2, 3), (5, 3)])
def test_layers_begin_with_zeros(kind: str, shape: tuple[int, ...]) -> None:
    mine, theirs = _pair(kind, 3, 4)
    x = numbers(*shape, dtype="float64")
    found, expected = mine(ours.tensor(x))[0], theirs(torch.tensor(x))[0]
    numpy.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-6)


@pytest.mark.parametrize("kind", ["RNNCell", "LSTMCell", "GRUCell"])
def test_cells(kind: str) -> None:
    mine, theirs = _pair(kind, 3, 4)
    state = [numbers(2, 4, dtype="float64", seed=n) for n in (1, 2)]
    inputs = [numbers(2, 3, dtype="float64"), *state[: 2 if kind == "LSTMCell" else 1]]
    expected, right = _run(theirs, torch, inputs)
    found, gradients = _run(mine, ours, inputs)
    for one, other in zip((*found, *gradients), (*expected, *right), strict=True):
        numpy.testing.assert_allclose(
            one.detach().numpy(), other.detach().numpy(), rtol=1e-6, atol=1e-8
        )
