"""Hooks of tensors that eager ones were computed from by then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ogive.torch as torch
from tests.raising import raises

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
    for factor in (1, 4):
        leaf = torch.ones(2, 2, requires_grad=True)
        between = way(leaf)
        loss = (between * between).sum()
        seen: list[int] = []
        between.register_hook(
            lambda given, seen=seen, factor=factor: seen.append(1) or given * factor
        )
        loss.backward()
        assert seen == [1]
        gradients.append(leaf.grad * 4 / factor)
    assert gradients[0].tolist() == gradients[1].tolist()


def test_a_hook_of_what_has_settled_before_is_called() -> None:
    leaf = torch.ones(2, requires_grad=True)
    between = leaf * 2
    loss = (between * between).sum()
    between.node  # noqa: B018  (it settles)
    between.register_hook(lambda given: given * 3)
    loss.backward()
    assert leaf.grad.tolist() == [24.0, 24.0]


@pytest.mark.parametrize("size", [2, 300])
def test_a_hook_of_a_slice_is_called_for_what_was_sliced_from_it(size: int) -> None:
    leaf = torch.ones(6, size, requires_grad=True)
    part = (leaf * 2)[1:5]
    inner = part[1:3]
    loss = inner.sum()
    part.register_hook(lambda given: given * 3)
    loss.backward()
    assert leaf.grad.sum(1).tolist() == [0, 0, 6 * size, 6 * size, 0, 0]


def test_a_hook_may_write_to_the_gradient() -> None:
    leaf = torch.ones(3, requires_grad=True)
    between = leaf * 2

    def silence(given: Any) -> None:
        given[0] = 0
        given.mul_(5)

    between.register_hook(silence)
    (between + leaf).sum().backward()
    assert leaf.grad.tolist() == [1, 11, 11]


def test_hooks_of_leaves_are_called_by_the_tape_in_their_order() -> None:
    leaf = torch.ones(2, requires_grad=True)
    seen: list[Any] = []
    leaf.register_hook(lambda given: given * 2)
    leaf.register_hook(lambda given: seen.append(given.tolist()))
    leaf.register_post_accumulate_grad_hook(lambda x: seen.append(x.grad.tolist()))
    (leaf * 3).sum().backward()
    (leaf * 3).sum().backward()
    assert seen == [[6, 6], [6, 6], [6, 6], [12, 12]]
    assert leaf.is_eager


@pytest.mark.parametrize("size", [2, 70000])
@pytest.mark.usefixtures("no_allowance")
def test_an_optimizer_may_step_as_soon_as_a_leaf_has_its_gradient(size: int) -> None:
    leaves = [torch.ones(size, requires_grad=True) for _ in range(2)]
    optimizers = {leaf: torch.optim.SGD([leaf], lr=0.5) for leaf in leaves}

    def step(leaf: Any) -> None:
        optimizers[leaf].step()
        optimizers[leaf].zero_grad()

    handles = [leaf.register_post_accumulate_grad_hook(step) for leaf in leaves]
    (leaves[0] * leaves[1]).sum().backward()
    assert [leaf[:2].tolist() for leaf in leaves] == [[0.5, 0.5], [0.5, 0.5]]
    assert all(leaf.grad is None for leaf in leaves)
    handles[0].remove()
    (leaves[0] * leaves[1]).sum().backward()
    assert leaves[0].grad is not None and leaves[0].grad[:2].tolist() == [0.5, 0.5]
    with raises(RuntimeError, match="non-leaf"):
        (leaves[0] * 2).register_post_accumulate_grad_hook(step)


def test_hooks_are_called_after_their_tensor_has_settled() -> None:
    leaf = torch.ones(4, requires_grad=True)
    part = (leaf * 2)[1:]
    part.register_hook(lambda given: given * 3)
    part.node  # noqa: B018  (it settles)
    part.sum().backward()
    assert leaf.grad.tolist() == [0, 6, 6, 6]
