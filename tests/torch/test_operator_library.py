"""`torch.library`: operators of a program's own, by name."""

from __future__ import annotations

from typing import Any

import pytest
import torch as pytorch

import ogive.torch
from ogive.errors import StateError
from tests.raising import raises

BOTH = pytest.mark.parametrize("torch", [pytorch, ogive.torch], ids=["pytorch", "ogive"])


@BOTH
def test_a_custom_operator_is_found_by_name_and_has_the_gradient_given(torch: Any) -> None:
    def cube(x: pytorch.Tensor) -> pytorch.Tensor:
        return x * x * x

    made = torch.library.custom_op("ogive_tests::cube", mutates_args=())(cube)

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    def backward(ctx: Any, upstream: Any) -> Any:
        (x,) = ctx.saved_tensors
        return upstream * 30 * x * x  # ten times too large, to see whose it is

    made.register_autograd(backward, setup_context=keep)
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    result = torch.ops.ogive_tests.cube(x)
    result.sum().backward()
    assert result.tolist() == [1.0, 8.0]
    assert x.grad.tolist() == [30.0, 120.0]


@BOTH
def test_an_operator_is_defined_by_a_schema_and_implemented_later(torch: Any) -> None:
    library = torch.library.Library("ogive_more", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CPU")
    assert torch.ops.ogive_more.twice(torch.ones(2)).tolist() == [2.0, 2.0]


def test_an_operator_that_nothing_computes_says_so() -> None:
    torch = ogive.torch
    torch.library.define("ogive_tests::nothing", "(Tensor x) -> Tensor")
    with raises(StateError, match="ogive_tests::nothing has no kernel"):
        torch.ops.ogive_tests.nothing(torch.ones(2))
    with raises(AttributeError, match=r"torch\.ops\.ogive_tests has no operator 'other'"):
        _ = torch.ops.ogive_tests.other
    with raises(OSError, match="compiled for PyTorch"):
        torch.ops.load_library("lib.so")
