"""On another device every function gives what it gives on the first one, and gives it there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from tests.conformance.convert import Converter, tensors_in
from tests.conformance.database import OPERATORS, samples
from tests.conformance.names import Function, find
from tests.conformance.reasons import UNDETERMINED

PRESENT = [label for label in OPERATORS if find(label) is not None]
DTYPES = ("float64", "int64", "bool", "complex128")
FIRST, OTHER = "CPU", "CPU:1"


def outcome(function: Function, sample: Any, device: str) -> tuple[list[Any], list[Any]]:
    """What a sample gives on a device, and the gradients of its inputs."""
    converter = Converter(device)
    convert = converter.convert
    ogive.manual_seed(0)
    given = convert(sample.input), convert(sample.args), convert(sample.kwargs)
    if not converter.made:  # a function that makes tensors is told where
        given[2].setdefault("device", device)
    results = tensors_in(function(given[0], *given[1], **given[2]))
    sums = [
        (each.real if each.dtype.is_complex else each).sum()
        for each in results
        if isinstance(each, Tensor) and each.requires_grad
    ]
    for each in sums:
        each.backward(retain_graph=True)
    return results, [leaf.grad for _, leaf in converter.leaves]


@pytest.mark.parametrize("label", PRESENT)
def test_results_and_gradients_are_on_the_device_of_what_is_given(label: str) -> None:
    function, operator = find(label), OPERATORS[label]
    assert function is not None
    dtype = next((each for each in DTYPES if samples(operator, each, 1)), None)
    if dtype is None:
        pytest.skip("PyTorch has no samples")
    for sample in samples(operator, dtype, 1, with_gradients=dtype == "float64"):
        try:
            expected = outcome(function, sample, FIRST)
        except (ogive.errors.OgiveError, TypeError):
            continue  # it is refused everywhere
        found = outcome(function, sample, OTHER)
        for one, other in zip([*expected[0], *expected[1]], [*found[0], *found[1]], strict=True):
            if not isinstance(one, Tensor):
                assert label in UNDETERMINED or one == other
                continue
            assert other.device == OTHER
            if label not in UNDETERMINED:
                np.testing.assert_array_equal(other.numpy(), one.numpy())
