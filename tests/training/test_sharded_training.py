"""Training over several devices: the losses are those of one device, whatever lies where."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import ogive
from ogive import Mesh, Tensor, nn, optim
from ogive.errors import ArgumentError
from tests.raising import raises

TWO = ("CPU:0", "CPU:1")
OTHERS = ("CPU:1", "CPU:2", "CPU:3", "CPU:4")
STEPS = 5


def make_model() -> nn.Sequential:
    ogive.manual_seed(1)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8), nn.LayerNorm(8))


def train(
    model: nn.Module,
    place: Callable[[Tensor], Tensor],
    steps: range = range(STEPS),
    state: Any = None,
) -> tuple[list[float], Any]:
    """The losses of some steps, and the optimizer, which goes on from a state."""
    optimizer = optim.AdamW(model.parameters(), lr=1e-2)
    if state is not None:
        optimizer.load_state_dict(state)
    losses = []
    for step in steps:
        rng = numpy.random.default_rng(step)
        x = place(Tensor(rng.standard_normal((8, 8)).astype(numpy.float32)))
        y = place(Tensor(rng.integers(0, 8, 8)))
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, optimizer


@pytest.fixture(scope="module")
def expected() -> list[float]:
    return train(make_model(), lambda x: x)[0]


def axes_of(tensor: Tensor) -> tuple[int | None, ...]:
    assert tensor.sharding is not None
    return tensor.sharding.axes


def test_data_parallel(expected: list[float]) -> None:
    model = make_model().shard(TWO)
    losses, _ = train(model, lambda x: x.shard(TWO, 0))
    numpy.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert {axes_of(parameter) for parameter in model.parameters()} == {(None,)}


def test_tensor_parallel_beside_data_parallel(expected: list[float]) -> None:
    mesh = Mesh(("data", 2), ("model", 2))
    columns_then_rows = {"0.*": ("model",), "2.weight": (None, "model")}
    model = make_model().shard(mesh, columns_then_rows)
    losses, _ = train(model, lambda x: x.shard(mesh, ("data",)))
    numpy.testing.assert_allclose(losses, expected, rtol=1e-5)
    assert axes_of(model[0].weight) == (None, 0) and axes_of(model[2].weight) == (None, 1)


def test_parameters_and_state_of_the_optimizer_in_parts(expected: list[float]) -> None:
    model = make_model().shard(TWO, {"*": 0})
    losses, optimizer = train(model, lambda x: x.shard(TWO, 0))
    numpy.testing.assert_allclose(losses, expected, rtol=1e-5)
    state = [tensor for own in optimizer.state.values() for tensor in own.values()]
    assert {axes_of(tensor) for tensor in [*model.parameters(), *state]} == {(0,)}


def test_a_pattern_that_fits_no_parameter_is_an_error() -> None:
    model = nn.Linear(4, 4)
    with raises(ArgumentError, match=r"matches no parameter .*did you mean 'weight'"):
        model.shard(TWO, {"wieght": 0})
    assert model.weight.sharding is None


def test_a_model_is_loaded_in_the_layout_it_has() -> None:
    model, other = make_model().shard(TWO, {"*": 0}), make_model()
    saved = {name: tensor.numpy() * 2 for name, tensor in other.state_dict().items()}
    model.load_state_dict(saved)
    assert {axes_of(parameter) for parameter in model.parameters()} == {(0,)}
    numpy.testing.assert_array_equal(model[0].weight.numpy(), saved["0.weight"])
    other.load_state_dict(model.state_dict())
    numpy.testing.assert_array_equal(other[0].weight.numpy(), saved["0.weight"])


@pytest.mark.parametrize("before", [None, {"*": 0}])
@pytest.mark.parametrize("after", [None, {"0.weight": 0, "2.*": 0}])
def test_a_checkpoint_goes_on_in_another_sharding(
    before: Any, after: Any, expected: list[float], tmp_path: Path
) -> None:
    model, rest = make_model().shard(TWO, before), make_model().shard(OTHERS, after)
    losses, optimizer = train(model, lambda x: x.shard(TWO, 0), range(3))
    ogive.save({"model": model.state_dict(), "state": optimizer.state_dict()}, tmp_path / "file.pt")
    found = ogive.load(tmp_path / "file.pt")
    rest.load_state_dict(found["model"])
    again, _ = train(rest, lambda x: x.shard(OTHERS, 0), range(3, STEPS), found["state"])
    numpy.testing.assert_allclose([*losses, *again], expected, rtol=1e-5)
