"""One expression, of eager tensors and of PyTorch's: values, dtypes, shapes and gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch

import ogive.torch as ours

Expression = Callable[..., Any]


def check(
    expression: Expression,
    arrays: Sequence[Any],
    *,
    tolerance: float | None = None,
    is_eager: bool = True,
) -> None:
    """`expression(module, *tensors)` is the same in both, and so are its gradients where the
    result is of floats and PyTorch's requires them."""
    _check_values(expression, arrays, tolerance, is_eager)
    if any(array.dtype.kind == "f" for array in arrays):
        _check_gradients(expression, arrays, tolerance, is_eager)


def _check_values(
    expression: Expression, arrays: Sequence[Any], tolerance: float | None, is_eager: bool
) -> None:
    expected = expression(torch, *[torch.tensor(array) for array in arrays])
    found = expression(ours, *[_ours(array) for array in arrays])
    assert found.is_eager is is_eager
    compare(found, expected, tolerance)


def _check_gradients(
    expression: Expression, arrays: Sequence[Any], tolerance: float | None, is_eager: bool
) -> None:
    theirs = [torch.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays]
    expected = expression(torch, *theirs)
    own = [_ours(array).requires_grad_(array.dtype.kind == "f") for array in arrays]
    found = expression(ours, *own)
    assert found.requires_grad == expected.requires_grad
    compare(found.detach(), expected.detach(), tolerance)
    if not expected.requires_grad:
        return
    weights = numpy.random.default_rng(1).normal(size=expected.shape)
    upstream = torch.tensor(weights).to(expected.dtype)
    expected.backward(upstream)
    assert found.is_eager is is_eager
    found.backward(ours.tensor(upstream.numpy()))
    assert all(tensor.is_eager for tensor in own) is is_eager
    for one, other in zip(own, theirs, strict=True):
        if other.grad is None:
            assert one.grad is None or not numpy.asarray(one.grad).any()
        else:
            compare(one.grad, other.grad, tolerance)


def _ours(array: Any) -> Any:
    made = ours.tensor(array)
    assert made.is_eager
    return made


def compare(found: Any, expected: Any, tolerance: float | None = None) -> None:
    """Raise unless both are the same, up to rounding."""
    assert str(found.dtype).split(".")[-1] == str(expected.dtype).split(".")[-1]
    values, wanted = numpy.asarray(found.detach()), expected.detach().numpy(force=True)
    assert tuple(found.shape) == tuple(expected.shape)
    if wanted.dtype.kind == "f":
        exact = 1e-12 if wanted.dtype == numpy.float64 else 2e-6
        allowed = exact if tolerance is None else tolerance
        numpy.testing.assert_allclose(values, wanted, rtol=allowed, atol=allowed)
    else:
        numpy.testing.assert_array_equal(values, wanted)


def numbers(dtype: str, *shape: int, least: float = -4, greatest: float = 4) -> Any:
    """Random numbers, of which no two are equal as a rule; of integers no zero is one."""
    generator = numpy.random.default_rng(len(shape) + sum(shape))
    found = generator.uniform(least, greatest, shape)
    if dtype == "bool":
        return numpy.asarray(found > 0)
    if dtype in ("float32", "float64"):
        return numpy.asarray(found, dtype)
    whole = numpy.floor(found).astype(dtype)
    return numpy.asarray(numpy.where(whole == 0, 1, whole), dtype)


def floats(values: Any) -> Any:
    """An array of float32."""
    return numpy.array(values, "float32")
