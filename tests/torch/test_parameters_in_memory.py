"""Tensors that lie in the memory of others: `nn.Parameter(t)`, `p.data = t`."""

from __future__ import annotations

import copy

import pytest

import ogive.torch as torch
from ogive.tensor.eager_sizes import LARGE
from ogive.torch import nn

SIZES = (3, LARGE + 1)
"""Small, so that it is computed with at once, and large."""


@pytest.mark.parametrize("size", SIZES)
def test_a_parameter_lies_in_the_memory_of_its_tensor(size: int) -> None:
    t = torch.zeros(size)
    p = nn.Parameter(t)
    t[0] = 5
    with torch.no_grad():
        p[1] = 7
    assert t[:3].tolist() == p[:3].tolist() == [5, 7, 0]


@pytest.mark.parametrize("size", SIZES)
def test_steps_of_an_optimizer_are_seen_by_the_tensor(size: int) -> None:
    t = torch.ones(size)
    p = nn.Parameter(t)
    optimizer = torch.optim.SGD([p], lr=0.5)
    for _ in range(2):
        optimizer.zero_grad()
        (p * torch.arange(size)).sum().backward()
        optimizer.step()
    assert t[:3].tolist() == p[:3].tolist() == [1, 0, -1]
    assert not t.requires_grad


@pytest.mark.parametrize("size", SIZES)
def test_data_that_is_set_is_shared_and_old_views_keep_what_they_showed(size: int) -> None:
    p, t = nn.Parameter(torch.zeros(size)), torch.ones(size)
    old = p.detach()
    p.data = t
    t[0] = 5
    p.data[1] = 6
    assert t[:3].tolist() == p[:3].tolist() == [5, 6, 1]
    assert old[:3].tolist() == [0, 0, 0]


@pytest.mark.parametrize("size", SIZES)
def test_two_parameters_in_one_memory_are_trained_together(size: int) -> None:
    p, q = nn.Parameter(torch.ones(size)), nn.Parameter(torch.zeros(size))
    q.data = p.data
    read = q * 2
    (p.sum() + 2 * q.sum()).backward()
    torch.optim.SGD([p, q], lr=1.0).step()
    assert p[:2].tolist() == q[:2].tolist() == [-2, -2]
    assert read[:2].tolist() == [2, 2]


@pytest.mark.parametrize("size", SIZES)
def test_parameters_that_are_parts_of_a_flat_tensor_are_trained_in_it(size: int) -> None:
    flat = torch.zeros(2 * size)
    p, q = nn.Parameter(torch.ones(size)), nn.Parameter(torch.ones(size))
    p.data, q.data = flat[:size], flat[size:]
    read = q + 1
    (p.sum() + 2 * q.sum()).backward()
    torch.optim.SGD([p, q], lr=1.0).step()
    assert flat[[0, size - 1, size, -1]].tolist() == [-1, -1, -2, -2]
    flat.zero_()
    assert p.sum().item() == q.sum().item() == 0
    assert read[:2].tolist() == [1, 1]


@pytest.mark.parametrize("size", SIZES)
def test_data_of_a_tensor_without_gradients_may_be_a_part(size: int) -> None:
    x, y = torch.zeros(2), torch.ones(size, 2)
    x.data = y[1]
    y[1, 0] = 5
    x[1] = 6
    assert x.tolist() == y[1].tolist() == [5, 6]


@pytest.mark.parametrize("size", SIZES)
def test_gradients_reach_a_parameter_that_has_got_other_data_since(size: int) -> None:
    p = nn.Parameter(torch.ones(size))
    y = (p * 3).sum()
    p.data = torch.zeros(size)
    y.backward()
    assert p.grad is not None and p.grad[:2].tolist() == [3, 3]
    assert p[:2].tolist() == [0, 0]


@pytest.mark.parametrize("size", SIZES)
def test_a_parameter_that_settles_stays_in_the_memory(size: int) -> None:
    t = torch.zeros(size)
    p = nn.Parameter(t)
    torch.special.i1(p)  # has no form
    t[0] = 5
    with torch.no_grad():
        p[1] = 7
    assert t[:3].tolist() == p[:3].tolist() == [5, 7, 0]


@pytest.mark.parametrize("size", SIZES)
def test_a_copy_of_a_parameter_is_apart(size: int) -> None:
    p = nn.Parameter(torch.zeros(size))
    q = copy.deepcopy(p)
    q.data[0] = 1
    assert p[0].item() == 0


def test_tensors_take_attributes_of_the_program() -> None:
    p = nn.Parameter(torch.zeros(3))
    p.is_decayed = False
    torch.special.i1(p)  # it settles
    assert p.is_decayed is False
    assert not hasattr(p, "is_other")
