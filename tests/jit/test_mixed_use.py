"""Captured steps beside eager use of the same model: neither costs the other anything."""

from __future__ import annotations

import datetime
import itertools
import math
import random
import time
import warnings
from collections.abc import Callable
from random import uniform
from time import perf_counter
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor, nn, optim
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.live.kept_graphs import kept_graphs
from ogive.counters import counters
from ogive.errors import ArgumentError, CaptureWarning, TraceError
from ogive.jit.jitted_function import KEPT_VARIANTS, RECAPTURES
from tests.raising import raises


class Training:
    """A small model, its optimizer, and a captured step."""

    def __init__(self) -> None:
        ogive.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
        self.optimizer = optim.SGD(self.model.parameters(), 0.1, momentum=0.9)
        self.x = Tensor(np.linspace(-1, 1, 20, dtype=np.float32).reshape(5, 4))
        self.y = Tensor(np.array([0, 1, 2, 0, 1]))
        self.captured = ogive.jit(self.step)

    def step(self, x: Tensor, y: Tensor) -> Any:
        self.optimizer.zero_grad()
        loss = self.model(x).cross_entropy(y)
        loss.backward()
        self.optimizer.step()
        return loss

    def run(self, step: Callable[..., Tensor]) -> float:
        return step(self.x, self.y).item()


def evaluate(training: Training) -> None:
    training.model(training.x).argmax(-1).numpy()


def evaluate_without_gradients(training: Training) -> None:
    with ogive.no_grad():
        training.run(lambda x, y: training.model(x).cross_entropy(y))


def train_eagerly(training: Training) -> None:
    training.run(training.step)


def leave_gradients(training: Training) -> None:
    training.model(training.x).cross_entropy(training.y).backward()


def save(training: Training) -> None:
    training.model.state_dict()
    training.optimizer.state_dict()


USES = [evaluate, evaluate_without_gradients, train_eagerly, leave_gradients, save]


def copies_in(work: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """How often memory is copied meanwhile."""
    counted = 0
    original = Buffer.copy_from

    def copy_from(self: Buffer, *args: Any) -> Any:
        nonlocal counted
        counted += 1
        return original(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(Buffer, "copy_from", copy_from)
        work()
    return counted


@pytest.mark.parametrize("use", USES)
def test_a_captured_step_goes_on_as_before_after_eager_use(
    use: Callable[[Training], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    training = Training()
    for _ in range(2):
        training.run(training.captured)
    steps = len(training.captured.profile(training.x, training.y))
    for _ in range(3):
        use(training)
    training.run(training.captured)  # what others read as it was is copied once
    before = counters()

    def go_on() -> None:
        for _ in range(5):
            training.run(training.captured)

    assert copies_in(go_on, monkeypatch) == 0
    after = counters()
    assert after["schedules_created"] == before["schedules_created"]
    assert training.captured.cache_info().traces == 1
    assert len(training.captured.profile(training.x, training.y)) == steps


def test_captured_and_eager_steps_are_one_training() -> None:
    mixed, plain = Training(), Training()
    for turn in range(8):
        expected = plain.run(plain.step)
        found = mixed.run(mixed.captured if turn % 3 else mixed.step)
        assert found == pytest.approx(expected, rel=1e-5)
    assert mixed.captured.cache_info().traces == 1


def test_graphs_of_an_eager_loop_are_let_go_when_a_captured_one_goes_on() -> None:
    training = Training()
    for _ in range(5):
        evaluate(training)
        train_eagerly(training)
    assert kept_graphs.found
    for _ in range(100):
        training.run(training.captured)
    assert not kept_graphs.found


def test_gradients_that_a_step_begins_by_dropping_need_not_be_there() -> None:
    training = Training()
    training.run(training.captured)
    train_eagerly(training)
    weight = training.model[0].weight
    old = weight.grad
    values = old.tolist()
    training.run(training.captured)
    assert weight.grad is None and old.tolist() == values
    assert training.captured.cache_info().traces == 1


def test_a_step_whose_gradients_stay_is_profiled() -> None:
    weight = nn.Parameter(Tensor([1.0, 2.0]))

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        loss = (weight * x).sum()
        loss.backward()
        return loss

    assert step.profile(Tensor([1.0, 1.0]))
    assert weight.grad is not None


def test_a_gradient_that_is_read_before_it_is_dropped_is_that_of_the_call_before() -> None:
    weight = nn.Parameter(Tensor([1.0, 2.0]))
    weight.grad = Tensor([5.0, 5.0])

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        assert weight.grad is not None
        before = weight.grad * 1
        weight.grad = None
        (weight * x).sum().backward()
        return before

    found = [step(Tensor([float(n), 1.0])).tolist() for n in range(4)]
    assert found == [[5.0, 5.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]]
    assert step.cache_info().traces == 1


# How often


def test_a_flag_that_is_turned_back_and_forth_is_captured_for_both() -> None:
    layer = nn.Dropout(1.0)
    function = ogive.jit(lambda x: layer(x))
    for _ in range(5):
        layer.train()
        assert function(ogive.ones(2)).tolist() == [0.0, 0.0]
        layer.eval()
        assert function(ogive.ones(2)).tolist() == [1.0, 1.0]
    assert function.cache_info().traces == 2
    assert function.cache_info().kept == 2


def test_a_number_that_changes_at_every_call_is_captured_so_often_and_no_more() -> None:
    numbers = [0.0]
    function = ogive.jit(lambda x: x * numbers[0])
    with pytest.warns(CaptureWarning, match=r"runs uncaptured from now on.*numbers\[0\]: 15\.0"):
        for turn in range(RECAPTURES + 10):
            numbers[0] = float(turn)
            assert function(Tensor([2.0])).tolist() == [2.0 * turn]
    info = function.cache_info()
    assert info.traces == RECAPTURES and info.kept <= KEPT_VARIANTS
    with raises(ArgumentError, match="is not captured any more"):
        function.profile(Tensor([2.0]))
    function.clear()
    assert function(Tensor([2.0])).tolist() == [2.0 * turn]


def test_equal_constants_in_place_of_others_need_no_trace() -> None:
    holder: dict[str, Any] = {"scale": 1.5, "betas": (0.5, 0.25), "size": np.float32(2)}
    function = ogive.jit(lambda x: x * holder["scale"] + sum(holder["betas"]) + holder["size"])
    for _ in range(4):
        holder["scale"] = float("1.5")
        holder["betas"] = (float("0.5"), float("0.25"))
        holder["size"] = np.float32("2")
        assert function(Tensor([2.0])).tolist() == [5.75]
    assert function.cache_info().traces == 1


def test_a_list_that_the_caller_keeps_of_results_means_no_trace() -> None:
    class Trainer:
        def __init__(self) -> None:
            self.losses: list[float] = []
            self.scale = 2.0

        @ogive.jit
        def step(self, x: Tensor) -> Tensor:
            return (x * self.scale).sum()

        def fit(self) -> None:
            for _ in range(4):
                self.losses.append(self.step(Tensor([1.0])).item())

    trainer = Trainer()
    trainer.fit()
    assert trainer.losses == [2.0] * 4
    assert Trainer.step.cache_info().traces == 1


def test_a_log_inside_the_function_means_no_trace() -> None:
    log: list[str] = []

    @ogive.jit
    def function(x: Tensor) -> Tensor:
        log.append("called")
        return x * 2

    for size in (1, 2, 1, 2):
        function(ogive.ones(size))
    assert log == ["called"] * 2


def test_the_classes_of_objects_are_as_they_were_after_a_trace() -> None:
    class Holder:
        scale = 2.0

    holder = Holder()
    function = ogive.jit(lambda x: x * holder.scale)
    function(ogive.ones(1))
    assert "__getattribute__" not in vars(Holder)

    failing = ogive.jit(lambda x: x * holder.missing)  # type: ignore[attr-defined]
    with raises(AttributeError, match="missing"):
        failing(ogive.ones(1))
    assert "__getattribute__" not in vars(Holder)
    holder.missing = 3.0  # type: ignore[attr-defined]
    assert failing(ogive.ones(1)).tolist() == [3.0]


# What cannot be watched


UNWATCHED: dict[str, tuple[Callable[[Tensor], Any], str]] = {}


def unwatched(name: str) -> Callable[[Any], Any]:
    def add(function: Any) -> Any:
        UNWATCHED[name] = function, name
        return function

    return add


draws = random.Random(0)
numpy_draws = np.random.default_rng(0)
numbers = itertools.count()
lines = iter(["1.5", "2.5"])
large = np.broadcast_to(np.float32(1), (1 << 12, 1 << 13))


@unwatched("time.time()")
def with_a_clock(x: Tensor) -> Tensor:
    return x * (time.time() * 0)


@unwatched("random.random()")
def with_a_draw(x: Tensor) -> Tensor:
    return x * (random.random() * 0)


@unwatched("draws")
def with_draws_of_its_own(x: Tensor) -> Tensor:
    return x * (draws.random() * 0)


@unwatched("numpy_draws")
def with_draws_of_numpy(x: Tensor) -> Tensor:
    return x * (numpy_draws.random() * 0)


@unwatched("numbers")
def with_a_counter(x: Tensor) -> Tensor:
    return x * (next(numbers) * 0)


@unwatched("lines")
def with_an_iterator(x: Tensor) -> Tensor:
    return x * (float(next(lines)) * 0)


@unwatched("large")
def with_a_large_array(x: Tensor) -> Tensor:
    return x * (float(large[0, 0]) * 0)


@unwatched("datetime.now()")
def with_a_date(x: Tensor) -> Tensor:
    return x * (datetime.datetime.now().year * 0)


@unwatched("numpy.random.rand()")
def with_a_draw_of_numpy(x: Tensor) -> Tensor:
    return x * (np.random.rand() * 0)


@unwatched("perf_counter")
def with_an_imported_clock(x: Tensor) -> Tensor:
    return x * (perf_counter() * 0)


@unwatched("uniform")
def with_an_imported_draw(x: Tensor) -> Tensor:
    return x * (uniform(0, 1) * 0)


def with_modules_around_it() -> Callable[[Tensor], Tensor]:
    import secrets as around

    return lambda x: x * (around.randbelow(2) * 0)


unwatched("secrets.randbelow()")(with_modules_around_it())


@pytest.mark.parametrize("name", UNWATCHED)
def test_what_cannot_be_watched_is_named_once(name: str) -> None:
    captured = ogive.jit(UNWATCHED[name][0])
    with pytest.warns(CaptureWarning, match="cannot watch") as caught:
        captured(ogive.ones(2))
    assert [f"uses {name}, which" in str(each.message) for each in caught] == [True]
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        captured(ogive.ones(2))
        captured(ogive.ones(3))


def test_draws_of_ours_and_what_gives_the_same_each_time_are_not_named() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = ogive.jit(lambda x: x * math.sqrt(4) + ogive.random.rand(2) * ogive.rand(2))
        assert made(ogive.ones(2)).tolist() != made(ogive.ones(2)).tolist()
        ogive.jit(lambda x: x * int(np.random.default_rng(0).integers(3)))(ogive.ones(2))


def test_an_argument_whose_gradient_is_asked_for_is_refused_where_it_has_one() -> None:
    x = Tensor([1.0, 2.0], requires_grad=True)

    @ogive.jit
    def function(x: Tensor) -> Tensor:
        (x * 2).sum().backward()
        assert x.grad is not None
        return x.grad * 1

    assert function(x).tolist() == [2.0, 2.0]
    x.grad = Tensor([1.0, 1.0])
    with raises(TraceError, match="x has a gradient"):
        function(x)


def test_a_lazy_tensor_that_an_eager_call_has_read_can_be_captured() -> None:
    weights = ogive.ones(8, 8) * 0.5

    def function(x: Tensor) -> Tensor:
        return (x @ weights[:4]) * ogive.arange(3)[:, None]

    x = ogive.ones(3, 4)
    before = function(x).tolist()
    captured = ogive.jit(function)
    assert [captured(x).tolist(), captured(x).tolist()] == [before, before]
