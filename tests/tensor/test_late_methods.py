"""Methods that are loaded with their first use stand in the class as others do."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import ogive
from ogive import Tensor
from ogive.tensor.late_methods import LateFamily, LateMethod, load_methods
from ogive.tensor.memory.in_place_operations import in_place
from tests.new_process import output_of
from tests.raising import raises

FAMILY = "ogive.tensor.neural.activations"


def new_class() -> Any:
    """A class with late methods under one name and under two, and one that writes to its tensor."""
    family: Any = LateFamily(FAMILY)

    class Late:
        celu = family.celu
        elu = other = family.elu
        elu_ = in_place(family.elu)

    return Late


def test_a_late_method_is_the_function_of_its_family_from_the_first_use_on() -> None:
    late = new_class()
    assert isinstance(vars(late)["celu"], LateMethod)
    assert late.celu is importlib.import_module(FAMILY).celu
    assert vars(late)["celu"] is late.celu


def test_all_names_of_a_method_are_loaded_with_one() -> None:
    late = new_class()
    assert late().other.__func__ is vars(late)["elu"] is vars(late)["other"]


def test_what_writes_to_its_tensor_is_made_once() -> None:
    late = new_class()
    assert late.elu_ is late.elu_ and late.elu_.__name__ == "elu_"


def test_an_attribute_of_a_tensor_stands_before_a_late_method_as_before_any() -> None:
    late = new_class()
    instance = late()
    instance.celu = 3
    assert instance.celu == 3 and callable(late.celu)


def test_a_method_that_was_exchanged_meanwhile_stays_so() -> None:
    late = new_class()
    method = vars(late)["other"]
    late.other = len
    method.settle()
    assert late.other is len and late.elu is vars(late)["elu"]


def test_a_family_that_is_not_there_is_an_error_when_it_is_asked_for() -> None:
    family: Any = LateFamily("ogive.tensor.neural.nothing")
    with raises(ImportError, match="nothing"):
        family.celu.settle()


def test_every_late_method_of_tensors_can_be_loaded() -> None:
    load_methods(Tensor)
    assert not [name for name, value in vars(Tensor).items() if isinstance(value, LateMethod)]


def test_a_first_result_loads_no_family_that_it_does_not_use() -> None:
    program = (
        "import sys, ogive; (ogive.Tensor([1.0]) + 1).tolist(); "
        "print([name for name in sys.modules if 'pooling' in name or 'ogive.tensor.los' in name])"
    )
    done = output_of(program)
    assert done.strip() == "[]"


@pytest.mark.parametrize("name", ["row_stack", "trapz", "cdist", "searchsorted", "custom"])
def test_functions_of_the_package_are_loaded_with_their_first_use(name: str) -> None:
    assert callable(getattr(ogive, name)) and name in dir(ogive)
