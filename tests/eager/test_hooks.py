"""Hooks of tensors that eager ones were computed from by then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ogive.torch as torch

WAYS: list[Callable[[Any], Any]] = [
    lambda x: x * 2,
    lambda x: x[1:],
    lambda x: x.T,
    lambda x: x.exp(),
]


@pytest.mark.parametrize("way", WAYS)
def test_a_gradient_is_kept_of_what_was_used_before(way: Callable[[Any], Any]) -> None:
    leaf = torch.ones(2, 2, requires_grad=True)
    between = way(leaf)
    loss = (between * between).sum()
    between.retain_grad()
    loss.backward()
    assert between.grad.tolist() == (between * 2).tolist()


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_changes_the_gradient_through_what_was_used_before(
    way: Callable[[Any], Any],
) -> None:
    gradients = []
    for factor in (1, 3):
        leaf = torch.ones(2, 2, requires_grad=True)
        between = way(leaf)
        loss = (between * between).sum()
        seen: list[int] = []
        between.register_hook(
            lambda given, seen=seen, factor=factor: seen.append(1) or given * factor
        )
        loss.backward()
        assert seen == [1]
        gradients.append(leaf.grad * 3 / factor)
    assert gradients[0].tolist() == gradients[1].tolist()


def test_a_hook_of_what_has_settled_before_is_called() -> None:
    leaf = torch.ones(2, requires_grad=True)
    between = leaf * 2
    loss = (between * between).sum()
    between.node  # noqa: B018  (it settles)
    between.register_hook(lambda given: given * 3)
    loss.backward()
    assert leaf.grad.tolist() == [24.0, 24.0]
