"""What settling asks of others: it must not wait for values, since others may wait for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.compiler import engine


def test_settling_computes_nothing_while_a_leaf_is_to_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leaf = torch.ones(3, requires_grad=True)
    made = leaf * 2
    leaf.node  # noqa: B018  (it settles)
    with torch.no_grad():
        leaf.assign(leaf.detach() - ogive.Tensor([1.0, 2.0, 3.0]))

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("something is computed")

    with monkeypatch.context() as patch:
        patch.setattr(engine, "realize", refuse)
        made.node  # noqa: B018
    assert made.tolist() == [2.0, 2.0, 2.0]
    assert leaf.tolist() == [0.0, -1.0, -2.0]


def test_what_has_settled_is_differentiated_where_its_leaf_settled_and_stayed() -> None:
    leaf = torch.ones(3, requires_grad=True)
    made = leaf * leaf
    leaf.node  # noqa: B018
    made.node  # noqa: B018
    made.sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0, 2.0]


def test_a_gradient_flows_to_what_is_written_through_a_view_that_settles_for_it() -> None:
    leaf = torch.tensor([2.0, 3.0], requires_grad=True)
    leaf.node  # noqa: B018
    whole = torch.ones(3)
    whole[:2].add_(leaf)
    assert whole.requires_grad
    whole.sum().backward()
    assert leaf.grad.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda T, x: x @ T.ones(2),
        lambda T, x: x.view(2, 2),
        lambda T, x: T.cat([x, T.ones(2, 2)]),
        lambda T, x: x + T.ones(4),
        lambda T, x: x.sum(3),
    ],
)
def test_a_tensor_is_eager_again_after_an_error(call: Callable[[Any, Any], Any]) -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x.detach().clone()
    for tensor in (x, y):
        with pytest.raises((RuntimeError, IndexError, ValueError)):
            call(torch, tensor)
        assert tensor.is_eager
    (x * y).sum().backward()
    assert x.grad is not None and x.grad.is_eager


def test_an_operation_after_a_write_without_a_record_settles_with_what_was_written() -> None:
    def values(library: Any) -> list[Any]:
        x = library.tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * 3
        y.detach().fill_(2)
        y.mul_(5)
        z = y + 1
        if library is torch:
            _ = z.node
        z.sum().backward()
        return [y.tolist(), z.tolist(), x.grad.tolist()]

    assert values(torch) == values(pytorch)
