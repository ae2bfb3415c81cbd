"""One call of PyTorch and of `ogive.torch` on eager tensors: values and gradients compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import torch

import ogive.torch as ours

Call = Callable[..., Any]


def compare(call: Call, *operands: Any, tracked: bool = True, tolerance: float = 1e-5) -> None:
    """`call(library, *tensors)` gives the same in both libraries, and gradients for all floats.

    The result and the gradients must have been computed at once.
    """
    theirs = [torch.tensor(operand) for operand in operands]
    mine = [ours.tensor(operand) for operand in operands]
    leaves = [n for n, operand in enumerate(theirs) if tracked and operand.is_floating_point()]
    for n in leaves:
        theirs[n].requires_grad_()
        mine[n].requires_grad_()
    expected, found = call(torch, *theirs), call(ours, *mine)
    same(found, expected, tolerance)
    assert all(operand.is_eager for operand in mine), "an operand settled"
    if not leaves:
        return
    first = expected[0] if isinstance(expected, tuple) else expected
    upstream = numpy.random.default_rng(1).standard_normal(tuple(first.shape))
    upstream = upstream.astype(first.detach().numpy().dtype)
    (found[0] if isinstance(found, tuple) else found).backward(ours.tensor(upstream))
    first.backward(torch.tensor(upstream))
    for n in leaves:
        if theirs[n].grad is None:
            assert mine[n].grad is None
        else:
            same(mine[n].grad, theirs[n].grad, tolerance)
    assert all(operand.is_eager for operand in mine), "an operand settled going back"


def same(found: Any, expected: Any, tolerance: float) -> None:
    """Eager tensors of the values, shapes and dtypes of PyTorch's."""
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            same(one, other, tolerance)
        return
    assert found.is_eager, "the result was not computed at once"
    right = expected.detach().numpy()
    values = numpy.array(found.detach())
    assert values.dtype == right.dtype
    assert values.shape == right.shape
    numpy.testing.assert_allclose(values, right, rtol=tolerance, atol=tolerance)


def numbers(*shape: int, dtype: str = "float32", seed: int = 0) -> Any:
    """Random numbers: floats around 0, or small integers."""
    drawn = numpy.random.default_rng(seed + sum(shape)).standard_normal(shape)
    return (drawn * 3 if dtype.startswith("int") else drawn).astype(dtype)
