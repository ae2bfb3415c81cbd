"""Operations with a gradient of their own, as classes, against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive.errors import GradientError
from tests.raising import raises


def rounding(library: Any) -> Any:
    class Rounding(library.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, scale: float) -> Any:
            ctx.save_for_backward(x)
            ctx.scale = scale
            return (x * scale).round() / scale

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            (x,) = ctx.saved_tensors
            changed = gradient.clone()
            changed[x.abs() > 1] = 0
            return changed * ctx.scale, None

    return Rounding


def products(library: Any) -> Any:
    class Products(library.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(a: Any, b: Any) -> Any:
            return a * b, a + b, a.sign()

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.mark_non_differentiable(output[2])

        @staticmethod
        def backward(ctx: Any, product: Any, total: Any, sign: Any) -> Any:
            _, b = ctx.saved_tensors
            assert ctx.needs_input_grad == (True, False)
            return product * b + 7 * total, None

    return Products


@pytest.mark.parametrize("inner", [0.4, 1.7])
def test_a_function_of_a_tensor_and_a_number(inner: float) -> None:
    found = []
    for library in (ogive, torch):
        x: Any = library.tensor([inner, -0.3], dtype=library.float64, requires_grad=True)
        y = rounding(library).apply(x, 4.0)
        (y * y).sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy()))
    numpy.testing.assert_array_equal(found[0], found[1])


def test_several_results_of_which_one_has_no_gradient() -> None:
    found = []
    for library in (ogive, torch):
        a: Any = library.tensor([1.5, -2.0], dtype=library.float64, requires_grad=True)
        b: Any = library.tensor([3.0, 4.0], dtype=library.float64)
        product, total, sign = products(library).apply(a, b)
        assert not sign.requires_grad and total.requires_grad
        (product * sign + total * 2).sum().backward()
        found.append(a.grad.numpy())
    numpy.testing.assert_array_equal(found[0], found[1])


def test_too_few_gradients_are_an_error() -> None:
    class Wrong(ogive.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            return gradients[0]

    x = ogive.ones(2, requires_grad=True)
    with raises(GradientError, match=r"Wrong\.backward returned 1 gradients for 2"):
        Wrong.apply(x, x).sum().backward()
