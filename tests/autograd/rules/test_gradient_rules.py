"""Every rule against PyTorch's derivatives, in float64: once, twice, forwards and row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.autograd.rules.gradient_rules import FLAT, RULES
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from tests.autograd.cases import CASES, Case


def assert_close(found: Any, wanted: Any) -> None:
    numpy.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def weighted(function: Callable[..., Any], weight: Any) -> Callable[..., Any]:
    """A scalar that depends on every element of the function's value, each by another factor."""
    return lambda *inputs: (function(*inputs) * weight).sum()


def weight_for(case: Case, arrays: list[Any]) -> Any:
    shape = case.function(*[torch.tensor(array) for array in arrays]).shape
    return numpy.random.default_rng(1).normal(size=tuple(shape))


@every_case
def test_gradients_are_those_of_pytorch(case: Case) -> None:
    arrays = case.inputs(0)
    weight = weight_for(case, arrays)
    ours = [Tensor(array, requires_grad=True) for array in arrays]
    theirs = [torch.tensor(array, requires_grad=True) for array in arrays]
    weighted(case.function, Tensor(weight))(*ours).backward()
    weighted(case.function, torch.tensor(weight))(*theirs).backward()
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.grad is not None and other.grad is not None
        assert_close(mine.grad.numpy(), other.grad.numpy())


@every_case
def test_second_derivatives_are_those_of_pytorch(case: Case) -> None:
    arrays = case.inputs(2)
    weight = weight_for(case, arrays)
    numbers = tuple(range(len(arrays)))

    def slopes(library: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        gradients = library.grad(function, numbers)
        return lambda *inputs: sum((g * g * 0.5).sum() + g.sum() for g in gradients(*inputs))

    ours = slopes(ogive, weighted(case.function, Tensor(weight)))
    theirs = slopes(torch.func, weighted(case.function, torch.tensor(weight)))
    found = ogive.grad(ours, numbers)(*[Tensor(array) for array in arrays])
    wanted = torch.func.grad(theirs, numbers)(*[torch.tensor(array) for array in arrays])
    for mine, other in zip(found, wanted, strict=True):
        other_array = other.numpy(force=True)
        numpy.testing.assert_allclose(mine.numpy(), other_array, rtol=1e-7, atol=1e-8)


@every_case
def test_tangents_are_those_of_pytorch(case: Case) -> None:
    arrays, directions = case.inputs(3), case.inputs(4)
    value, tangent = ogive.jvp(
        case.function, [Tensor(a) for a in arrays], [Tensor(d) for d in directions]
    )
    wanted = torch.func.jvp(
        case.function,
        tuple([torch.tensor(a) for a in arrays]),
        tuple([torch.tensor(d) for d in directions]),
    )
    assert_close(value.numpy(), wanted[0].numpy())
    assert_close(tangent.numpy(), wanted[1].numpy())


@every_case
def test_gradients_of_many_examples_are_those_of_each(case: Case) -> None:
    examples = [case.inputs(seed) for seed in (5, 6)]
    weight = Tensor(weight_for(case, examples[0]))
    numbers = tuple(range(len(case.shapes)))
    gradient = ogive.grad(weighted(case.function, weight), numbers)
    together = ogive.vmap(gradient)(
        *[Tensor(numpy.stack(arrays)) for arrays in zip(*examples, strict=True)]
    )
    for row, arrays in enumerate(examples):
        for mine, wanted in zip(together, gradient(*[Tensor(a) for a in arrays]), strict=True):
            assert_close(mine[row].numpy(), wanted.numpy())


INTEGERS_ONLY = {Op.NOT, Op.AND, Op.OR, Op.XOR, Op.SHL, Op.SHR, Op.THREEFRY}


def test_every_operation_on_floats_has_a_rule_or_is_said_to_be_flat() -> None:
    over_axes = {Op.REDUCE_AXES, Op.GATHER, Op.SCATTER, Op.SCAN_AXIS, Op.CONTIGUOUS, Op.COPY}
    scheduled = {Op.DOT}  # comes in after gradients are taken
    wanted = (ELEMENTWISE | MOVEMENT | over_axes) - INTEGERS_ONLY - scheduled
    assert wanted - set(RULES) - FLAT == set()
    assert not FLAT & set(RULES)
