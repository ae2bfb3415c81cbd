"""The classes of eager tensors, as programs see them."""

from __future__ import annotations

import copy

import numpy

import ogive.torch as torch
from ogive.torch import nn


def test_the_class_of_a_parameter_is_that_of_parameters() -> None:
    own = nn.Parameter(torch.ones(2))
    assert own.is_eager
    assert type(own) == nn.Parameter  # noqa: E721  (that is what programs write)
    assert nn.Parameter == type(own)  # noqa: E721
    assert type(own) != torch.Tensor  # noqa: E721
    assert type(own).__name__ == "Parameter"


def test_the_class_of_a_tensor_is_that_of_tensors() -> None:
    x = torch.ones(2)
    assert type(x) == torch.Tensor  # noqa: E721
    assert type(x) != nn.Parameter  # noqa: E721
    assert type(x) != torch.FloatTensor  # noqa: E721
    assert type(x).__name__ == "Tensor"


def test_dictionaries_of_classes_find_those_of_eager_and_settled_tensors() -> None:
    known = {torch.Tensor: "tensor", nn.Parameter: "parameter"}
    x, own = torch.ones(2), nn.Parameter(torch.ones(2))
    assert (known[type(x)], known[type(own)]) == ("tensor", "parameter")
    counts = {type(x): 1, type(own): 2}
    for tensor in (x, own):
        tensor.node  # noqa: B018  (it settles)
    assert (known[type(x)], known[type(own)]) == ("tensor", "parameter")
    assert (counts[type(x)], counts[type(own)]) == (1, 2)


def test_a_deep_copy_has_a_gradient_of_its_own() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * x).sum().backward()
    for settles in (False, True):
        if settles:
            x.node  # noqa: B018
        made = copy.deepcopy(x)
        made.grad.add_(1)
        assert x.grad.tolist() == [2.0, 2.0]
        assert made.grad.tolist() == [3.0, 3.0]


def test_a_leaf_in_memory_of_the_programs_is_differentiated_twice() -> None:
    x = torch.from_numpy(numpy.array([1.0, 2.0], "float32")).requires_grad_()
    (slope,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    slope.sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]


def test_a_leaf_with_nan_is_differentiated_twice() -> None:
    x = torch.from_numpy(numpy.array([1.0, numpy.nan], "float32")).requires_grad_()
    (slope,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
    slope.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_empty_tensors_of_several_dtypes_are_joined_in_that_where_they_meet() -> None:
    made = torch.cat([torch.zeros(0, dtype=torch.bool), torch.zeros(0, dtype=torch.int64)])
    assert made.is_eager
    assert made.dtype == torch.int64
