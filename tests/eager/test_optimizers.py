"""Steps over eager parameters: PyTorch's values, and eager before and after."""

from __future__ import annotations

import copy
from typing import Any

import numpy
import pytest
import torch as pytorch

import ogive
import ogive.torch as torch
from ogive.optim.optimizer import Optimizer

SHAPES = [(4, 3), (4,), ()]

SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "weight_decay": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.05, "betas": (0.5, 0.9), "eps": 1e-3, "maximize": True}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.0, "amsgrad": True}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1,
                 "initial_accumulator_value": 0.5}),
    ("RMSprop", {"lr": 0.05}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
]  # fmt: skip

OTHERS: list[tuple[str, dict[str, Any]]] = [
    ("Adadelta", {"lr": 0.5, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.05}),
    ("NAdam", {"lr": 0.05}),
    ("RAdam", {"lr": 0.05}),
    ("Rprop", {"lr": 0.05}),
    ("ASGD", {"lr": 0.05, "t0": 3.0}),
]


def pair(dtype: str = "float32") -> tuple[list[Any], list[Any]]:
    """The same parameters of both libraries."""
    random = numpy.random.default_rng(7)
    arrays = [numpy.asarray(random.normal(size=shape), dtype) for shape in SHAPES]
    ours = [torch.nn.Parameter(torch.tensor(array)) for array in arrays]
    theirs = [pytorch.nn.Parameter(pytorch.tensor(array)) for array in arrays]
    return ours, theirs


def give_gradients(ours: list[Any], theirs: list[Any], step: int, resting: int = -1) -> None:
    random = numpy.random.default_rng(step)
    for position, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        array = numpy.asarray(random.normal(size=tuple(one.shape)), one.dtype.numpy)
        is_resting = position == resting
        one.grad = None if is_resting else torch.tensor(array)
        other.grad = None if is_resting else pytorch.tensor(array)


def check(ours: list[Any], theirs: list[Any]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        numpy.testing.assert_allclose(
            one.detach().numpy(), other.detach().numpy(), rtol=2e-5, atol=2e-6
        )


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_twenty_steps_are_those_of_pytorch(name: str, settings: Any, dtype: str) -> None:
    ours, theirs = pair(dtype)
    own = getattr(torch.optim, name)(ours, **settings)
    other = getattr(pytorch.optim, name)(theirs, **settings)
    for step in range(20):
        give_gradients(ours, theirs, step)
        own.step()
        other.step()
    assert all(parameter.is_eager for parameter in ours)
    state = [tensor for each in own.state_dict()["state"].values() for tensor in each.values()]
    assert all(tensor.is_eager for tensor in state)
    check(ours, theirs)


@pytest.mark.parametrize(("name", "settings"), OTHERS)
def test_other_optimizers_are_those_of_pytorch(name: str, settings: Any) -> None:
    ours, theirs = pair()
    own = getattr(torch.optim, name)(ours, **settings)
    other = getattr(pytorch.optim, name)(theirs, **settings)
    for step in range(8):
        give_gradients(ours, theirs, step)
        own.step()
        other.step()
    check(ours, theirs)


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_a_parameter_that_rests_keeps_its_own_number_of_steps(name: str, settings: Any) -> None:
    ours, theirs = pair()
    own = getattr(torch.optim, name)(ours, **settings)
    other = getattr(pytorch.optim, name)(theirs, **settings)
    for step in range(6):
        give_gradients(ours, theirs, step, resting=1 if step in (1, 2, 4) else -1)
        own.step()
        other.step()
    assert all(parameter.is_eager for parameter in ours)
    check(ours, theirs)


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_a_parameter_that_settles_goes_on_as_it_was(name: str, settings: Any) -> None:
    ours, theirs = pair()
    own = getattr(torch.optim, name)(ours, **settings)
    other = getattr(pytorch.optim, name)(theirs, **settings)
    for step in range(6):
        if step in (2, 4):
            ours[0].node  # noqa: B018  (it settles)
            assert not ours[0].is_eager
        give_gradients(ours, theirs, step)
        own.step()
        other.step()
    check(ours, theirs)


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
@pytest.mark.usefixtures("no_allowance")
def test_eager_and_large_parameters_step_together(name: str, settings: Any) -> None:
    random = numpy.random.default_rng(3)
    arrays = [random.normal(size=size).astype("float32") for size in (5, 70_000)]
    ours = [torch.nn.Parameter(torch.tensor(array)) for array in arrays]
    theirs = [pytorch.nn.Parameter(pytorch.tensor(array)) for array in arrays]
    assert [parameter.is_eager for parameter in ours] == [True, False]
    own = getattr(torch.optim, name)(ours, **settings)
    other = getattr(pytorch.optim, name)(theirs, **settings)
    for step in range(3):
        give_gradients(ours, theirs, step)
        own.step()
        other.step()
    check(ours, theirs)


def test_a_schedule_changes_the_rate_of_eager_steps_and_of_compiled_ones() -> None:
    ours, theirs = pair()
    own, other = torch.optim.Adam(ours, lr=0.1), pytorch.optim.Adam(theirs, lr=0.1)
    schedules = [
        torch.optim.lr_scheduler.StepLR(own, 1, gamma=0.5),
        pytorch.optim.lr_scheduler.StepLR(other, 1, gamma=0.5),
    ]
    for step in range(6):
        if step == 3:
            ours[0].node  # noqa: B018
            own.param_groups[0].rate.node  # noqa: B018
        give_gradients(ours, theirs, step)
        own.step()
        other.step()
        for schedule in schedules:
            schedule.step()
        assert own.param_groups[0].rate.item() == own.param_groups[0]["lr"]
    check(ours, theirs)


def test_momentum_may_be_turned_on_after_the_first_step() -> None:
    ours, theirs = pair()
    own, other = torch.optim.SGD(ours, lr=0.1), pytorch.optim.SGD(theirs, lr=0.1)
    for step in range(6):
        if step == 2:
            own.param_groups[0]["momentum"] = other.param_groups[0]["momentum"] = 0.9
        give_gradients(ours, theirs, step)
        own.step()
        other.step()
    check(ours, theirs)


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_a_state_that_is_loaded_goes_on_as_the_one_it_was_saved_from(
    name: str, settings: Any
) -> None:
    ours, theirs = pair()
    own = getattr(torch.optim, name)(ours, **settings)
    other = getattr(pytorch.optim, name)(theirs, **settings)
    for step in range(3):
        give_gradients(ours, theirs, step)
        own.step()
        other.step()
    copies = [torch.nn.Parameter(parameter.detach()) for parameter in ours]
    second = getattr(torch.optim, name)(copies, **settings)
    second.load_state_dict(own.state_dict())
    for step in range(3, 6):
        give_gradients(copies, theirs, step)
        second.step()
        other.step()
    assert all(parameter.is_eager for parameter in copies)
    check(copies, theirs)


def test_a_saved_state_does_not_change_with_later_steps_of_a_copy() -> None:
    ours, theirs = pair()
    own = torch.optim.Adam(ours, lr=0.1)
    give_gradients(ours, theirs, 0)
    own.step()
    saved = copy.deepcopy(own.state_dict())
    before = saved["state"][0]["exp_avg"].tolist()
    own.step()
    assert saved["state"][0]["exp_avg"].tolist() == before
    assert own.state_dict()["state"][0]["exp_avg"].tolist() != before


@pytest.mark.parametrize("is_taken_up", [False, True])
def test_a_captured_step_goes_on_from_eager_ones_and_they_from_it(is_taken_up: bool) -> None:
    ours, theirs = pair()
    own, other = torch.optim.Adam(ours, lr=0.1), pytorch.optim.Adam(theirs, lr=0.1)

    @ogive.jit
    def captured() -> None:
        own.step()

    for step in range(8):
        give_gradients(ours, theirs, step)
        (captured if step in (2, 3, 5, 6) else own.step)()
        other.step()
        if is_taken_up and step in (3, 4):
            assert all((torch.ones(()) + parameter).is_eager for parameter in ours)
            assert all(parameter.is_eager for parameter in ours)
    check(ours, theirs)


def test_a_step_by_a_closure_gives_its_loss() -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    own = torch.optim.SGD([parameter], lr=0.5)

    def closure() -> Any:
        own.zero_grad()
        loss = (parameter + parameter).sum()
        loss.backward()
        return loss

    assert own.step(closure).item() == -2.0
    assert parameter.tolist() == [0.0, -3.0]


def test_what_was_computed_before_a_step_keeps_its_values() -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    before = parameter + 1
    shown = parameter.detach()
    parameter.grad = torch.ones(2)
    torch.optim.SGD([parameter], lr=0.5).step()
    assert before.tolist() == [2.0, -1.0]
    assert shown.tolist() == parameter.tolist() == [0.5, -2.5]


def test_an_optimizer_of_the_users_own_steps_over_eager_parameters() -> None:
    class Signs(Optimizer):
        def make_state(self, parameter: Any, group: Any) -> Any:
            return {}

        def update(self, parameter: Any, gradient: Any, state: Any, group: Any) -> Any:
            return parameter - gradient.sign() * group["lr"]

    parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    own = Signs([parameter], {"lr": 0.5})
    parameter.grad = torch.tensor([3.0, -7.0])
    own.step()
    assert parameter.tolist() == [0.5, -1.5]


@pytest.mark.parametrize("skipped", [True, False])
def test_a_step_is_left_out_where_a_condition_says_so(skipped: bool) -> None:
    parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    own = torch.optim.Adam([parameter], lr=0.5)
    parameter.grad = torch.ones(2)
    own.step_unless(torch.tensor(skipped))
    assert parameter.is_eager
    assert (parameter.tolist() == [1.0, -2.0]) is skipped
    steps = [entry["step"].item() for entry in own.state_dict()["state"].values()]
    assert steps == ([] if skipped else [1])


@pytest.mark.parametrize(("name", "settings"), [*SETTINGS, *OTHERS])
def test_the_state_of_eager_parameters_is_eager_from_the_beginning(
    name: str, settings: Any
) -> None:
    weight = torch.ones(3, requires_grad=True)
    optimizer = getattr(torch.optim, name)([weight], **settings)
    assert all(each.is_eager for each in optimizer.state[weight].values())
