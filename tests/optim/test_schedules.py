"""Schedules as programs hold them: their class, their attributes, and metrics of any sign."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch

import ogive
from ogive import optim
from ogive.errors import ArgumentError
from tests.raising import raises

LIBRARIES = [(ogive, optim), (torch, torch.optim)]


def optimizer_of(library: Any, rates: tuple[float, ...] = (0.2,)) -> Any:
    tensor = library.tensor if library is torch else library.Tensor
    groups = [{"params": [tensor([1.0], requires_grad=True)], "lr": rate} for rate in rates]
    return (torch.optim if library is torch else optim).SGD(groups)


def one_after_the_other(library: Any, optimizer: Any) -> Any:
    first = library.LinearLR(optimizer, start_factor=0.1, total_iters=4)
    return library.SequentialLR(
        optimizer, [first, library.CosineAnnealingLR(optimizer, T_max=6)], milestones=[4]
    )


def in_a_chain(library: Any, optimizer: Any) -> Any:
    return library.ChainedScheduler([
        library.ExponentialLR(optimizer, 0.9), library.StepLR(optimizer, 2),
    ])


@pytest.mark.parametrize("make", [
    one_after_the_other,
    in_a_chain,
    lambda library, optimizer: library.ReduceLROnPlateau(optimizer),
])
def test_every_schedule_is_an_lr_scheduler(make: Any) -> None:
    schedule = make(optim.lr_scheduler, optimizer_of(ogive))
    assert isinstance(schedule, optim.lr_scheduler.LRScheduler)


def test_the_schedule_of_averaged_weights_is_an_lr_scheduler() -> None:
    schedule = optim.swa_utils.SWALR(optimizer_of(ogive), swa_lr=0.1)
    assert isinstance(schedule, optim.lr_scheduler.LRScheduler)


@pytest.mark.parametrize("settings", [
    {"mode": "min"}, {"mode": "max"}, {"mode": "min", "threshold_mode": "abs", "threshold": 0.5},
    {"mode": "max", "threshold_mode": "abs", "threshold": 0.5, "cooldown": 1},
    {"min_lr": [0.05, 0.01]},
])
def test_a_plateau_of_negative_metrics_is_that_of_pytorch(settings: dict[str, Any]) -> None:
    found = []
    for library, optimizers in LIBRARIES:
        optimizer = optimizer_of(library, (0.2, 0.1))
        schedule = optimizers.lr_scheduler.ReduceLROnPlateau(
            optimizer, factor=0.5, patience=1, **settings
        )
        rates = []
        for metric in (-1.0, -1.0, -1.0, -0.9, -1.00005, -1.6, -1.7, -1.6, 0.0, 0.2, 0.2, 0.2):
            schedule.step(metric)
            rates += [*schedule.get_last_lr(), schedule.num_bad_epochs, schedule.best]
        found.append(rates)
    assert found[0] == pytest.approx(found[1])


def test_schedules_inside_of_schedules_follow_one_another() -> None:
    found = []
    for is_nested in (True, False):
        optimizer = optimizer_of(ogive)
        schedules: Any = optim.lr_scheduler
        first = schedules.LinearLR(optimizer, start_factor=0.1, total_iters=4)
        second = schedules.CosineAnnealingLR(optimizer, T_max=6)
        last = schedules.ExponentialLR(optimizer, 0.5)
        if is_nested:
            inner = schedules.SequentialLR(optimizer, [first, second], milestones=[4])
            schedule = schedules.SequentialLR(optimizer, [inner, last], milestones=[7])
        else:
            schedule = schedules.SequentialLR(optimizer, [first, second, last], milestones=[4, 7])
        rates = []
        for _ in range(10):
            schedule.step()
            rates += schedule.get_last_lr()
        found.append(rates)
    assert found[0] == pytest.approx(found[1])


def test_a_factor_of_each_step_is_asked_for_once() -> None:
    asked = []

    def factor(step: int) -> float:
        asked.append(step)
        return 0.5

    schedule = optim.lr_scheduler.MultiplicativeLR(optimizer_of(ogive), factor)
    for _ in range(3):
        schedule.step()
    assert (asked, schedule.get_last_lr()) == ([1, 2, 3], [0.025])


@pytest.mark.parametrize(("name", "settings"), [
    ("CosineAnnealingLR", {"T_max": 6, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2}),
    ("StepLR", {"step_size": 2, "gamma": 0.3}),
    ("LinearLR", {"start_factor": 0.5, "end_factor": 0.9, "total_iters": 3}),
    ("PolynomialLR", {"total_iters": 4, "power": 2.0}),
    ("ConstantLR", {"factor": 0.4, "total_iters": 2}),
])
def test_the_settings_of_a_schedule_are_its_attributes(name: str, settings: dict[str, Any]) -> None:
    schedule = getattr(optim.lr_scheduler, name)(optimizer_of(ogive), **settings)
    assert {each: getattr(schedule, each) for each in settings} == settings


def test_a_plateau_cannot_be_one_of_several_schedules() -> None:
    optimizer = optimizer_of(ogive)
    plateau = optim.lr_scheduler.ReduceLROnPlateau(optimizer)
    with raises(ArgumentError, match="ReduceLROnPlateau"):
        optim.lr_scheduler.ChainedScheduler([plateau])


@pytest.mark.parametrize("name", ["Lion", "LAMB", "Muon"])
def test_optimizers_take_the_settings_that_say_how_a_step_runs(name: str) -> None:
    parameter = ogive.ones(2, 2, requires_grad=True)
    optimizer = getattr(optim, name)([parameter], lr=0.1, foreach=True, fused=False, shard=None)
    parameter.sum().backward()
    optimizer.step()
    assert parameter.tolist() != [[1.0, 1.0], [1.0, 1.0]]


def test_lbfgs_makes_one_step_where_no_evaluation_is_allowed() -> None:
    found = []
    for library, optimizers in LIBRARIES:
        tensor = torch.tensor if library is torch else ogive.Tensor
        x: Any = tensor([3.0, -2.0], requires_grad=True)
        optimizer: Any = optimizers.LBFGS([x], lr=0.1, max_eval=0)

        def closure(x: Any = x, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            loss = (x**4).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        found.append(x.tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-6)


@pytest.mark.parametrize(("name", "settings"), [
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 9}),
    ("CyclicLR", {"base_lr": 0.01, "max_lr": 0.2, "step_size_up": 3}),
])
def test_a_schedule_that_was_loaded_goes_on_moving_the_momentum(
    name: str, settings: dict[str, Any]
) -> None:
    found = []
    for library, optimizers in LIBRARIES:
        optimizer = optimizer_of(library)
        for group in optimizer.param_groups:
            group["momentum"] = 0.9
        optimizer.defaults["momentum"] = 0.9
        schedule = getattr(optimizers.lr_scheduler, name)(optimizer, **settings)
        momenta = []
        for step in range(7):
            optimizer.step()
            schedule.step()
            if step == 3:
                schedule.load_state_dict(copy.deepcopy(schedule.state_dict()))
            momenta.append(optimizer.param_groups[0]["momentum"])
        found.append(momenta)
    assert found[0] == pytest.approx(found[1])


def test_the_state_of_a_schedule_holds_no_parameters() -> None:
    schedule: Any = optim.lr_scheduler.OneCycleLR(
        optim.Adam([ogive.ones(2, requires_grad=True)]), max_lr=0.1, total_steps=5
    )
    pickled = pickle.dumps(schedule.state_dict())
    assert b"Tensor" not in pickled and b"Momentum" not in pickled


def test_the_state_of_a_parameter_has_its_number_of_steps() -> None:
    parameter = ogive.ones(2, requires_grad=True)
    optimizer = optim.Adam([parameter], lr=0.1)
    for _ in range(3):
        parameter.sum().backward()
        optimizer.step()
    state: Any = optimizer.state
    assert float(state[parameter]["step"]) == 3
    assert sorted(state[parameter]) == ["exp_avg", "exp_avg_sq", "step"]
