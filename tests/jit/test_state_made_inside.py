"""State that a captured function makes at its first call and changes at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import ogive
import ogive.torch
from ogive import Tensor
from ogive.errors import TraceError
from tests.raising import raises


def _moved_by_momentum(
    library: Any, capture: Callable[[Any], Any], settings: dict[str, Any]
) -> Any:
    w = library.tensor([1.0, -2.0, 3.0], dtype=library.float64).requires_grad_(True)
    optimizer = library.optim.SGD([w], lr=0.1, weight_decay=0.01)

    def step(scale: Any) -> None:
        optimizer.zero_grad()
        ((w * scale - 1) ** 2).sum().backward()
        optimizer.step()

    run = capture(step)
    for _ in range(3):
        run(library.tensor(0.5))
    optimizer.param_groups[0].update(settings)
    for _ in range(3):
        run(library.tensor(0.25))
    return w.detach().numpy()


@pytest.mark.parametrize("capture", [ogive.jit, ogive.torch.compile])
@pytest.mark.parametrize("settings", [{"momentum": 0.9}, {"momentum": 0.5, "nesterov": True}])
def test_momentum_turned_on_between_captured_steps_begins_with_the_gradient(
    capture: Callable[[Any], Any], settings: dict[str, Any]
) -> None:
    expected = _moved_by_momentum(pytorch, lambda step: step, settings)
    found = _moved_by_momentum(ogive.torch, capture, settings)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


class Counter:
    def __init__(self) -> None:
        self.count: Any = None
        self.table: Any = None

    def counted_from_nothing(self) -> Any:
        if self.count is None:
            self.count = ogive.zeros(2)
        self.count += 1
        return self.count * 1

    def averaged(self) -> Any:
        gradient = W.detach() * 2
        if self.count is None:
            self.count = gradient.clone()
        else:
            self.count.mul_(0.9).add_(gradient)
        return self.count * 1

    def filled_once(self) -> Any:
        if self.table is None:
            self.table = ogive.zeros(2)
            self.table[0] = 3
            self.table += W.detach()
        return self.table * 2


W = Tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize("method", ["counted_from_nothing", "averaged"])
def test_state_that_the_first_call_would_change_twice_is_refused(method: str) -> None:
    step = ogive.jit(getattr(Counter(), method))
    with raises(TraceError, match="the first call would do both; make it before"):
        step()


@pytest.mark.parametrize("method", ["counted_from_nothing", "averaged"])
def test_state_made_by_a_call_that_is_not_captured_is_changed_by_the_captured_ones(
    method: str,
) -> None:
    plain, captured = Counter(), Counter()
    expected = [getattr(plain, method)().tolist() for _ in range(4)]
    function = getattr(captured, method)
    found = [function().tolist()] + [step().tolist() for step in [ogive.jit(function)] * 3]
    assert found == expected


def test_a_table_that_is_written_to_only_where_it_is_made_is_a_cache() -> None:
    step = ogive.jit(Counter().filled_once)
    assert [step().tolist() for _ in range(3)] == [[8.0, 4.0]] * 3
