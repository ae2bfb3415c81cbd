"""Arguments by name, in any order, and tensors that a form gives no gradient to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import ogive.torch as torch
from tests.eager.beside_torch import check, numbers

F = torch.nn.functional

CALLS: list[tuple[Callable[..., Any], list[Any]]] = [
    (lambda lib, x, w, b: lib.nn.functional.linear(x, bias=b, weight=w),
     [numbers("float32", 2, 3), numbers("float32", 4, 3), numbers("float32", 4)]),
    (lambda lib, x, y, w: lib.lerp(x, weight=w, end=y),
     [numbers("float32", n, 3) for n in (2, 1, 2)]),
    (lambda lib, x, w, b: lib.nn.functional.layer_norm(x, (3,), bias=b, weight=w),
     [numbers("float32", 2, 3), numbers("float32", 3), numbers("float32", 3)]),
    (lambda lib, x, w, b: lib.nn.functional.conv1d(x, bias=b, weight=w),
     [numbers("float32", 1, 2, 6), numbers("float32", 3, 2, 3), numbers("float32", 3)]),
    (lambda lib, q, k, v: lib.nn.functional.scaled_dot_product_attention(q, value=v, key=k),
     [numbers("float32", 1, n, 4) for n in (2, 3, 3)]),
]  # fmt: skip


@pytest.mark.parametrize(("call", "given"), CALLS)
def test_gradients_reach_the_arguments_that_names_say(
    call: Callable[..., Any], given: list[Any]
) -> None:
    check(call, given, tolerance=1e-4)


@pytest.mark.parametrize(
    "loss",
    [lambda x, y, w: F.nll_loss(x, y, w), lambda x, y, w: F.cross_entropy(x, weight=w, target=y),
     lambda x, y, w: F.cross_entropy(x, y, w, reduction="sum")],
)  # fmt: skip
def test_weights_of_classes_get_the_gradient_of_the_compiled_loss(loss: Any) -> None:
    x, weights = torch.tensor(numbers("float32", 4, 3)), torch.tensor([1.0, 2.0, 3.0])
    classes = torch.tensor([0, 1, 2, 1])
    weights.requires_grad_()
    loss(x, classes, weights).backward()
    step = 1e-2
    for place in range(3):
        near = [loss(x, classes, _moved(weights, place, by)).item() for by in (step, -step)]
        slope = (near[0] - near[1]) / (2 * step)
        numpy.testing.assert_allclose(weights.grad[place].item(), slope, rtol=1e-2, atol=1e-3)


def _moved(weights: Any, place: int, by: float) -> Any:
    other = weights.detach().clone()
    other[place] += by
    return other
