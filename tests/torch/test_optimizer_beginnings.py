"""What optimizers and schedules begin with: rates at the first step, groups added later."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import ogive.torch as ours


def _losses(library: Any, name: str) -> list[Any]:
    parameter = library.nn.Parameter(library.tensor([1.0, -2.0]))
    optimizer = getattr(library.optim, name)([parameter], lr=0.1)
    schedule = library.optim.lr_scheduler.LinearLR(optimizer, 0.25, total_iters=4)
    seen = []
    for _ in range(4):
        optimizer.zero_grad()
        (parameter * parameter).sum().backward()
        optimizer.step()
        schedule.step()
        seen.append(parameter.tolist())
    return seen


@pytest.mark.parametrize("name", ["Rprop", "ASGD"])
def test_the_first_step_has_the_rate_of_a_schedule(name: str) -> None:
    for one, other in zip(_losses(ours, name), _losses(torch, name), strict=True):
        assert one == pytest.approx(other, rel=1e-5)


def _rates(library: Any, name: str, *args: Any) -> list[list[float]]:
    optimizer = library.optim.SGD([library.nn.Parameter(library.ones(2))], lr=0.1)
    schedule = getattr(library.optim.lr_scheduler, name)(optimizer, *args)
    seen = []
    for turn in range(6):
        optimizer.step()
        schedule.step()
        if turn == 1:
            late = library.nn.Parameter(library.ones(2))
            optimizer.add_param_group({"params": [late], "lr": 0.5})
        seen.append([float(group["lr"]) for group in optimizer.param_groups])
    return seen


@pytest.mark.parametrize(
    ("name", "args"),
    [("StepLR", (2, 0.5)), ("ExponentialLR", (0.9,)), ("MultiStepLR", ([2, 4],)),
     ("LinearLR", (0.25, 1.0, 4)), ("ConstantLR", (0.5, 3)), ("PolynomialLR", (5,))],
)  # fmt: skip
def test_rates_of_groups_that_are_added_later_follow(name: str, args: tuple[Any, ...]) -> None:
    for one, other in zip(_rates(ours, name, *args), _rates(torch, name, *args), strict=True):
        assert one == pytest.approx(other)
