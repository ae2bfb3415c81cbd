"""Steps of optimizers that are repeated without nodes: nobody can tell but by time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
import torch

import ogive.torch as ours
from ogive.compiler.engine.repeated_assignments import RepeatedAssignments
from ogive.optim.optimizer import Optimizer

Between = Callable[[Any, Any, Any], Any]


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Whether each step that could be repeated was, in order."""
    found: list[bool] = []
    carry_out = RepeatedAssignments.carry_out

    def noting(self: RepeatedAssignments, operands: Any) -> bool:
        found.append(carry_out(self, operands))
        return found[-1]

    monkeypatch.setattr(RepeatedAssignments, "carry_out", noting)
    yield found


def train(library: Any, between: Between, steps: int = 6, make: str = "Adam") -> list[Any]:
    """Train two weights; `between` says what else happens, before each step."""
    generator = numpy.random.default_rng(0)
    x = library.tensor(generator.normal(size=(5, 3)).astype("float32"))
    w = library.tensor(generator.normal(size=(3, 2)).astype("float32"), requires_grad=True)
    b = library.zeros(2, requires_grad=True)
    optimizer = getattr(library.optim, make)([w, b], lr=0.1)
    found: list[Any] = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((x @ w + b).sin() ** 2).mean()
        loss.backward()
        seen = between(w, b, optimizer)
        optimizer.step()
        found += [loss.item(), w.detach().numpy().copy().tolist(), b.detach().tolist()]
        if seen is not None:
            found.append(seen.tolist())
    return found


def nothing(w: Any, b: Any, optimizer: Any) -> None:
    """Only the step happens."""


@pytest.mark.parametrize(
    "make", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam", "RAdam", "Adamax"]
)
def test_steps_are_repeated_as_pytorch_makes_them(make: str, repeated: list[bool]) -> None:
    assert flat(train(ours, nothing, make=make)) == pytest.approx(
        flat(train(torch, nothing, make=make)), rel=1e-4, abs=1e-5
    )
    assert sum(repeated) >= 3


def test_what_was_computed_from_a_parameter_before_keeps_its_value(repeated: list[bool]) -> None:
    check_equal(lambda w, b, optimizer: (w * 2).detach())


def test_views_of_a_parameter_show_what_a_repeated_step_wrote(repeated: list[bool]) -> None:
    check_equal(lambda w, b, optimizer: w.detach()[1:])
    assert repeated


def test_numbers_taken_out_of_a_parameter_stay(repeated: list[bool]) -> None:
    kept: list[Any] = []

    def between(w: Any, b: Any, optimizer: Any) -> None:
        kept.append(w.detach().clone().numpy())

    check_equal(between)
    half = len(kept) // 2
    assert numpy.allclose(kept[:half], kept[half:], atol=1e-5)


def test_a_setting_that_changes_counts_from_the_next_step_on(repeated: list[bool]) -> None:
    turn = iter([0.0, 0.0, 0.0, 0.5, 0.5, 0.1] * 2)

    def between(w: Any, b: Any, optimizer: Any) -> None:
        optimizer.param_groups[0]["weight_decay"] = next(turn)

    check_equal(between)
    assert repeated.count(True) == 3


def test_a_learning_rate_that_changes_is_data(repeated: list[bool]) -> None:
    def between(w: Any, b: Any, optimizer: Any) -> None:
        optimizer.param_groups[0]["lr"] *= 0.5

    check_equal(between)
    assert repeated.count(True) >= 4


def test_a_parameter_without_a_gradient_rests(repeated: list[bool]) -> None:
    turn = iter([False, False, True, True, False, False] * 2)

    def between(w: Any, b: Any, optimizer: Any) -> None:
        if next(turn):
            b.grad = None

    check_equal(between)


def test_a_parameter_that_is_assigned_to_between_is_what_is_changed(repeated: list[bool]) -> None:
    def between(w: Any, b: Any, optimizer: Any) -> None:
        w.data.mul_(0.9)
        b.data = b.data + 1

    check_equal(between)


def test_a_gradient_that_is_clipped_or_scaled_counts(repeated: list[bool]) -> None:
    def between(w: Any, b: Any, optimizer: Any) -> None:
        w.grad.mul_(3.0)
        b.grad = b.grad * 0.5

    check_equal(between)
    assert repeated.count(True) >= 4


def test_a_copy_of_an_optimizer_goes_on_by_itself(repeated: list[bool]) -> None:
    copies: list[Any] = []

    def between(w: Any, b: Any, optimizer: Any) -> None:
        copies.append(copy.deepcopy(optimizer))

    check_equal(between)


def test_an_update_of_the_users_own_is_called_at_each_step(repeated: list[bool]) -> None:
    class Slower(Optimizer):
        calls = 0

        def make_state(self, parameter: Any, group: Any) -> Any:
            return {}

        def update(self, parameter: Any, gradient: Any, state: Any, group: Any) -> Any:
            self.calls += 1
            return parameter - gradient * (0.1 / self.calls)

    w = ours.ones(2, requires_grad=True)
    optimizer = Slower([w], {"lr": 0.1})
    for _ in range(4):
        optimizer.zero_grad()
        (w * ours.tensor([1.0, 2.0])).sum().backward()
        optimizer.step()
    steps = 0.1 * (1 + 1 / 2 + 1 / 3 + 1 / 4)
    assert w.tolist() == pytest.approx([1 - steps, 1 - 2 * steps])
    assert optimizer.calls == 4 and not repeated


def check_equal(between: Between) -> None:
    """Both libraries give the same, whatever happens between."""
    expected = flat(train(torch, between))
    assert flat(train(ours, between)) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def flat(values: Any) -> list[float]:
    """All numbers of nested lists."""
    if not isinstance(values, list):
        return [float(values)]
    return [number for value in values for number in flat(value)]
