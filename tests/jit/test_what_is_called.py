"""Captured functions see what the functions, layers and optimizers that they call read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import ogive
from ogive import Tensor, nn, optim
from tests.jit.programs import (
    Capture,
    Holder,
    Program,
    compare,
    results,
    set_attribute,
    set_item,
    x,
)  # fmt: skip

PROGRAMS: dict[str, Program] = {}

number = 1.0
absent_name: float


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


# Functions


def scaled(x: Tensor, by: float = 2.0, *, shift: float = 1.0) -> Tensor:
    return x * by * number + shift


@program
def globals_of_functions_that_are_called(capture: Capture) -> Any:
    return results(
        capture(lambda x: scaled(x)), set_item(globals(), "number", 2.0),
        set_item(globals(), "number", 1.0),
    )  # fmt: skip


@program
def defaults_of_functions(capture: Capture) -> Any:
    before, named = scaled.__defaults__, scaled.__kwdefaults__
    assert named is not None
    found = results(
        capture(lambda x: scaled(x)), set_attribute(scaled, "__defaults__", (5.0,)),
        set_item(named, "shift", 7.0), set_attribute(scaled, "__kwdefaults__", {"shift": 2.0}),
    )  # fmt: skip
    scaled.__defaults__, scaled.__kwdefaults__ = before, {"shift": 1.0}
    return found


@program
def defaults_of_the_function_itself(capture: Capture) -> Any:
    def function(x: Tensor, by: float = 2.0, inner: Any = ([1.0],)) -> Any:
        return x * by + inner[0][0]

    entries = function.__defaults__
    assert entries is not None
    return results(
        capture(function), set_item(entries[1][0], 0, 4.0),
        set_attribute(function, "__defaults__", (3.0, ([0.0],))),
    )  # fmt: skip


@program
def the_code_of_a_function(capture: Capture) -> Any:
    def inner(x: Tensor) -> Any:
        return x * 2

    def other(x: Tensor) -> Tensor:
        return x * 3

    return results(
        capture(lambda x: inner(x)), set_attribute(inner, "__code__", other.__code__)
    )


@program
def a_function_in_place_of_another(capture: Capture) -> Any:
    functions = {"f": lambda x: x * 2}
    return results(
        capture(lambda x: functions["f"](x)), set_item(functions, "f", lambda x: x * 3)
    )


@program
def partial_functions(capture: Capture) -> Any:
    s = [2.0]
    bound = functools.partial(lambda s, x: x * s[0], s)
    return results(capture(bound), set_item(s, 0, 3.0))


@program
def closures_of_closures(capture: Capture) -> Any:
    scale = 2.0

    def outer() -> Callable[[Tensor], Tensor]:
        shift = [1.0]

        def inner(x: Tensor) -> Any:
            return x * scale + shift[0]

        inner.shift = shift  # type: ignore[attr-defined]
        return inner

    inner = outer()

    def change() -> None:
        nonlocal scale
        scale = 5.0

    return results(
        capture(lambda x: inner(x)), change,
        set_item(inner.shift, 0, 3.0),  # type: ignore[attr-defined]
    )  # fmt: skip


@program
def decorated_functions(capture: Capture) -> Any:
    s = [2.0]

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def wrapped(*args: Any) -> Any:
            return function(*args) * s[0]

        return wrapped

    inner = [1.0]

    @decorate
    def function(x: Tensor) -> Any:
        return x + inner[0]

    return results(capture(function), set_item(s, 0, 3.0), set_item(inner, 0, 2.0))


@program
def methods(capture: Capture) -> Any:
    class Layer:
        def __init__(self) -> None:
            self.scale = [2.0]

        def __call__(self, x: Tensor) -> Any:
            return self.apply(x)

        def apply(self, x: Tensor) -> Any:
            return x * self.scale[0] * number

    layer = Layer()
    found = results(
        capture(layer), set_item(layer.scale, 0, 3.0), set_item(globals(), "number", 2.0),
        set_attribute(layer, "apply", lambda x: x), lambda: delattr(layer, "apply"),
        set_attribute(Layer, "apply", lambda self, x: x * 10),
        set_attribute(Layer, "__call__", lambda self, x: x * 20),
    )  # fmt: skip
    globals()["number"] = 1.0
    return found


@program
def methods_of_a_base(capture: Capture) -> Any:
    class Base:
        factor = 2.0

        def apply(self, x: Tensor) -> Any:
            return x * self.factor * number

    class Derived(Base):
        def apply(self, x: Tensor) -> Any:
            return super().apply(x) + 1

    layer = Derived()
    found = results(
        capture(lambda x: layer.apply(x)), set_item(globals(), "number", 2.0),
        set_attribute(Base, "factor", 4.0),
        set_attribute(Base, "apply", lambda self, x: x * 10),
    )  # fmt: skip
    globals()["number"] = 1.0
    return found


@program
def a_captured_function_inside(capture: Capture) -> Any:
    s = [2.0]
    inner = capture(lambda x: x * s[0])
    return results(capture(lambda x: inner(x) + s[0]), set_item(s, 0, 3.0))


@program
def a_name_that_is_not_there_yet(capture: Capture) -> Any:
    def function(x: Tensor) -> Any:
        try:
            return x * absent_name
        except NameError:
            return x

    found = results(capture(function), set_item(globals(), "absent_name", 4.0))
    del globals()["absent_name"]
    return found


@program
def generators_inside(capture: Capture) -> Any:
    s = [1.0, 2.0]
    return results(capture(lambda x: x * sum(v * 2 for v in s)), set_item(s, 1, 5.0))


# What the function itself changes


@program
def counting_in_an_attribute(capture: Capture) -> Any:
    holder = Holder(count=0)

    def function(x: Tensor) -> Any:
        holder.count += 1
        return x * holder.count

    return results(capture(function), set_attribute(holder, "count", 10))


@program
def counting_in_a_dictionary(capture: Capture) -> Any:
    s = {"count": 0}

    def function(x: Tensor) -> Any:
        s["count"] += 1
        return x * s["count"]

    return results(capture(function))


@program
def writing_before_reading(capture: Capture) -> Any:
    holder = Holder(mode=0)

    def function(x: Tensor) -> Any:
        holder.mode = 3
        return x * holder.mode

    return results(capture(function), set_attribute(holder, "mode", 5))


@program
def a_cache_of_numbers(capture: Capture) -> Any:
    cache: dict[str, float] = {}

    def function(x: Tensor) -> Any:
        return x * cache.setdefault("scale", 2.0)

    return results(capture(function), set_item(cache, "scale", 3.0), cache.clear)


@program
def leaving_an_equal_container_behind(capture: Capture) -> Any:
    holder = Holder(found=[], scale={"by": 2.0})

    def function(x: Tensor) -> Any:
        holder.found.append(x)
        made = holder.found.pop() * holder.scale["by"] + len(holder.found)
        holder.found, holder.scale = [], dict(holder.scale)
        return made

    def change() -> None:
        holder.scale["by"] = 3.0

    captured = capture(function)
    found = results(captured, change)
    if captured is not function:
        assert captured.cache_info().traces == 2
    return found


# Layers and optimizers


@program
def layers_that_are_exchanged(capture: Capture) -> Any:
    model = nn.Sequential(nn.ReLU(), nn.Tanh())
    found = results(capture(lambda x: model(x)), set_item(model, 1, nn.Sigmoid()))
    return found + results(capture(lambda x: model(x)), lambda: model.append(nn.ReLU()))


@program
def modes_of_layers(capture: Capture) -> Any:
    ogive.manual_seed(3)
    model = nn.Sequential(nn.Dropout(1.0), nn.Identity())
    return results(capture(lambda x: model(x)), model.eval, model.train, model.eval)


@program
def settings_of_layers(capture: Capture) -> Any:
    layer = nn.LeakyReLU(0.5)
    return results(capture(lambda x: layer(x)), set_attribute(layer, "negative_slope", 0.25))


@program
def hooks_of_layers(capture: Capture) -> Any:
    layer = nn.ReLU()
    scale = [2.0]
    handles: list[Any] = []

    def add() -> None:
        handles.append(layer.register_forward_hook(lambda module, args, made: made * scale[0]))

    return results(
        capture(lambda x: layer(x)), add, set_item(scale, 0, 3.0), lambda: handles[0].remove()
    )


@program
def an_attribute_of_a_layer_that_nobody_reads(capture: Capture) -> Any:
    layer = nn.ReLU()
    function = capture(lambda x: layer(x))
    found = results(function, set_attribute(layer, "steps", 1), set_attribute(layer, "steps", 2))
    if isinstance(function, type(ogive.jit(len))):
        assert function.cache_info().traces == 1
    return found


def train(capture: Capture, make: Any, *changes: Callable[[Any], Any]) -> Any:
    weight = nn.Parameter(Tensor([1.0, 2.0, 3.0]))
    optimizer = make([weight])

    def step(x: Tensor) -> Any:
        optimizer.zero_grad()
        loss = (weight * x).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    captured = capture(step)
    found = []
    for change in (lambda _: None, *changes):
        change(optimizer.param_groups[0])
        for _ in range(3):
            captured(x())
        found.append(weight.numpy().round(5).tolist())
    return found


def set_setting(group: dict[str, Any], key: str, value: Any) -> None:
    group[key] = value


SETTINGS: dict[str, tuple[Any, dict[str, Any]]] = {
    "sgd": (
        lambda p: optim.SGD(p, 0.01, momentum=0.5),
        {"weight_decay": 0.5, "momentum": 0.9, "nesterov": True, "maximize": True, "lr": 0.02},
    ),
    "adam": (
        lambda p: optim.Adam(p, 0.1),
        {"weight_decay": 0.5, "betas": (0.5, 0.9), "eps": 0.5, "maximize": True, "lr": 0.2},
    ),
    "adamw": (lambda p: optim.AdamW(p, 0.1), {"weight_decay": 0.5, "lr": 0.01}),
    "rmsprop": (lambda p: optim.RMSprop(p, 0.1), {"alpha": 0.5, "eps": 0.1}),
}


@program
def settings_of_optimizers(capture: Capture) -> Any:
    return [
        train(capture, make, functools.partial(set_setting, key=key, value=value))
        for make, changes in SETTINGS.values()
        for key, value in changes.items()
    ]


@program
def a_group_that_is_added(capture: Capture) -> Any:
    first, second = nn.Parameter(Tensor([1.0])), nn.Parameter(Tensor([1.0]))
    optimizer = optim.SGD([first], 0.1)

    def step(x: Tensor) -> Any:
        optimizer.zero_grad()
        loss = (first * x.sum() + second * 2).sum()
        loss.backward()
        optimizer.step()
        second.grad = None
        return loss

    captured = capture(step)
    captured(x())
    optimizer.add_param_group({"params": [second]})
    captured(x())
    return first.tolist(), second.tolist()


@program
def layers_that_are_frozen(capture: Capture) -> Any:
    ogive.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    optimizer = optim.SGD(model.parameters(), 0.05)

    def step(x: Tensor) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    captured = capture(step)
    found = []
    for flag in (True, False, True):
        model[0].requires_grad_(flag)
        for _ in range(2):
            captured(x())
        found += [p.numpy().round(5).tolist() for p in model.parameters()]
    return found


@program
def leaves_that_become_such_later(capture: Capture) -> Any:
    weight = Tensor([1.0, 2.0, 3.0])
    return results(
        capture(lambda x: x * 2 if weight.requires_grad else x), weight.requires_grad_,
        lambda: weight.requires_grad_(False),
    )  # fmt: skip


@program
def hooks_of_leaves(capture: Capture) -> Any:
    weight = nn.Parameter(Tensor([1.0, 2.0, 3.0]))
    optimizer = optim.SGD([weight], 0.1)

    def step(x: Tensor) -> Any:
        optimizer.zero_grad()
        loss = (weight * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    captured = capture(step)
    found = []
    scale = [2.0]
    handle: Any = None
    for turn in range(4):
        if turn == 1:
            handle = weight.register_hook(lambda gradient: gradient * scale[0])
        if turn == 3:
            handle.remove()
        captured(x())
        found.append(weight.tolist())
    return found


@program
def arguments_that_are_leaves(capture: Capture) -> Any:
    function = capture(lambda x: x * 3 if (x * 2).requires_grad else x * 5)
    leaf = x().requires_grad_()
    return [function(v).tolist() for v in (x(), leaf, x(), leaf.requires_grad_(False))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_captured_function_sees_what_is_read_by_those_it_calls(name: str) -> None:
    compare(PROGRAMS[name], lambda: globals().update(number=1.0))
