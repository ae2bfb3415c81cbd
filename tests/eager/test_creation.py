"""New small tensors of `ogive.torch` are eager, and PyTorch's in values, shape and dtype."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch as torch

CALLS = [
    "tensor(1)", "tensor(1.5)", "tensor(True)", "tensor([])", "tensor([1, 2])", "tensor((1.5, 2))",
    "tensor([[1, 2], [3, 4]])", "tensor([True, False])", "tensor([[], []])",
    "tensor([1, 2], dtype=m.float64)", "tensor([1.5, 2], dtype=m.float64)",
    "tensor([0, 1], dtype=m.uint8)", "tensor(3, dtype=m.int8)", "tensor(3, device='cpu')",
    "tensor([1e60, -1e60])", "tensor(2, dtype=m.float32)",
    "zeros(3)", "zeros(2, 3)", "zeros((2, 3))", "zeros([2, 0])", "zeros(())", "zeros(size=(2,))",
    "zeros(2, dtype=m.int64)", "zeros(2, dtype=m.bool)", "zeros(2, device=m.device('cpu'))",
    "ones(3)", "ones(2, 3, dtype=m.uint8)", "ones(m.Size([2, 1]))",
    "full((2, 3), 7)", "full((2,), 1.5)", "full((2,), True)", "full((), 3, dtype=m.float64)",
    "full((2,), 7, dtype=m.int8)", "full(size=(2,), fill_value=3.0)",
    "eye(3)", "eye(2, 3)", "eye(0)", "eye(3, dtype=m.int64)",
    "arange(5)", "arange(2, 10, 3)", "arange(5, 0, -2)", "arange(0)",
    "arange(0, 1, 0.1)", "arange(3.5)", "arange(4, dtype=m.float32)", "arange(1, 0, -0.25)",
    "arange(end=3, start=1)",
    "linspace(0, 1, 5)", "linspace(-2.5, 3, 17)", "linspace(0, 1, 6, dtype=m.float64)",
    "linspace(0, 1, steps=4)", "linspace(3, 3, 3)",
    "logspace(0, 3, 4)", "logspace(-1, 1, 5, base=2.0)",
    "scalar_tensor(3)", "scalar_tensor(3, dtype=m.int64)",
    "as_tensor([1.0, 2])", "as_tensor(3)",
    "zeros_like(x)", "ones_like(x)", "full_like(x, 3)", "zeros_like(x, dtype=m.int64)",
    "ones_like(n)", "full_like(n, 3)", "full_like(n, 1.5, dtype=m.float64)", "zeros_like(x[:, 1:])",
    "tensor(0).new_zeros(2)",
]  # fmt: skip

METHODS = [
    "new_zeros(2, 3)", "new_zeros((2,))", "new_zeros(2, dtype=m.int64)", "new_ones(2)",
    "new_full((2, 2), 3)", "new_tensor([1, 2])", "new_tensor(4)",
    "new_zeros(2, device='cpu')",
]  # fmt: skip


def operands(library: Any) -> dict[str, Any]:
    x = library.tensor([[1.5, 2.0, 3.0], [4.0, 5.0, 6.0]])
    return {"m": library, "x": x, "n": library.tensor([1, 2, 3]), "b": library.tensor([True])}


def check(own: Any, other: Any) -> None:
    assert tuple(own.shape) == tuple(other.shape)
    assert f"torch.{own.dtype.name}" == str(other.dtype)
    numpy.testing.assert_allclose(own.numpy(), other.numpy(), rtol=1e-6)


@pytest.mark.parametrize("call", CALLS)
def test_a_new_tensor_is_pytorchs_and_eager(call: str) -> None:
    own = eval(f"m.{call}", operands(torch))
    assert own.is_eager
    check(own, eval(f"m.{call}", operands(pytorch)))


@pytest.mark.parametrize("operand", ["x", "n", "b"])
@pytest.mark.parametrize("call", METHODS)
def test_a_tensor_beside_another_is_pytorchs_and_eager(call: str, operand: str) -> None:
    if operand == "b" and "3)" in call and "full" in call:
        pytest.skip("an integer is no truth value")
    own = eval(f"{operand}.{call}", operands(torch))
    assert own.is_eager
    check(own, eval(f"{operand}.{call}", operands(pytorch)))


@pytest.mark.parametrize("call", ["zeros", "ones", "empty", "rand", "randn"])
def test_a_new_tensor_may_be_a_leaf(call: str) -> None:
    made = getattr(torch, call)(3, requires_grad=True)
    assert made.is_eager
    assert made.requires_grad
    assert made.is_leaf


@pytest.mark.parametrize(
    "call",
    ["zeros(300, 300)", "arange(70000)", "zeros(2, dtype=m.uint16)", "ones(2, dtype=m.float8_e5m2)",
     "randn(70000)", "eye(300)"],
)  # fmt: skip
@pytest.mark.usefixtures("no_allowance")
def test_what_is_large_or_of_another_dtype_is_lazy(call: str) -> None:
    own = eval(f"m.{call}", {"m": torch})
    assert not own.is_eager
    assert tuple(own.shape) == tuple(eval(f"m.{call}", {"m": pytorch}).shape)


@pytest.mark.parametrize(
    "call",
    ["zeros(-1)", "full((2,), 'a')", "tensor([[1], [2, 3]])", "tensor('a')", "arange(1, 2, 0)"],
)
def test_what_is_wrong_is_the_error_of_lazy_tensors(call: str) -> None:
    with pytest.raises(ogive.OgiveError) as eager:
        eval(f"m.{call}", {"m": torch})
    ogive.configure(eager=False)
    try:
        with pytest.raises(ogive.OgiveError) as lazy:
            eval(f"m.{call}", {"m": torch})
    finally:
        ogive.configure(eager=True)
    assert type(eager.value) is type(lazy.value)


def test_a_tensor_is_a_copy_of_an_array() -> None:
    array = numpy.ones(3, "float32")
    made = torch.tensor(array)
    array[0] = 5
    assert made.tolist() == [1.0, 1.0, 1.0]


def test_a_tensor_of_an_eager_one_is_a_copy() -> None:
    first = torch.tensor([1.0, 2.0])
    made = torch.tensor(first)
    first[0] = 5
    assert made.is_eager
    assert made.tolist() == [1.0, 2.0]


def test_the_default_dtype_is_that_of_new_floats() -> None:
    torch.set_default_dtype(torch.float64)
    try:
        assert torch.zeros(2).dtype is ogive.float64
        assert torch.tensor([1.5]).dtype is ogive.float64
        assert torch.rand(2).dtype is ogive.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_new_tensors_of_a_captured_function_are_lazy() -> None:
    @ogive.jit
    def captured(x: Any) -> Any:
        made = torch.ones(2)
        assert not made.is_eager
        return x + made

    given = ogive.Tensor([1.0, 2.0])
    assert captured(given).tolist() == captured(given).tolist() == [2.0, 3.0]


def test_functions_of_ogive_itself_stay_lazy() -> None:
    assert not ogive.zeros(2).is_eager
    assert not ogive.Tensor([1.0]).is_eager
    assert not ogive.rand(2).is_eager
