"""Hooks on the way back, against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn
from ogive.errors import ArgumentTypeError, ShapeError
from tests.raising import raises

ARRAY = numpy.random.default_rng(6).normal(size=(4, 3))
WEIGHTS = numpy.random.default_rng(7).normal(size=(2, 3))


def run(library: Any, backward_hook: Any, pre_hook: Any, requires_grad: bool = True) -> list[Any]:
    """Two layers with hooks on the first; gives gradients and what the hooks saw."""
    make = Tensor if library is ogive else torch.tensor
    seen: list[Any] = []

    class Pair(library.nn.Module):  # type: ignore[misc]  # a class of either library
        def __init__(self) -> None:
            super().__init__()
            self.weight = library.nn.Parameter(make(WEIGHTS))

        def forward(self, x: Any, y: Any, factor: float) -> Any:
            return (x * y) @ self.weight.T * factor, x.sum(1)

    pair = Pair()
    if backward_hook is not None:
        pair.register_full_backward_hook(
            lambda module, given, out: backward_hook(seen, given, out)
        )
    if pre_hook is not None:
        pair.register_full_backward_pre_hook(lambda module, out: pre_hook(seen, out))
    x = make(ARRAY, requires_grad=requires_grad)
    y = make(ARRAY * 2 + 1, requires_grad=requires_grad)
    first, second = pair(x, y, 0.5)
    (first.tanh().sum() + (second * second).sum()).backward()
    found = [*seen, pair.weight.grad, *([x.grad, y.grad] if requires_grad else [])]
    return [None if each is None else each.detach().numpy() for each in found]


def see(seen: list[Any], given: Any, out: Any) -> None:
    seen.extend([*given, *out])


def change(seen: list[Any], given: Any, out: Any) -> Any:
    return given[0] * 2, given[1] + out[1].sum(), None


def see_outputs(seen: list[Any], out: Any) -> None:
    seen.extend(out)


def change_outputs(seen: list[Any], out: Any) -> Any:
    return out[0] * 3, out[1] - 1


@pytest.mark.parametrize("requires_grad", [True, False])
@pytest.mark.parametrize(
    ("backward_hook", "pre_hook"),
    [(see, None), (None, see_outputs), (change, None), (see, change_outputs),
     (change, change_outputs)],
)  # fmt: skip
def test_hooks_see_and_change_gradients(
    backward_hook: Any, pre_hook: Any, requires_grad: bool
) -> None:
    if not requires_grad and (backward_hook is change or pre_hook is change_outputs):
        pytest.skip("there is nothing to change")
    ours = run(ogive, backward_hook, pre_hook, requires_grad)
    theirs = run(torch, backward_hook, pre_hook, requires_grad)
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            numpy.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-14)


def test_hooks_are_removed_and_cost_nothing_without_gradients() -> None:
    layer, seen = nn.Linear(3, 2), []
    handle = layer.register_full_backward_hook(lambda *given: seen.append(given))
    with ogive.no_grad():
        layer(Tensor(ARRAY).float())
    layer(Tensor(ARRAY).float()).sum().backward()
    assert len(seen) == 1 and seen[0][0] is layer
    handle.remove()
    layer(Tensor(ARRAY).float()).sum().backward()
    assert len(seen) == 1


def test_what_a_hook_returns_must_fit() -> None:
    layer = nn.Linear(3, 2)
    x = ogive.ones(4, 3, requires_grad=True)
    handle = layer.register_full_backward_hook(lambda module, given, out: given * 2)
    with raises(ArgumentTypeError, match="a backward hook returned 2 gradients for 1"):
        layer(x).sum().backward()
    handle.remove()
    layer.register_full_backward_pre_hook(lambda module, out: out[0][0])
    with raises(ShapeError, match=r"pre-hook returned shape \(2,\) for .* \(4, 2\)"):
        layer(x).sum().backward()
