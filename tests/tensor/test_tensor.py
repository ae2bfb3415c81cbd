"""The class `Tensor` is a table: a method is a function of its family's module."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest

from ogive import Tensor
from ogive.tensor.core import Core
from ogive.tensor.late_methods import load_methods

load_methods(Tensor)
METHODS = sorted(
    name
    for name, value in vars(Tensor).items()
    if inspect.isfunction(value) and not name.startswith("__")
)


def test_tensor_has_one_base() -> None:
    assert Tensor.__mro__ == (Tensor, Core, object)


def test_a_tensor_keeps_nothing_of_its_own_among_the_attributes_of_programs() -> None:
    x = Tensor([1.0])
    assert vars(x) == {}
    x.mark = True  # type: ignore[attr-defined]
    assert vars(x) == {"mark": True}


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_described_takes_a_tensor_first_and_can_be_pickled(name: str) -> None:
    method: Any = getattr(Tensor, name)
    assert method.__doc__
    first = next(iter(inspect.signature(method).parameters.values()))
    assert first.name in ("self", "A")
    assert pickle.loads(pickle.dumps(method)) is method


def test_help_shows_a_method_with_its_arguments() -> None:
    assert list(inspect.signature(Tensor.sum).parameters)[:4] == ["self", "dim", "keepdim", "dtype"]
    assert "The sum." in (inspect.getdoc(Tensor.sum) or "")
    assert inspect.unwrap(Tensor.sum).__module__ == "ogive.tensor.reduction.basic_reductions"


def test_a_property_is_described_and_cannot_be_set_unless_declared_so() -> None:
    transposed: Any = Tensor.T
    assert isinstance(transposed, property) and transposed.__doc__
    x: Any = Tensor([1.0])
    with pytest.raises(AttributeError):
        x.T = x
    x.requires_grad = True
    assert x.is_leaf and x.requires_grad
