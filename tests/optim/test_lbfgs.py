"""L-BFGS against PyTorch's, and its line search by the conditions that it states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, optim
from ogive.errors import ArgumentError, ArgumentTypeError, TraceError
from ogive.optim.line_search import Trial, strong_wolfe
from tests.raising import raises

START = numpy.array([-1.2, 1.0, 0.5])
MATRIX = numpy.random.default_rng(7).normal(size=(2, 3))


def problem(library: Any, **settings: Any) -> tuple[list[Any], Any, Callable[[], Any]]:
    """A curved valley in three numbers, a matrix beside it, and a parameter that is not used."""
    point = library.tensor(START, requires_grad=True)
    matrix = library.tensor(MATRIX, requires_grad=True)
    unused = library.tensor(START[:2], requires_grad=True)
    parameters = [point, matrix, unused]
    optimizer = library.optim.LBFGS(parameters, **settings)

    def closure() -> Any:
        optimizer.zero_grad()
        valley = 100 * (point[1:] - point[:-1] ** 2) ** 2 + (1 - point[:-1]) ** 2
        loss = valley.sum() + (matrix @ point).square().sum() * 0.01 + (matrix - 1).square().sum()
        loss.backward()
        return loss

    return parameters, optimizer, closure


@pytest.mark.parametrize("settings", [
    {"lr": 0.1}, {"lr": 0.5, "max_iter": 7, "history_size": 2},
    {"max_iter": 6, "line_search_fn": "strong_wolfe"}, {"max_eval": 3},
])  # fmt: skip
def test_steps_are_pytorchs(settings: dict[str, Any]) -> None:
    found = []
    for library in (ogive, torch):
        parameters, optimizer, closure = problem(library, **settings)
        losses = [optimizer.step(closure).item() for _ in range(3)]
        found.append([losses, *[parameter.detach().numpy().ravel() for parameter in parameters]])
    for mine, theirs in zip(*found, strict=True):
        numpy.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)


def test_a_minimum_is_found() -> None:
    settings = {"max_iter": 200, "line_search_fn": "strong_wolfe", "tolerance_change": 0}
    parameters, optimizer, closure = problem(ogive, **settings)
    optimizer.step(closure)
    closure()
    for parameter in parameters[:2]:
        assert parameter.grad.abs().max().item() < 1e-6


def test_a_state_goes_on_where_it_was() -> None:
    parameters, optimizer, closure = problem(ogive, lr=0.1, max_iter=3, max_eval=9)
    optimizer.step(closure)
    others, again, other_closure = problem(ogive, lr=0.9)
    for mine, theirs in zip(others, parameters, strict=True):
        mine.data = theirs.detach()
    again.load_state_dict(optimizer.state_dict())
    optimizer.step(closure)
    again.step(other_closure)
    assert again.n_iter == optimizer.n_iter == 6
    assert others[0].tolist() == parameters[0].tolist()


CURVES: list[tuple[Callable[[float], float], Callable[[float], float]]] = [
    (lambda t: (t - 3) ** 4 + t, lambda t: 4 * (t - 3) ** 3 + 1),
    (lambda t: -t / (t * t + 2), lambda t: (t * t - 2) / (t * t + 2) ** 2),
    (lambda t: numpy.cos(t) + t / 9, lambda t: -numpy.sin(t) + 1 / 9),
]


@pytest.mark.parametrize("curve", range(len(CURVES)))
@pytest.mark.parametrize("begin", [0.2, 0.01, 5.0, 40.0])
@pytest.mark.parametrize("length", [0.5, 1.0, 30.0])
def test_a_line_search_finds_a_step_by_its_conditions(
    curve: int, begin: float, length: float
) -> None:
    function, slope = CURVES[curve]
    down = -numpy.sign(slope(begin))
    direction = numpy.array([down])

    def evaluate(at: float) -> tuple[float, Any]:
        x = begin + at * down
        return float(function(x)), numpy.array([slope(x)])

    start = Trial(0.0, function(begin), direction, slope(begin) * down)
    best, count = strong_wolfe(evaluate, direction, start, length)
    assert count <= 25
    assert best.value <= start.value + 1e-4 * best.length * start.slope
    assert abs(best.slope) <= 0.9 * abs(start.slope)


def test_what_cannot_work_is_refused() -> None:
    x = ogive.ones(2, requires_grad=True)
    with raises(ArgumentError, match="None or 'strong_wolfe', not 'armijo'"):
        optim.LBFGS([x], line_search_fn="armijo")
    with raises(ArgumentError, match="one group of parameters"):
        optim.LBFGS([{"params": [x]}, {"params": [ogive.ones(2, requires_grad=True)]}])
    optimizer = optim.LBFGS([x])
    with raises(ArgumentTypeError, match="needs a closure, which clears the gradients"):
        optimizer.step()

    @ogive.jit
    def captured(y: Tensor) -> Tensor:
        return optimizer.step(lambda: (x * y).sum())

    with raises(TraceError, match="capture the closure"):
        captured(x.detach())
