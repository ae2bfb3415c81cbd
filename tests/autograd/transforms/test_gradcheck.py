"""`gradcheck` accepts what is right and refuses what is wrong."""

from __future__ import annotations

from typing import Any

import ogive
from ogive import Tensor
from ogive.autograd import Function, gradcheck
from ogive.errors import DtypeError, GradientError
from tests.raising import raises


def doubles(*values: float) -> Tensor:
    return Tensor([*values], dtype=ogive.float64, requires_grad=True)


class Square(Function):
    """x², with a slope that is off by a factor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * x

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        return upstream * x * 2 * ctx.factor, None


def test_right_gradients_pass_for_several_inputs_and_results() -> None:
    matrix = Tensor([[1.0, 2.0], [3.0, -1.0]], dtype=ogive.float64, requires_grad=True)
    assert gradcheck(lambda a, b, n: (a @ b, (a * n).sin().sum()), (matrix, doubles(0.5, 2.0), 3))


def test_a_rule_of_ones_own_is_judged() -> None:
    x = doubles(0.5, -1.5)
    assert gradcheck(lambda x: Square.apply(x, 1.0), x)
    assert not gradcheck(lambda x: Square.apply(x, 1.1), x, raise_exception=False)
    with raises(GradientError, match="gradient of result 0 for input 0 is"):
        gradcheck(lambda x: Square.apply(x, 1.1), x)


def test_what_cannot_be_compared_is_refused() -> None:
    with raises(DtypeError, match="input 0 is of float32, not float64"):
        gradcheck(lambda x: x * x, Tensor([1.0], requires_grad=True))
    with raises(GradientError, match="none of the inputs requires gradients"):
        gradcheck(lambda x: x * x, [Tensor([1.0]), 2])
