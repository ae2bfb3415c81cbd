"""`torch.compile` of what cannot be captured: it runs as it is, and everything happens once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch as pytorch

import ogive.torch

Step = Callable[[Any], Any]


class Training:
    """A model of three numbers, trained by steps that also keep books."""

    def __init__(self, library: Any) -> None:
        self.w = library.nn.Parameter(library.tensor([1.0, 2.0, 3.0]))
        self.optimizer = library.optim.SGD([self.w], lr=0.1)
        self.losses: list[Any] = []
        self.by_number: dict[int, Any] = {}
        self.numbers: set[int] = set()
        self.counted = np.zeros(1)
        self.steps = 0
        self.best: float | None = None

    def train(self, x: Any) -> Any:
        self.optimizer.zero_grad()
        loss = ((self.w * x) ** 2).sum()
        loss.backward()
        self.optimizer.step()
        self.steps += 1
        self.counted[0] += 1
        self.numbers.add(self.steps)
        return loss.detach()

    def books(self) -> list[Any]:
        kept = [*self.losses, *self.by_number.values(), *([] if self.best is None else [self.best])]
        values = [*map(float, kept), *self.w.tolist()]
        counts = [len(self.losses), list(self.by_number), sorted(self.numbers), self.steps]
        return [*counts, self.counted.tolist(), *[round(value, 4) for value in values]]


def _lists(training: Training) -> Step:
    def step(x: Any) -> None:
        training.losses.append(training.train(x))

    return step


def _dictionary(training: Training) -> Step:
    def step(x: Any) -> None:
        loss = training.train(x)
        training.by_number[training.steps] = loss

    return step


def _asked_value(training: Training) -> Step:
    def step(x: Any) -> None:
        loss = training.train(x)
        training.losses.append(loss)
        if training.best is None or loss.item() < training.best:
            training.best = loss.item()

    return step


def _state_of_an_optimizer(training: Training) -> Step:
    def step(x: Any) -> None:
        training.train(x)
        if training.steps == 3:
            training.optimizer.param_groups[0].update(momentum=0.5, dampening=0.25)

    return step


@pytest.mark.parametrize("make", [_lists, _dictionary, _asked_value, _state_of_an_optimizer])
def test_a_step_that_cannot_be_captured_happens_once(make: Callable[[Training], Step]) -> None:
    ours, theirs = Training(ogive.torch), Training(pytorch)
    step, plain = ogive.torch.compile(make(ours)), make(theirs)
    for _ in range(6):
        step(ogive.torch.tensor([0.5, 1.0, 0.2]))
        plain(pytorch.tensor([0.5, 1.0, 0.2]))
    assert ours.books() == theirs.books()
