"""Optimizers and schedules against PyTorch's, step by step, in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy
import pytest
import torch

import ogive
from ogive import Tensor, nn, optim
from ogive.errors import ArgumentError, ArgumentTypeError, StateError
from tests.raising import raises

STEPS = 12

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "maximize": True}),
    ("Adam", {"lr": 0.01}),
    ("Adam", {"lr": 0.01, "betas": (0.8, 0.95), "weight_decay": 0.1, "amsgrad": True}),
    ("AdamW", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "weight_decay": 0.3, "maximize": True}),
    ("RMSprop", {"lr": 0.01}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("Adadelta", {"lr": 0.7, "rho": 0.8, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.02, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.02, "momentum_decay": 0.01, "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.02, "betas": (0.8, 0.9), "weight_decay": 0.1}),
    ("RAdam", {"lr": 0.02, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.05, "initial_accumulator_value": 0.1}),
    ("Rprop", {"lr": 0.1, "etas": (0.4, 1.3), "step_sizes": (1e-3, 0.2)}),
    ("ASGD", {"lr": 0.1, "lambd": 0.01, "t0": 5.0, "weight_decay": 0.1}),
    ("Adafactor", {"lr": 0.1, "weight_decay": 0.1}),
    ("Adafactor", {"lr": 0.5, "d": 1.5, "eps": (1e-3, 0.1), "maximize": True}),
]


def start() -> list[Any]:
    random = numpy.random.default_rng(11)
    return [random.normal(size=shape) for shape in ((3, 4), (5,), (4, 3))]


def loss_of(parameters: list[Any]) -> Any:
    first, second, third = parameters
    return ((first @ third).square().sum() + (second.exp() * second).sum()) / 10


def trajectory(parameters: list[Any], optimizer: Any, steps: int = STEPS) -> list[Any]:
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(parameters).backward()
        optimizer.step()
    return [p.detach().numpy() for p in parameters]


def pair(name: str, settings: dict[str, Any]) -> tuple[list[Any], Any, list[Any], Any]:
    ours = [ogive.Tensor(array, requires_grad=True) for array in start()]
    theirs = [torch.tensor(array, requires_grad=True) for array in start()]
    return (
        ours, getattr(optim, name)(ours, **settings),
        theirs, getattr(torch.optim, name)(theirs, **settings),
    )  # fmt: skip


def close(ours: list[Any], theirs: list[Any], tolerance: float = 1e-10) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        numpy.testing.assert_allclose(mine, other, rtol=tolerance, atol=tolerance / 100)


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_an_optimizer_follows_pytorchs(name: str, settings: dict[str, Any]) -> None:
    ours, our_optimizer, theirs, their_optimizer = pair(name, settings)
    # PyTorch keeps the product of NAdam's momenta and ASGD's rate in float32.
    tolerance = 1e-7 if name in ("NAdam", "ASGD") else 1e-10
    close(trajectory(ours, our_optimizer), trajectory(theirs, their_optimizer), tolerance)


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_a_jitted_step_is_the_same_step(name: str, settings: dict[str, Any]) -> None:
    ours, optimizer, _, _ = pair(name, settings)
    others, other_optimizer, _, _ = pair(name, settings)

    @ogive.jit
    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(ours)
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(STEPS):
        step()
    close([p.numpy() for p in ours], trajectory(others, other_optimizer))
    assert step.cache_info().traces == 1


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_a_step_on_another_device_is_the_same_step(name: str, settings: dict[str, Any]) -> None:
    ours, optimizer, _, _ = pair(name, settings)
    others = [ogive.Tensor(array, device="CPU:1", requires_grad=True) for array in start()]
    trajectory(ours, optimizer, 2)
    trajectory(others, getattr(optim, name)(others, **settings), 2)
    close([p.numpy() for p in others], [p.numpy() for p in ours])


def test_muon_makes_momentum_orthogonal() -> None:
    if not hasattr(torch.optim, "Muon"):
        pytest.skip("this PyTorch has no Muon")
    array = numpy.random.default_rng(2).normal(size=(8, 5)).astype(numpy.float32)
    ours, theirs = ogive.Tensor(array, requires_grad=True), torch.tensor(array, requires_grad=True)
    our_optimizer = optim.Muon([ours], lr=0.05)
    their_optimizer = torch.optim.Muon([theirs], lr=0.05)
    for _ in range(4):
        for p, optimizer in ((ours, our_optimizer), (theirs, their_optimizer)):
            optimizer.zero_grad()
            p.square().sum().backward()
            optimizer.step()
    numpy.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), atol=2e-2)


def test_lion_follows_its_definition() -> None:
    p, m = numpy.array([1.0, -2.0, 0.5]), numpy.zeros(3)
    tensor = ogive.Tensor(p, requires_grad=True)
    optimizer = optim.Lion([tensor], lr=0.1, weight_decay=0.2)
    for _ in range(5):
        gradient = p**2
        optimizer.zero_grad()
        (tensor**3 / 3).sum().backward()
        optimizer.step()
        p = p * (1 - 0.1 * 0.2) - 0.1 * numpy.sign(0.9 * m + 0.1 * gradient)
        m = 0.99 * m + 0.01 * gradient
    numpy.testing.assert_allclose(tensor.numpy(), p, rtol=1e-12)


def test_lamb_follows_its_definition() -> None:
    p = numpy.array([1.0, -2.0, 0.5])
    m, v = numpy.zeros(3), numpy.zeros(3)
    tensor = ogive.Tensor(p, requires_grad=True)
    optimizer = optim.LAMB([tensor], lr=0.1, weight_decay=0.2)
    for step in range(1, 6):
        gradient = p**2
        optimizer.zero_grad()
        (tensor**3 / 3).sum().backward()
        optimizer.step()
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
        update = m / (1 - 0.9**step) / (numpy.sqrt(v / (1 - 0.999**step)) + 1e-6) + 0.2 * p
        p = p - 0.1 * numpy.linalg.norm(p) / numpy.linalg.norm(update) * update
    numpy.testing.assert_allclose(tensor.numpy(), p, rtol=1e-10)


def test_groups_have_settings_of_their_own() -> None:
    def groups(tensors: list[Any]) -> list[dict[str, Any]]:
        return [{"params": tensors[:1], "lr": 0.5}, {"params": tensors[1:], "momentum": 0.9}]

    ours = [ogive.Tensor(array, requires_grad=True) for array in start()]
    theirs = [torch.tensor(array, requires_grad=True) for array in start()]
    close(
        trajectory(ours, optim.SGD(groups(ours), lr=0.01), 6),
        trajectory(theirs, torch.optim.SGD(groups(theirs), lr=0.01), 6),
    )


SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 3, "gamma": 0.5}),
    ("MultiStepLR", {"milestones": [2, 5], "gamma": 0.1}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("ConstantLR", {"factor": 0.25, "total_iters": 4}),
    ("LinearLR", {"start_factor": 0.1, "total_iters": 6}),
    ("PolynomialLR", {"total_iters": 8, "power": 2.0}),
    ("CosineAnnealingLR", {"T_max": 8, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 12}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 12, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 0.5, "total_steps": 12, "three_phase": True}),
    ("OneCycleLR", {"max_lr": 0.5, "epochs": 3, "steps_per_epoch": 4}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3}),
    ("CyclicLR", {"base_lr": [0.1], "max_lr": [0.5], "step_size_up": 2, "mode": "triangular2"}),
    ("CyclicLR", {
        "base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "step_size_down": 3,
        "mode": "exp_range", "gamma": 0.9,
    }),
    ("CyclicLR", {
        "base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "scale_fn": lambda step: 1 / (1 + step),
        "scale_mode": "iterations",
    }),
    ("LambdaLR", {"lr_lambda": lambda step: 1 / (step + 1)}),
    ("LambdaLR", {"lr_lambda": [lambda step: 0.9**step]}),
    ("MultiplicativeLR", {"lr_lambda": lambda step: 1 - 0.1 * step}),
]


@pytest.mark.parametrize(("name", "settings"), SCHEDULES)
def test_a_schedule_follows_pytorchs(name: str, settings: dict[str, Any]) -> None:
    _, ours, _, theirs = pair("SGD", {"lr": 0.2})
    if name in ("OneCycleLR", "CyclicLR"):
        settings = {**settings, "cycle_momentum": False}
    their_schedule = getattr(torch.optim.lr_scheduler, name)(theirs, **settings)
    our_schedule = getattr(optim.lr_scheduler, name)(ours, **settings)
    for _ in range(10):
        assert our_schedule.get_last_lr() == pytest.approx(their_schedule.get_last_lr(), rel=1e-9)
        theirs.step()
        our_schedule.step()
        their_schedule.step()


@pytest.mark.parametrize("optimizer", ["SGD", "Adam", "RMSprop"])
@pytest.mark.parametrize(
    ("name", "settings"), [entry for entry in SCHEDULES if entry[0] in ("OneCycleLR", "CyclicLR")]
)
def test_momentum_goes_the_other_way_while_a_rate_cycles(
    optimizer: str, name: str, settings: dict[str, Any]
) -> None:
    _, ours, _, theirs = pair(optimizer, {"lr": 0.2})
    their_schedule = getattr(torch.optim.lr_scheduler, name)(theirs, **settings)
    our_schedule = getattr(optim.lr_scheduler, name)(ours, **settings)
    for _ in range(12):
        key = "betas" if "betas" in theirs.defaults else "momentum"
        wanted = pytest.approx(theirs.param_groups[0][key], rel=1e-9)
        assert ours.param_groups[0][key] == wanted
        theirs.step()
        our_schedule.step()
        their_schedule.step()
    assert our_schedule.get_last_lr() == pytest.approx(their_schedule.get_last_lr(), rel=1e-9)


# PyTorch's ConstantLR, resumed at its end, changes the rate once more.
@pytest.mark.parametrize(
    ("name", "settings"), [entry for entry in SCHEDULES if entry[0] != "ConstantLR"]
)
def test_a_schedule_goes_on_with_an_optimizer_that_was_loaded(
    name: str, settings: dict[str, Any]
) -> None:
    if name in ("OneCycleLR", "CyclicLR"):
        settings = {**settings, "cycle_momentum": False}
    rates = []
    for library, at in ((optim, 1), (torch.optim, 3)):
        begun, resumed = [cast(Any, pair("SGD", {"lr": 0.2})[at]) for _ in range(2)]
        before = getattr(library.lr_scheduler, name)(begun, **settings)
        for _ in range(4):
            begun.step()
            before.step()
        resumed.load_state_dict(begun.state_dict())
        after = getattr(library.lr_scheduler, name)(resumed, **settings, last_epoch=3)
        assert after.get_last_lr() == before.get_last_lr()
        resumed.step()
        after.step()
        rates.append(after.get_last_lr())
    assert rates[0] == pytest.approx(rates[1], rel=1e-9)


def test_how_pytorch_runs_a_step_means_nothing() -> None:
    ours, _, theirs, _ = pair("SGD", {"lr": 0.1})
    optimizer = optim.Adam(ours, 0.1, decoupled_weight_decay=True, weight_decay=0.1, fused=True)
    other = torch.optim.AdamW(theirs, 0.1, weight_decay=0.1, foreach=False)
    close(trajectory(ours, optimizer), trajectory(theirs, other))
    with raises(ArgumentError, match="gradients do not flow through step"):
        optim.SGD(ours, differentiable=True)
    with raises(TypeError, match="has no setting 'quick'"):
        optim.SGD(ours, quick=True)  # type: ignore[call-arg]


def rates_of(make: Callable[[Any, Any], Any], steps: int) -> list[list[float]]:
    """The rates of so many steps, ours and PyTorch's, by a schedule for a library's optimizer."""
    rates = []
    for library, optimizer in zip(
        (optim.lr_scheduler, torch.optim.lr_scheduler), pair("SGD", {"lr": 0.2})[1::2], strict=True
    ):
        schedule = make(library, optimizer)
        found = []
        for _ in range(steps):
            found.append(optimizer.param_groups[0]["lr"])
            assert schedule.get_last_lr() == found[-1:]
            optimizer.step()
            schedule.step()
        rates.append(found)
    return rates


@pytest.mark.parametrize("at", [1, 4, 5, 8])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("CosineAnnealingLR", {"T_max": 5}),
        ("CosineAnnealingLR", {"T_max": 5, "eta_min": 0.01}),
        ("PolynomialLR", {"total_iters": 6, "power": 2.0}),
        ("ExponentialLR", {"gamma": 0.9}),
        ("LinearLR", {"start_factor": 0.3, "total_iters": 4}),
    ],
)
def test_a_schedule_goes_on_from_a_rate_that_was_set(
    name: str, settings: dict[str, Any], at: int
) -> None:
    found = []
    for library, tensor in ((torch, torch.ones(1)), (ogive, ogive.ones(1))):
        optimizer = library.optim.SGD([tensor.requires_grad_()], lr=0.5)
        schedule = getattr(library.optim.lr_scheduler, name)(optimizer, **settings)
        rates = []
        for step in range(14):
            optimizer.step()
            schedule.step()
            if step == at:
                optimizer.param_groups[0]["lr"] = 0.1
            rates.append(float(optimizer.param_groups[0]["lr"]))
        found.append(rates)
    assert found[1] == pytest.approx(found[0], rel=1e-9, abs=1e-12)


def test_schedules_follow_one_another() -> None:
    def make(library: Any, optimizer: Any) -> Any:
        parts = [
            library.LinearLR(optimizer, start_factor=0.1, total_iters=4),
            library.CosineAnnealingLR(optimizer, T_max=6),
        ]
        return library.SequentialLR(optimizer, parts, milestones=[4])

    ours, theirs = rates_of(make, 9)
    assert ours == pytest.approx(theirs, rel=1e-9)


CHAINS: list[list[tuple[str, dict[str, Any]]]] = [
    [("ExponentialLR", {"gamma": 0.9}), ("MultiStepLR", {"milestones": [2, 5], "gamma": 0.1})],
    [("LinearLR", {"start_factor": 0.2, "total_iters": 3}), ("StepLR", {"step_size": 2})],
    [("CosineAnnealingLR", {"T_max": 12, "eta_min": 0.01}), ("ExponentialLR", {"gamma": 0.8})],
]


@pytest.mark.parametrize("parts", CHAINS)
def test_schedules_are_multiplied(parts: list[tuple[str, dict[str, Any]]]) -> None:
    def make(library: Any, optimizer: Any) -> Any:
        made = [getattr(library, name)(optimizer, **settings) for name, settings in parts]
        return library.ChainedScheduler(made)

    ours, theirs = rates_of(make, 9)
    assert ours == pytest.approx(theirs, rel=1e-9)


def test_a_schedule_of_ones_own_defines_get_lr() -> None:
    rates = []
    for library, optimizer in zip(
        (optim.lr_scheduler, torch.optim.lr_scheduler), pair("SGD", {"lr": 0.2})[1::2], strict=True
    ):
        base: Any = library.LRScheduler

        class WarmUp(base):  # type: ignore[misc]
            def get_lr(self) -> list[float]:
                return [base * min(1.0, (self.last_epoch + 1) / 4) for base in self.base_lrs]

        schedule = WarmUp(optimizer)
        found = []
        for _ in range(5):
            found += schedule.get_last_lr()
            optimizer.step()
            schedule.step()
        rates.append(found)
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)
    assert schedule.state_dict()["last_epoch"] == 5


def test_a_plateau_lowers_the_rate() -> None:
    measures = [1.0, 0.9, 0.91, 0.92, 0.93, 0.94, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6]
    _, ours, _, theirs = pair("SGD", {"lr": 0.2})
    our_schedule = optim.lr_scheduler.ReduceLROnPlateau(ours, patience=2, factor=0.5, cooldown=1)
    their_schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(
        theirs, patience=2, factor=0.5, cooldown=1
    )
    for measure in measures:
        our_schedule.step(ogive.Tensor(measure))
        their_schedule.step(measure)
        assert our_schedule.get_last_lr() == pytest.approx(their_schedule.get_last_lr())


def plateau(optimizer: Any) -> Any:
    return optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)


def warm_up(optimizer: Any) -> Any:
    first = optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=4)
    second = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
    return optim.lr_scheduler.SequentialLR(optimizer, [first, second], milestones=[4])


@pytest.mark.parametrize("make", [plateau, warm_up])
def test_schedules_go_on_from_their_state(make: Callable[[Any], Any]) -> None:
    whole, begun, resumed = [pair("SGD", {"lr": 0.2})[1] for _ in range(3)]
    through, before, after = make(whole), make(begun), make(resumed)
    measures = [1.0, 1.1, 1.2, 0.9, 1.3, 1.4, 1.5, 1.6]
    arguments = [[measure] if make is plateau else [] for measure in measures]
    for given in arguments[:3]:
        before.step(*given)
    after.load_state_dict(before.state_dict())
    for number, given in enumerate(arguments):
        through.step(*given)
        if number >= 3:
            after.step(*given)
            assert after.get_last_lr() == pytest.approx(through.get_last_lr())
    assert through.get_last_lr() != [0.2]


def test_frozen_parameters_stay_and_are_trained_when_they_thaw() -> None:
    frozen, other = [ogive.Tensor([1.0], requires_grad=True) for _ in range(2)]
    frozen.requires_grad = False
    optimizer = optim.Adam([frozen, other], lr=0.5)
    (frozen * other).sum().backward()
    optimizer.step()
    assert frozen.tolist() == [1.0] and other.tolist() == pytest.approx([0.5])
    frozen.requires_grad = True
    (frozen * other).sum().backward()
    optimizer.step()
    assert frozen.tolist() == pytest.approx([0.5])


def test_a_schedule_compiles_nothing_and_a_jitted_step_sees_it() -> None:
    parameter = ogive.Tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([parameter], lr=1.0)
    schedule = optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    @ogive.jit
    def step() -> Any:
        optimizer.zero_grad()
        loss = parameter.sum()
        loss.backward()
        optimizer.step()
        return loss

    step()
    assert parameter.tolist() == [0.0]
    schedule.step()
    before = ogive.counters()["kernels_compiled"]
    step()
    assert parameter.tolist() == [-0.5]
    assert ogive.counters()["kernels_compiled"] == before
    assert step.cache_info().traces == 1


@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
def test_gradients_are_clipped_as_pytorch_does(norm: float) -> None:
    ours, _, theirs, _ = pair("SGD", {"lr": 0.1})
    loss_of(ours).backward()
    loss_of(theirs).backward()
    total = optim.clip_grad_norm_(ours, 0.7, norm)
    expected = torch.nn.utils.clip_grad_norm_(theirs, 0.7, norm)
    close([total.numpy()], [expected.numpy()])
    close([p.grad.numpy() for p in ours], [p.grad.numpy() for p in theirs])
    optim.clip_grad_value_(ours, 0.05)
    torch.nn.utils.clip_grad_value_(theirs, 0.05)
    close([p.grad.numpy() for p in ours], [p.grad.numpy() for p in theirs])


def test_an_optimizer_goes_on_from_its_state() -> None:
    ours, optimizer, theirs, their_optimizer = pair("AdamW", {"lr": 0.05})
    trajectory(ours, optimizer, 4)
    state = optimizer.state_dict()
    copies = [ogive.Tensor(p.numpy(), requires_grad=True) for p in ours]
    other = optim.AdamW(copies, lr=0.9)
    other.load_state_dict(state)
    assert other.param_groups[0]["lr"] == 0.05
    close(trajectory(copies, other, 4), trajectory(theirs, their_optimizer, 8))


def test_pytorchs_state_can_be_loaded() -> None:
    _, _, theirs, their_optimizer = pair("Adam", {"lr": 0.05})
    trajectory(theirs, their_optimizer, 4)
    copies = [ogive.Tensor(p.detach().numpy(), requires_grad=True) for p in theirs]
    fresh = optim.Adam(copies, lr=0.05)
    fresh.load_state_dict(their_optimizer.state_dict())
    close(trajectory(copies, fresh, 4), trajectory(theirs, their_optimizer, 4))


@pytest.mark.parametrize("name", ["Rprop", "ASGD", "Adafactor"])
def test_states_go_between_the_libraries(name: str) -> None:
    _, _, theirs, their_optimizer = pair(name, {"lr": 0.05})
    trajectory(theirs, their_optimizer, 4)
    copies = [ogive.Tensor(p.detach().numpy(), requires_grad=True) for p in theirs]
    fresh = getattr(optim, name)(copies, lr=0.05)
    fresh.load_state_dict(their_optimizer.state_dict())
    again = [ogive.Tensor(p.detach().numpy(), requires_grad=True) for p in theirs]
    last = getattr(optim, name)(again, lr=0.05)
    last.load_state_dict(fresh.state_dict())
    expected = trajectory(theirs, their_optimizer, 4)
    close(trajectory(copies, fresh, 4), expected, 1e-7)
    close(trajectory(again, last, 4), expected, 1e-7)


def with_gradient(tensor: Tensor, value: float) -> Tensor:
    tensor.grad = tensor.detach() * value
    return tensor


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda p: optim.SGD([], lr=0.1), ArgumentError, "at least one parameter"),
        (lambda p: optim.SGD(p, lr=0.1), ArgumentTypeError, "an iterable of parameters"),
        (lambda p: optim.SGD([p], lr=-1.0), ArgumentError, "lr must not be negative, got -1.0"),
        (lambda p: optim.Adam([p], betas=(0.9, 1.0)), ArgumentError, r"betas must lie in \[0, 1\)"),
        (lambda p: optim.SGD([p], nesterov=True), ArgumentError, "nesterov needs a momentum"),
        (lambda p: optim.SGD([p, p]), ArgumentError, "twice"),
        (lambda p: optim.SGD([[1.0]]), ArgumentTypeError, r"takes tensors, got \[1.0\]"),
        (lambda p: optim.SGD([p * 2]), ArgumentError, "computed from tensors"),
        (lambda p: optim.Muon([p]), ArgumentError, "takes matrices only"),
        (lambda p: optim.Rprop([p], etas=(1.2, 0.5)), ArgumentError, "must be 0 < η⁻ < 1 < η⁺"),
        (
            lambda p: optim.lr_scheduler.CyclicLR(optim.SGD([p]), 0.1, 0.2, mode="sine"),
            ArgumentError, "mode must be one of triangular, triangular2, exp_range, not 'sine'",
        ),
        (
            lambda p: optim.lr_scheduler.CyclicLR(optim.Adagrad([p]), 0.1, 0.2),
            ArgumentError, "Adagrad has no momentum",
        ),
        (
            lambda p: optim.lr_scheduler.OneCycleLR(optim.SGD([p]), [0.1, 0.2], 9),
            ArgumentError, "got 2 rates for 1 groups",
        ),
        (
            lambda p: optim.clip_grad_norm_(with_gradient(p, numpy.inf), 1.0, 2.0, True),
            ArgumentError, "the norm of order 2.0 of all gradients is inf",
        ),
    ],
)
def test_bad_settings_are_named(make: Callable[[Any], Any], error: Any, words: str) -> None:
    with raises(error, match=words):
        make(ogive.Tensor([1.0, 2.0], requires_grad=True))


def test_a_state_of_other_parameters_is_refused() -> None:
    state = pair("Adam", {})[1].state_dict()
    other = optim.Adam([ogive.Tensor([1.0], requires_grad=True)])
    with raises(StateError, match=r"state have \[3\] parameters, .* optimizer \[1\]"):
        other.load_state_dict(state)


SOMETIMES = [(1, 1, 1), (1, 0, 1), (1, 0, 0), (1, 1, 1), (0, 1, 1), (1, 1, 1)]
"""Which of three parameters have a gradient at each step."""


def trained_sometimes(make: Any, optimizers: Any, name: str, **settings: Any) -> Any:
    parameters = [make([1.0, 2.0], requires_grad=True) for _ in range(3)]
    optimizer = getattr(optimizers, name)(parameters, lr=0.1, **settings)

    def step(taking_part: tuple[int, ...]) -> None:
        optimizer.zero_grad()
        used = [parameters[at] for at in range(3) if taking_part[at]]
        sum([(p * p * (at + 1)).sum() for at, p in enumerate(used)]).backward()
        optimizer.step()

    for taking_part in SOMETIMES:
        step(taking_part)
    state = optimizer.state_dict()
    optimizer = getattr(optimizers, name)(parameters, lr=0.1, **settings)
    optimizer.load_state_dict(state)
    step((1, 1, 1))
    return [p.tolist() for p in parameters]


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("Adam", {}),
        ("AdamW", {"amsgrad": True}),
        ("Adagrad", {"lr_decay": 0.1}),
        ("SGD", {"momentum": 0.9, "dampening": 0.5}),
    ],
)
def test_a_parameter_without_a_gradient_takes_no_step(name: str, settings: Any) -> None:
    ours = trained_sometimes(Tensor, optim, name, **settings)
    theirs = trained_sometimes(torch.tensor, torch.optim, name, **settings)
    assert numpy.allclose(ours, theirs, rtol=1e-5)


def test_captured_steps_count_by_parameter() -> None:
    first, second = [Tensor([1.0], requires_grad=True) for _ in range(2)]
    optimizer = optim.Adam([first, second])

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss = (first * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(4):
        step(Tensor([1.0]))
    counts = [entry["step"].item() for entry in optimizer.state_dict()["state"].values()]
    assert counts == [4.0] and step.cache_info().traces == 2


def test_wrong_parameters_and_settings_are_refused() -> None:
    layer: Any = nn.Linear(2, 1)
    weight = Tensor([1.0], requires_grad=True)
    wrong: Any = "fast"
    with raises(TypeError, match=r"not Linear; give its parameters\(\)"):
        optim.Adam(layer)
    with raises(TypeError, match="Adam: lr must be a number, got 'fast'"):
        optim.Adam([weight], lr=wrong)
    with raises(TypeError, match=r"Adam: betas must be two numbers, got Linear"):
        optim.Adam([weight], betas=layer)
    with raises(ValueError, match=r"not \['param'\] \(did you mean 'params'\?\)"):
        optim.Adam([{"param": [weight]}])
    with raises(TypeError, match="argument of StepLR must be an optimizer, not str"):
        optim.lr_scheduler.StepLR(wrong, 1)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "NAdam"])
def test_the_parts_of_complex_parameters_are_parameters_of_their_own(name: str) -> None:
    results = []
    for library in (torch, ogive):
        weight = library.tensor([1 + 2j, 0.5 - 1j], dtype=library.complex64).requires_grad_()
        optimizer = getattr(library.optim, name)([weight], lr=0.1, weight_decay=0.01)
        for step in range(4):
            if step == 2:  # the state of the steps so far, in another optimizer
                known = optimizer.state_dict()
                optimizer = getattr(library.optim, name)([weight], lr=0.1, weight_decay=0.01)
                optimizer.load_state_dict(known)
            optimizer.zero_grad()
            ((weight * (1 - 2j)).abs() ** 2).sum().backward()
            optimizer.step()
        results.append(weight.detach().numpy())
    numpy.testing.assert_allclose(results[1], results[0], rtol=1e-5)
