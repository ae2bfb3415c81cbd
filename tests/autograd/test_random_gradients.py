"""The gradients of random programs are those of PyTorch, in float64."""

from __future__ import annotations

import numpy
import pytest
import torch

from ogive import Tensor
from tests.autograd.random_functions import OGIVE, TORCH, Generator

GROUP = 20
"""Programs in one test."""


def check(seed: int, length: int) -> None:
    program = Generator(seed).generate(length)
    theirs = [torch.tensor(array, requires_grad=True) for array in program.inputs]
    total = program.total(TORCH, theirs)
    wanted = torch.autograd.grad(total, theirs, allow_unused=True, materialize_grads=True)
    ours = [Tensor(array, requires_grad=True) for array in program.inputs]
    found = program.total(OGIVE, ours)
    numpy.testing.assert_allclose(found.item(), total.item(), rtol=1e-9, atol=1e-9)
    found.backward()
    for mine, gradient in zip(ours, wanted, strict=True):
        got = numpy.zeros(mine.shape) if mine.grad is None else mine.grad.numpy()
        size = 1 + float(gradient.abs().max())
        numpy.testing.assert_allclose(got, gradient.numpy(), rtol=1e-7, atol=1e-10 * size)


def check_group(group: int, length: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            check(seed, length)
        except Exception as error:
            error.add_note(f"seed {seed}:\n{Generator(seed).generate(length)}")
            raise


@pytest.mark.parametrize("group", range(2))
def test_gradients_of_random_programs_are_those_of_pytorch(group: int) -> None:
    check_group(group, 8)


@pytest.mark.soak
@pytest.mark.parametrize("group", range(100, 125))
def test_gradients_of_500_random_programs_are_those_of_pytorch(group: int) -> None:
    check_group(group, 12)
