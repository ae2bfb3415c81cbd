"""Casts of eager tensors, beside PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import ogive
import ogive.torch as ours
from tests.eager.beside_torch import check, floats, numbers

NAMES = ["float", "double", "int", "long", "short", "char", "byte", "bool"]
DTYPES = ["float32", "float64", "int64", "int8", "uint8", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_casts_by_name_are_those_of_pytorch(name: str, dtype: str) -> None:
    array = numbers(dtype, 2, 3, least=0)
    check(lambda module, x: getattr(x, name)(), [array])


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_by_dtype_are_those_of_pytorch(dtype: str) -> None:
    array = floats([0.0, 1.5, 3.9, 100.25])
    check(lambda module, x: x.to(getattr(module, dtype)), [array])
    check(lambda module, x: x.to("cpu", getattr(module, dtype)), [array])
    check(lambda module, x: x.to(dtype=getattr(module, dtype)), [array])
    check(lambda module, x: x.to(device="cpu"), [array])
    check(lambda module, x: x.type_as(module.tensor(1, dtype=getattr(module, dtype))), [array])
    check(lambda module, x: x.to(module.tensor(1, dtype=getattr(module, dtype))), [array])


def test_negative_floats_are_cut_towards_zero() -> None:
    check(lambda module, x: x.long(), [floats([-1.5, -0.5, 2.9])])


def test_a_tensor_that_is_so_already_is_given_itself() -> None:
    x = ours.tensor([1.0, 2.0])
    for same in (x.float(), x.to(ours.float32), x.to("cpu"), x.cpu(), x.contiguous()):
        assert same is x


def test_a_copy_is_another_tensor() -> None:
    x = ours.tensor([1.0, 2.0])
    y = x.to(ours.float32, copy=True)
    x[0] = 9.0
    assert y.tolist() == [1.0, 2.0]
    assert y.is_eager


def test_contiguous_puts_elements_in_order() -> None:
    x = ours.tensor(numbers("float32", 3, 4))
    ordered = x[:, 1:3].contiguous()
    assert ordered.is_eager
    x[0, 1] = 99.0
    assert ordered.tolist() != x[:, 1:3].tolist()
    check(lambda module, a: a[:, 1:3].contiguous(), [numbers("float32", 3, 4)])


@pytest.mark.parametrize("value", [1e30, float("nan"), -1e30])
def test_floats_without_an_integer_near_are_left_to_the_compiler(value: float) -> None:
    found: Any = ours.tensor([value]).long()
    assert not found.is_eager
    assert found.tolist() == ogive.Tensor([value]).long().tolist()


def test_dtypes_that_are_never_eager_are_made_plain() -> None:
    found = ours.tensor([1.5]).to(ours.float8_e5m2)
    assert not found.is_eager
    assert found.tolist() == [1.5]
