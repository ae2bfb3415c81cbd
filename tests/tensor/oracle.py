"""Functions of `ogive.nn.functional` against those of `torch.nn.functional`, in float64."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as theirs
from numpy.typing import NDArray

from ogive import Tensor
from ogive.errors import OgiveError
from ogive.nn import functional as ours
from tests.raising import raises

Array = NDArray[Any]

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> Array:
    return RANDOM.standard_normal(shape)


def uniform(*shape: int) -> Array:
    return RANDOM.random(shape)


def _map(value: Any, make: Callable[[Array], Any]) -> Any:
    return make(value) if isinstance(value, np.ndarray) else value


def _all(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def call_ours(name: str, *arguments: Any, **options: Any) -> Any:
    given = [_map(value, Tensor) for value in arguments]
    named = {key: _map(value, Tensor) for key, value in options.items()}
    return getattr(ours, name)(*given, **named)


def call_theirs(name: str, *arguments: Any, **options: Any) -> Any:
    given = [_map(value, torch.tensor) for value in arguments]
    named = {key: _map(value, torch.tensor) for key, value in options.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about costs and changes that are not ours
        return getattr(theirs, name)(*given, **named)


def agree(name: str, *arguments: Any, tolerance: float = 1e-9, **options: Any) -> None:
    """Both give the same values, of the same shapes and dtypes; arrays become tensors."""
    expected = _all(call_theirs(name, *arguments, **options))
    actual = _all(call_ours(name, *arguments, **options))
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        assert one.shape == tuple(other.shape), f"{name}: {one.shape}, not {tuple(other.shape)}"
        assert one.dtype.name == str(other.dtype).removeprefix("torch.")
        np.testing.assert_allclose(
            one.numpy(), other.numpy(), rtol=tolerance, atol=tolerance, err_msg=name
        )


def agree_on_dtype(name: str, dtype: str, *arguments: Any, **options: Any) -> None:
    """A result in `dtype` has the dtype that PyTorch gives it, and nearly its values."""
    kind = getattr(torch, dtype)

    def cast(value: Array) -> torch.Tensor:
        made = torch.tensor(value)
        return made.to(kind) if made.is_floating_point() else made

    def cast_ours(value: Array) -> Tensor:
        made = Tensor(value)
        return made.cast(dtype) if made.dtype.is_float else made

    named = {key: _map(value, cast) for key, value in options.items()}
    expected = getattr(theirs, name)(*[_map(value, cast) for value in arguments], **named)
    named = {key: _map(value, cast_ours) for key, value in options.items()}
    actual = getattr(ours, name)(*[_map(value, cast_ours) for value in arguments], **named)
    assert actual.dtype.name == str(expected.dtype).removeprefix("torch.")
    precision = float(torch.finfo(expected.dtype).eps)
    np.testing.assert_allclose(
        actual.double().numpy(), expected.double().numpy(), rtol=8 * precision, atol=8 * precision
    )


def agree_on_gradients(name: str, *arguments: Any, wanted: tuple[int, ...], **options: Any) -> None:
    """The gradients of the arguments at `wanted` are those of PyTorch, for a random cotangent."""
    given = [_map(value, torch.tensor) for value in arguments]
    mine = [_map(value, Tensor) for value in arguments]
    for place in wanted:
        given[place].requires_grad_(True)
        mine[place].requires_grad_(True)
    expected = getattr(theirs, name)(*given, **options)
    cotangent = normal(*expected.shape)
    (expected * torch.tensor(cotangent)).sum().backward()
    (getattr(ours, name)(*mine, **options) * Tensor(cotangent)).sum().backward()
    for place in wanted:
        np.testing.assert_allclose(
            mine[place].grad.numpy(), given[place].grad.numpy(), rtol=1e-7, atol=1e-9,
            err_msg=f"{name}, argument {place}",
        )  # fmt: skip


ErrorCase = tuple[Callable[[], Any], type[Exception], str]
"""What to do, the error that it raises, and words of its message as a regular expression."""


def each_error(cases: list[ErrorCase]) -> pytest.MarkDecorator:
    """A test for each `case`."""
    return pytest.mark.parametrize("case", cases, ids=[words[:40] for _, _, words in cases])


def refuses(action: Callable[[], Any], error: type[Exception], words: str) -> None:
    """An action raises an error of ours, with these words."""
    with raises(error, match=words) as caught:
        action()
    assert isinstance(caught.value, OgiveError)
