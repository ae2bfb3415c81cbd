"""State of optimizers in parts, over the devices of a mesh."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import ogive
from ogive import Mesh, Tensor, distributed, nn, optim
from ogive.errors import ArgumentError, ArgumentTypeError, DeviceError
from tests.raising import raises

MESH = Mesh(("data", 2), ("model", 2))


def make_model() -> nn.Sequential:
    ogive.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))


def take_steps(model: nn.Module, optimizer: optim.Optimizer, place: Any) -> list[float]:
    losses = []
    for seed in range(3):
        x = numpy.random.default_rng(seed).standard_normal((4, 4)).astype("float32")
        optimizer.zero_grad()
        loss = model(place(Tensor(x))).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def axes_of(tensor: Tensor) -> tuple[int | None, ...]:
    assert tensor.sharding is not None
    return tensor.sharding.axes


def test_state_is_divided_along_an_axis_that_devices_can_share() -> None:
    model = make_model().shard(MESH, {"0.weight": ("model",)})
    optimizer = optim.AdamW(model.parameters(), shard=MESH["data"])
    axes = {
        name: {axes_of(tensor) for tensor in optimizer.state[id(parameter)].values()}
        for name, parameter in model.named_parameters()
    }
    assert axes == {
        "0.weight": {(1, 0)}, "0.bias": {(0, None)}, "2.weight": {(1, None)},
        "2.bias": {(None, None)},  # three elements for two devices
    }  # fmt: skip


@pytest.mark.parametrize("kind", [optim.AdamW, optim.Adafactor])
def test_steps_are_those_of_whole_state(kind: Any) -> None:
    plain, model = make_model(), make_model().shard(MESH)
    expected = take_steps(plain, kind(plain.parameters(), lr=1e-2), lambda x: x)
    optimizer = kind(model.parameters(), lr=1e-2, shard=MESH["data"])
    found = take_steps(model, optimizer, lambda x: x.shard(MESH, ("data",)))
    numpy.testing.assert_allclose(found, expected, rtol=1e-5)


def test_state_goes_from_parts_to_whole_and_back() -> None:
    model = make_model().shard(MESH)
    optimizer = optim.AdamW(model.parameters(), shard=MESH["data"])
    take_steps(model, optimizer, lambda x: x.shard(MESH, ("data",)))
    saved = optimizer.state_dict()
    plain = make_model()
    other = optim.AdamW(plain.parameters())
    other.load_state_dict(saved)
    again = optim.AdamW(model.parameters(), shard=MESH["data"])
    again.load_state_dict(other.state_dict())
    for parameter in model.parameters():
        for name, tensor in optimizer.state[id(parameter)].items():
            back = again.state[id(parameter)][name]
            numpy.testing.assert_array_equal(back.numpy(), tensor.numpy())
            assert back.sharding == tensor.sharding


def test_what_state_cannot_be_divided_along_is_an_error() -> None:
    with raises(DeviceError, match=r"along 'data' of Mesh.*is on CPU; put the model there"):
        optim.AdamW(make_model().parameters(), shard=MESH["data"])
    with raises(ArgumentTypeError, match=r'an axis of a mesh, such as mesh\["data"\]'):
        optim.AdamW(make_model().parameters(), shard="data")  # type: ignore[arg-type]
    with raises(ArgumentError, match=r"has no axis 'dat' \(did you mean 'data'"):
        MESH["dat"]
    with raises(ArgumentError, match="Adafactor: the update of an element depends"):
        optim.Adafactor(make_model().parameters(), shard=distributed.new_group())
