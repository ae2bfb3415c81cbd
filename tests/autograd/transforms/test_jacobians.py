"""Jacobians and Hessians against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.errors import ArgumentError
from tests.raising import raises

RANDOM = numpy.random.default_rng(3)
X, A = RANDOM.normal(size=3), RANDOM.normal(size=(3, 2))


def assert_like(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, dict):
        for name, value in theirs.items():
            assert_like(ours[name], value)
    elif isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for mine, value in zip(ours, theirs, strict=True):
            assert_like(mine, value)
    else:
        assert ours.shape == tuple(theirs.shape)
        numpy.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-12)


FUNCTIONS: list[tuple[Any, tuple[Any, ...], Any]] = [
    (lambda x: (x.sin() * x.sum()).exp().sum(), (X,), 0),
    (lambda x: x.reshape(1, 3) * x.reshape(3, 1), (X,), 0),
    (lambda x, a: (x @ a).tanh(), (X, A), (0, 1)),
    (lambda x, a: (x @ a).tanh(), (X, A), 1),
    (lambda x: {"cubes": x**3, "sum": (x * 2).sum()}, (X,), 0),
]


@pytest.mark.parametrize("name", ["jacrev", "jacfwd", "hessian"])
@pytest.mark.parametrize("case", range(len(FUNCTIONS)))
def test_matrices_of_derivatives_are_pytorchs(name: str, case: int) -> None:
    function, values, argnums = FUNCTIONS[case]
    ours = getattr(ogive, name)(function, argnums)(*[Tensor(value) for value in values])
    given = [torch.tensor(value) for value in values]
    assert_like(ours, getattr(torch.func, name)(function, argnums)(*given))


def test_an_argument_that_is_not_there_is_refused() -> None:
    with raises(ArgumentError, match="argnums is 2, and the function was called with 1"):
        ogive.jacrev(lambda x: x, 2)(Tensor(X))
