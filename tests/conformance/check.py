"""One operator against ours: values, shapes, dtypes and gradients on its samples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogive import Tensor
from tests.conformance.convert import Converter, tensors_in, to_numpy
from tests.conformance.database import DTYPES, has_gradient, label, samples
from tests.conformance.names import Function, find
from tests.conformance.reasons import FREE_SIGNS, UNDETERMINED, Failure, reason_for

TOLERANCES = {"float32": 2e-4, "bfloat16": 1e-2, "float16": 2e-3, "complex64": 2e-4}
"""How far results may differ, relative to one and to their size; 1e-7 for what is not here."""

DIFFERENTIATED = ("float64",)
"""The dtypes in which gradients are compared: in others the same rules run on coarser numbers."""


@dataclass
class Result:
    """What the samples of one operator gave."""

    operator: str
    forward: int = 0
    gradients: int = 0
    failures: list[Failure] = field(default_factory=list)

    @property
    def unexplained(self) -> list[Failure]:
        """The failures that no stated reason covers."""
        return [failure for failure in self.failures if reason_for(failure) is None]

    @property
    def reasons(self) -> set[str]:
        """The stated reasons for what differs."""
        found = {reason for failure in self.failures if (reason := reason_for(failure))}
        return found | {UNDETERMINED[self.operator]} if self.operator in UNDETERMINED else found


def check(
    operator: Any, limit: int, dtypes: tuple[str, ...] = DTYPES, function: Function | None = None
) -> Result | None:
    """Run at most `limit` samples a dtype; None where we have no such function.

    `function` is what answers for the operator, if not what its name leads to in `ogive`.
    """
    function = function or find(label(operator))
    if function is None:
        return None
    result = Result(label(operator))
    for dtype in dtypes:
        for sample in samples(operator, dtype, limit):
            _check_forward(operator, function, sample, dtype, result)
        if dtype in DIFFERENTIATED and has_gradient(operator, dtype):
            for sample in samples(operator, dtype, limit, with_gradients=True):
                _check_gradient(operator, function, sample, dtype, result)
    return result


def _check_forward(
    operator: Any, function: Function, sample: Any, dtype: str, result: Result
) -> None:
    expected = _call_theirs(operator, sample)
    if expected is None:
        return
    result.forward += 1
    try:
        actual = _call_ours(function, sample, Converter())
        if result.operator in FREE_SIGNS:
            actual, expected = map(sample.output_process_fn_grad, (actual, expected))
        compare(actual, expected, result.operator not in UNDETERMINED)
    except Exception as error:
        result.failures.append(Failure(result.operator, dtype, False, _describe(error, sample)))


def _check_gradient(
    operator: Any, function: Function, sample: Any, dtype: str, result: Result
) -> None:
    """Compare the gradients of a weighted sum of the outputs, for every input that wants one."""
    process = sample.output_process_fn_grad
    given = _call_theirs(operator, sample)
    if given is None or result.operator in UNDETERMINED:
        return
    results = tensors_in(process(given))
    places = [
        place
        for place, output in enumerate(results)
        if isinstance(output, torch.Tensor) and output.requires_grad
    ]
    outputs = [results[place] for place in places]
    if not outputs:
        return
    weights = [_weights(output) for output in outputs]
    converter = Converter()
    try:
        made = tensors_in(process(_call_ours(function, sample, converter)))
    except Exception:
        return  # the comparison of values says so
    leaves = [leaf for leaf, _ in converter.leaves]
    total = sum(
        (output * torch.from_numpy(weight)).sum().real
        for output, weight in zip(outputs, weights, strict=True)
    )
    expected = torch.autograd.grad(total, leaves, allow_unused=True)
    result.gradients += 1
    try:
        _backward([made[place] for place in places], weights)
        Tensor.realize_batch([leaf.grad for _, leaf in converter.leaves if leaf.grad is not None])
        for (_, leaf), gradient in zip(converter.leaves, expected, strict=True):
            _compare_gradient(leaf, gradient)
    except Exception as error:
        result.failures.append(Failure(result.operator, dtype, True, _describe(error, sample)))


def _weights(output: Any) -> NDArray[Any]:
    generator = np.random.default_rng(0)
    real, imaginary = [generator.normal(size=tuple(output.shape)) for _ in range(2)]
    return np.asarray(real + 1j * imaginary if output.is_complex() else real)


def _backward(outputs: list[Tensor], weights: list[NDArray[Any]]) -> None:
    total = Tensor(0.0, "float64")
    for output, weight in zip(outputs, weights, strict=True):
        part = (output * Tensor(weight)).sum()
        total = total + (part.real if part.dtype.is_complex else part)
    total.backward()


def _compare_gradient(leaf: Tensor, expected: Any) -> None:
    """No gradient is the same as zeros."""
    actual = np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy()
    wanted = np.zeros(leaf.shape) if expected is None else to_numpy(expected)
    np.testing.assert_allclose(actual, wanted, rtol=1e-6, atol=1e-7)


def _call_theirs(operator: Any, sample: Any) -> Any:
    """What PyTorch gives, or None where it refuses its own sample."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return operator(sample.input, *sample.args, **sample.kwargs)
    except (RuntimeError, NotImplementedError, TypeError):
        return None


def _call_ours(function: Function, sample: Any, converter: Converter) -> Any:
    convert = converter.convert
    return function(convert(sample.input), *convert(sample.args), **convert(sample.kwargs))


def compare(actual: Any, expected: Any, with_values: bool = True) -> None:
    """Raise `AssertionError` unless both have equal shapes, dtypes and nearly equal values."""
    ours, theirs = tensors_in(actual), tensors_in(expected)
    assert len(ours) == len(theirs), f"{len(ours)} results, not {len(theirs)}"
    for one, other in zip(ours, theirs, strict=True):
        if not isinstance(other, torch.Tensor):
            assert one == other, f"{one}, not {other}"
            continue
        if other.layout is not torch.strided:
            one, other = one.to_dense(), other.to_dense()
        dtype = str(other.dtype).removeprefix("torch.")
        assert one.shape == tuple(other.shape), f"shape {one.shape}, not {tuple(other.shape)}"
        assert one.dtype.name == dtype, f"dtype {one.dtype.name}, not {dtype}"
        if with_values:
            tolerance = TOLERANCES.get(dtype, 1e-7)
            values = one.numpy()
            if dtype == "bfloat16":
                values = values.astype(np.float32)
            np.testing.assert_allclose(values, to_numpy(other), rtol=tolerance, atol=tolerance)


def _describe(error: Exception, sample: Any) -> str:
    given = [_brief(value) for value in (sample.input, *sample.args)]
    given += [f"{key}={_brief(value)}" for key, value in sample.kwargs.items()]
    text = " ".join(str(error).split("\n  at ")[0].split())
    return f"({', '.join(given)}) {type(error).__name__}: {text[:300]}"


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"tensor{tuple(value.shape)}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(_brief(part) for part in value)}]"
    return repr(value)
