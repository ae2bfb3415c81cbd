"""`GradScaler` against PyTorch's: scales, skipped steps, states."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, optim
from ogive.amp import GradScaler
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError
from tests.raising import raises

OVERFLOWS = (2, 5)
START = numpy.random.default_rng(4).normal(size=(3, 4))


def train(library: Any, name: str, settings: dict[str, Any], captured: bool = False) -> list[Any]:
    """Scale, parameters and growth of some steps, a few of which overflow."""
    if library is ogive:
        parameter: Any = Tensor(START, requires_grad=True)
        make, tensor, clip = getattr(optim, name), Tensor, ogive.nn.utils.clip_grad_norm_
    else:
        parameter = torch.tensor(START, requires_grad=True)
        make, tensor, clip = (
            getattr(torch.optim, name), torch.tensor, torch.nn.utils.clip_grad_norm_,
        )  # fmt: skip
    optimizer = make([parameter], **settings)
    scaler = library.amp.GradScaler("cpu", init_scale=256.0, growth_interval=2)

    def step(factor: Any) -> Any:
        optimizer.zero_grad()
        loss = (parameter * parameter * factor).sum()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        clip([parameter], 1.0)
        scaler.step(optimizer)
        scaler.update()
        return loss

    run = ogive.jit(step) if captured else step
    found = []
    for number in range(8):
        run(tensor([float("inf") if number in OVERFLOWS else 1.0 + number]))
        found.append((scaler.state_dict(), parameter.detach().numpy().copy()))
    return found


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize(
    ("name", "settings"),
    [("Adam", {"lr": 0.1, "amsgrad": True}), ("SGD", {"lr": 0.1, "momentum": 0.9})],
)
def test_steps_that_overflow_are_skipped(
    name: str, settings: dict[str, Any], captured: bool
) -> None:
    ours, theirs = train(ogive, name, settings, captured), train(torch, name, settings)
    for (state, values), (their_state, their_values) in zip(ours, theirs, strict=True):
        assert state == their_state
        numpy.testing.assert_allclose(values, their_values, rtol=1e-6)


def test_a_step_without_unscale_takes_the_scale_out() -> None:
    parameter = Tensor([1.0, 2.0], requires_grad=True)
    optimizer = optim.SGD([parameter], lr=0.5)
    scaler = GradScaler(init_scale=1024.0)
    scaler.scale(parameter.sum()).backward()
    assert scaler.step(optimizer) is None
    scaler.update()
    assert parameter.tolist() == [0.5, 1.5]


def test_two_optimizers_share_one_scale() -> None:
    parameters = [Tensor([1.0], requires_grad=True) for _ in range(2)]
    first, second = [optim.SGD([parameter], lr=1.0) for parameter in parameters]
    scaler = GradScaler(init_scale=8.0)
    loss = parameters[0].sum() + (parameters[1] * float("inf")).sum()
    scaler.scale(loss).backward()
    scaler.step(first)
    scaler.step(second)
    scaler.update()
    assert [p.tolist() for p in parameters] == [[0.0], [1.0]]
    assert scaler.get_scale() == 4.0


def test_several_outputs_are_scaled_and_a_small_scalar_is_widened() -> None:
    scaler = GradScaler()
    pair = scaler.scale((Tensor([1.0]), [Tensor([2.0], ogive.bfloat16)]))
    assert pair[0].tolist() == [65536.0] and pair[1][0].dtype is ogive.bfloat16
    assert scaler.scale(Tensor(2.0, ogive.float16)).item() == 131072.0
    with raises(ArgumentTypeError, match="takes a tensor or several, not float"):
        scaler.scale(2.0)


def test_a_scaler_that_is_not_enabled_does_nothing() -> None:
    parameter = Tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([parameter], lr=0.5)
    scaler = GradScaler(enabled=False)
    loss = parameter.sum()
    assert scaler.scale(loss) is loss and not scaler.is_enabled()
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert parameter.tolist() == [0.5]
    assert scaler.get_scale() == 1.0 and scaler.state_dict() == {}


def test_a_scaler_goes_on_from_pytorchs_state() -> None:
    state = torch.amp.GradScaler("cpu", init_scale=64.0, growth_interval=7).state_dict()
    scaler = GradScaler()
    scaler.load_state_dict({**state, "_growth_tracker": 3})
    assert scaler.state_dict() == {**state, "_growth_tracker": 3}
    scaler.update(32.0)
    assert scaler.get_scale() == 32.0
    with raises(ArgumentError, match="the state is empty"):
        scaler.load_state_dict({})


def test_the_wrong_order_is_refused() -> None:
    parameter = Tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([parameter], lr=0.5)
    scaler = GradScaler()
    with raises(ArgumentError, match="no parameter of this optimizer has a gradient"):
        scaler.step(optimizer)
    with raises(ArgumentError, match="no step or unscale_ since the last one"):
        scaler.update()
    parameter.sum().backward()
    scaler.unscale_(optimizer)
    with raises(ArgumentError, match="were unscaled since the last update"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with raises(ArgumentError, match="has taken its step"):
        scaler.step(optimizer)
    with raises(ArgumentError, match="takes no closure"):
        scaler.step(optim.LBFGS([parameter]), lambda: parameter.sum())


def test_gradients_of_float16_are_refused() -> None:
    parameter = Tensor([1.0], ogive.float16, requires_grad=True)
    parameter.sum().backward()
    with raises(DtypeError, match="a gradient is of float16"):
        GradScaler().unscale_(optim.SGD([parameter], lr=0.5))


@pytest.mark.parametrize(
    "settings", [{"growth_factor": 1.0}, {"backoff_factor": 1.0}, {"growth_interval": 0}]
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any]) -> None:
    with raises(ArgumentError, match=next(iter(settings))):
        GradScaler(**settings)
