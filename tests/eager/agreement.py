"""What forms give, beside what PyTorch gives: values, dtypes, shapes and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import torch

import ogive.torch
from ogive.tensor.core import Core

Case = Callable[..., Any]


def arrays(*shapes: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> list[Any]:
    """Random arrays: floats without ties, integers with many, truth values."""
    random = numpy.random.default_rng(seed)
    found = []
    for shape in shapes:
        drawn = random.standard_normal(shape)
        if "int" in dtype:
            drawn = abs(drawn * 3).round() if dtype == "uint8" else (drawn * 3).round()
        found.append(numpy.asarray(drawn > 0 if dtype == "bool" else drawn, dtype=dtype))
    return found


def check(case: Case, given: list[Any], tracked: bool = False, eager: bool = True) -> None:
    """Compare a case, a function of a module and its tensors, and ask that it was done at once."""
    ours = [ogive.torch.tensor(array) for array in given]
    theirs = [torch.tensor(array) for array in given]
    if tracked:
        for tensor in [*ours, *theirs]:
            if tensor.is_floating_point():
                tensor.requires_grad_()
    found = _results(case(ogive.torch, *ours))
    expected = _results(case(torch, *theirs))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert not eager or one.is_eager, "the form refused"
        _compare(one.detach(), other.detach())
        assert one.requires_grad == (tracked and other.requires_grad)
    if tracked:
        _compare_gradients(ours, theirs, found[0], expected[0])


def _results(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple | list) else [made]


def _compare(one: Any, other: Any) -> None:
    assert isinstance(one, Core)
    assert tuple(one.shape) == tuple(other.shape)
    expected = other.numpy()
    value = numpy.asarray(one)
    assert value.dtype == expected.dtype
    if value.dtype.kind == "f":
        limit = 1e-5 if value.dtype == numpy.float32 else 1e-12
        numpy.testing.assert_allclose(value, expected, rtol=limit, atol=limit)
    else:
        numpy.testing.assert_array_equal(value, expected)


def _compare_gradients(ours: Any, theirs: Any, found: Any, expected: Any) -> None:
    weights = numpy.random.default_rng(7).standard_normal(tuple(expected.shape))
    weights = numpy.asarray(weights, dtype=expected.detach().numpy().dtype)
    found.backward(ogive.torch.tensor(weights))
    assert found.is_eager, "the backward pass settled it"
    expected.backward(torch.tensor(weights))
    for one, other in zip(ours, theirs, strict=True):
        if other.grad is None:
            assert one.grad is None or not numpy.asarray(one.grad).any()
        else:
            _compare(one.grad, other.grad)
