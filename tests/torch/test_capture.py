"""`torch.compile` captures what needs no gradient, and lets gradients through the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.errors import ArgumentTypeError, TraceError
from tests.raising import raises


@pytest.fixture
def lazy_tensors() -> Iterator[None]:
    """All tensors are the compiler's, so that captured and plain calls agree to the last bit."""
    ogive.configure(eager=False)
    yield
    ogive.configure(eager=True)


@pytest.mark.usefixtures("lazy_tensors")
def test_a_module_is_trained_through_compile_and_captured_for_evaluation() -> None:
    plain = torch.nn.Linear(3, 1)
    model = torch.compile(plain, mode="reduce-overhead", fullgraph=True)
    x = torch.ones(2, 3)
    for _ in range(2):
        plain.zero_grad()
        model(x).sum().backward()
        assert plain.weight.grad.tolist() == [[2.0, 2.0, 2.0]]
    with torch.no_grad():
        found = [model(x * k).tolist() for k in (1, 2, 3)]
        assert found == [plain(x * k).tolist() for k in (1, 2, 3)]
    assert model._captured.cache_info().hits >= 1
    assert model.weight is plain.weight


def test_a_function_runs_from_its_trace_after_the_first_call() -> None:
    runs = []

    def run(x: Any) -> Any:
        runs.append(1)
        return x * 2

    double = torch.compile(run)
    assert [double(torch.tensor([n])).item() for n in (1, 2, 3)] == [2, 4, 6]
    assert len(runs) == 2  # as it is, and for the trace


def test_a_disabled_one_runs_as_it_is() -> None:
    runs = []

    def run(x: Any) -> Any:
        runs.append(1)
        return x * 2

    double = torch.compile(disable=True)(run)
    for n in (1, 2, 3):
        double(torch.tensor([n]))
    assert len(runs) == 3


def test_what_cannot_be_called_is_refused() -> None:
    with raises(ArgumentTypeError, match="compile takes a function or a module, not 3"):
        torch.compile(3)


def test_marks_of_scripts_give_what_they_mark() -> None:
    def double(x: Any) -> Any:
        return x * 2

    for mark in (torch.jit.script, torch.jit.ignore, torch.jit.unused, torch.jit.export):
        assert mark(double) is double
    assert torch.jit.ignore(drop=True)(double) is double
    assert torch.fx.wrap(double) is double
    assert not torch.jit.is_scripting()


def test_a_function_that_asks_for_values_runs_as_it_is() -> None:
    total = torch.zeros(1)

    @torch.compile  # type: ignore[untyped-decorator]
    def positive(x: Any) -> Any:
        total.add_(1)
        kept = x[x > 0]
        return kept if kept.sum() > 4 else -kept

    found = [positive(torch.tensor([k, -1.0, 2.0])).tolist() for k in (1.0, 3.0, -5.0, 1.0)]
    assert found == [[-1.0, -2.0], [3.0, 2.0], [-2.0], [-1.0, -2.0]]
    assert total.item() == 4


def test_a_full_graph_that_asks_for_values_is_an_error() -> None:
    @torch.compile(fullgraph=True)  # type: ignore[untyped-decorator]
    def positive(x: Any) -> Any:
        return x[x > 0]

    positive(torch.ones(2))
    with raises(TraceError, match="asks for values"):
        positive(torch.ones(2))


VIEWS: dict[str, Callable[[Any], Any]] = {
    "detach": lambda layer: layer.weight.detach(),
    "part": lambda layer: layer.weight.detach()[0],
    "state": lambda layer: layer.state_dict()["weight"],
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("begins", [0, 1])
def test_a_step_is_captured_while_a_view_of_what_it_changes_is_held(name: str, begins: int) -> None:
    def train(library: Any) -> tuple[list[float], list[Any]]:
        layer = library.nn.Linear(2, 3).double()
        with library.no_grad():
            layer.weight.copy_(library.arange(6.0).reshape(3, 2) / 7)
            layer.bias.zero_()
        optimizer = library.optim.SGD(layer.parameters(), lr=0.5, momentum=0.5)
        x = library.ones(4, 2, dtype=library.float64)

        def step(x: Any) -> Any:
            optimizer.zero_grad()
            loss = layer(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        chosen = torch.compile(step, fullgraph=True) if library is torch else step
        losses, views = [], []
        for turn in range(4):
            if turn == begins:
                views.append(VIEWS[name](layer))
            losses.append(chosen(x).item())
        return losses, [view.tolist() for view in views]

    found, expected = train(torch), train(pytorch)
    assert found[0] == pytest.approx(expected[0])
    numpy.testing.assert_allclose(found[1], expected[1])
