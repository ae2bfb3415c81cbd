"""Imperative programs, captured and eager mixed, made at random: captured or not, they do the same.

A world has numbers, flags and tensors in lists, dictionaries and objects, and functions that read
and change them. A program calls functions and changes the world in turns. It runs in two worlds, of
which one captures its functions, and after each turn all that can be seen is compared.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor
from tests.jit.programs import Capture, Holder

GROUP = 25
FUNCTIONS = 2
NUMBERS = (0.5, -0.5, 1.0, 1, True, 0.0, -0.0, 2.0, 0.25)
SIZES = (3, 4)

Step = Callable[["World", Tensor, Tensor], Tensor]


class World:
    """Everything that a program can see. `memo` holds what functions have returned."""

    def __init__(self, capture: Capture, bodies: list[list[Step]]) -> None:
        self.numbers: list[Any] = [0.5, 1.0, -0.5]
        self.table: dict[str, Any] = {"scale": 0.5, "inner": {"shift": 0.25}}
        self.holder = Holder(scale=1.0, flag=True, names=("a", 1), inner=Holder(shift=0.5))
        self.array = np.array([0.5, 0.25], np.float32)
        self.tensors = {
            size: [Tensor(np.linspace(-1, n, size, dtype=np.float32)) for n in (1, 2)]
            for size in SIZES
        }
        self.memo: list[Tensor] = []
        self.functions = [capture(self.make(body)) for body in bodies]

    def make(self, body: list[Step]) -> Callable[[Tensor, Tensor], Tensor]:
        def function(x: Tensor, y: Tensor, scale: float = 1.0) -> Tensor:
            for step in body:
                x = step(self, x, y)
            return (x * scale).tanh()

        return function

    def seen(self) -> list[Any]:
        """What can be seen of it."""
        held = [tensor for own in self.tensors.values() for tensor in own]
        return [tensor.numpy().copy() for tensor in (*held, *self.memo)]


def own(world: World, x: Tensor) -> list[Tensor]:
    return world.tensors[x.shape[0]]


def add_in_place(world: World, x: Tensor, y: Tensor) -> Tensor:
    kept = own(world, x)[1]
    kept.assign(kept * 0.5 + x * 0.25)
    return x + kept


def change_the_argument(world: World, x: Tensor, y: Tensor) -> Tensor:
    y.assign(y * 0.5)
    return x + y


def go_through_a_list(world: World, x: Tensor, y: Tensor) -> Tensor:
    for value in world.numbers:
        x = x + value * 0.125
    return x


STEPS: list[Step] = [
    lambda world, x, y: x * world.numbers[0],
    lambda world, x, y: x + world.numbers[-1],
    lambda world, x, y: x + len(world.numbers) * 0.125,
    lambda world, x, y: x * world.table["scale"],
    lambda world, x, y: x + world.table["inner"]["shift"],
    lambda world, x, y: x + world.table.get("extra", 0.125),
    lambda world, x, y: x + 0.0625 * sum([key == "extra" for key in world.table]),
    lambda world, x, y: x * world.holder.scale,
    lambda world, x, y: x + world.holder.inner.shift,
    lambda world, x, y: x.relu() if world.holder.flag else x,
    lambda world, x, y: x + getattr(world.holder, "late", 0.5),
    lambda world, x, y: x + (1 if hasattr(world.holder, "late") else 0),
    lambda world, x, y: x + float(world.array[0]) + Tensor(world.array).sum(),
    lambda world, x, y: x + (world.holder.names[1] if world.holder.names[0] == "a" else 2),
    lambda world, x, y: x * own(world, x)[0],
    lambda world, x, y: x + y,
    lambda world, x, y: x.flip(0) - y,
    add_in_place,
    change_the_argument,
    go_through_a_list,
]

Change = Callable[[World, Any], Any]


def replace_a_tensor(world: World, value: Any) -> None:
    for size in SIZES:
        world.tensors[size][0] = Tensor(np.full(size, float(value), np.float32))


def assign_eagerly(world: World, value: Any) -> None:
    for kept, _ in world.tensors.values():
        kept.assign(kept * 0.5 + float(value))


def assign_to_results(world: World, value: Any) -> None:
    for tensor in world.memo[-2:]:
        tensor.assign(tensor + float(value))


def set_an_element(world: World, value: Any) -> None:
    for _, kept in world.tensors.values():
        kept[1] = float(value)


CHANGES: list[Change] = [
    lambda world, value: world.numbers.__setitem__(0, value),
    lambda world, value: world.numbers.append(value),
    lambda world, value: world.numbers.pop() if len(world.numbers) > 1 else None,
    lambda world, value: world.numbers.reverse(),
    lambda world, value: world.table.__setitem__("scale", value),
    lambda world, value: world.table["inner"].__setitem__("shift", value),
    lambda world, value: world.table.__setitem__("inner", {"shift": value}),
    lambda world, value: world.table.__setitem__("extra", value),
    lambda world, value: world.table.pop("extra", None),
    lambda world, value: setattr(world.holder, "scale", value),
    lambda world, value: setattr(world.holder, "flag", not world.holder.flag),
    lambda world, value: setattr(world.holder, "late", value),
    lambda world, value: vars(world.holder).pop("late", None),
    lambda world, value: setattr(world.holder.inner, "shift", value),
    lambda world, value: setattr(world.holder, "inner", Holder(shift=value)),
    lambda world, value: setattr(world.holder, "names", ("b", value)),
    lambda world, value: world.array.__setitem__(0, value),
    lambda world, value: setattr(world, "numbers", [value, 1.0]),
    lambda world, value: world.memo.clear(),
    lambda world, value: [tensor.numpy() for tensor in world.memo],
    replace_a_tensor,
    assign_eagerly,
    assign_to_results,
    set_an_element,
]


def call(world: World, at: int, size: int, kinds: tuple[str, str], scale: Any) -> None:
    """Call a function: with new tensors, the same one twice, or what another call returned."""
    made: list[Tensor] = []
    for kind in kinds:
        results = [tensor for tensor in world.memo if tensor.shape == (size,)]
        if kind == "same" and made:
            made.append(made[0])
        elif kind == "result" and results:
            made.append(results[-1])
        else:
            made.append(Tensor(np.linspace(-1, 1, size, dtype=np.float32)))
    keywords = {} if scale is None else {"scale": scale}
    world.memo = [*world.memo[-3:], world.functions[at](*made, **keywords)]


def generate(seed: int, length: int) -> tuple[list[list[Step]], list[Callable[[World], Any]]]:
    """Bodies of functions, and the turns of a program."""
    draw = random.Random(seed)
    bodies = [draw.choices(STEPS, k=draw.randint(2, 6)) for _ in range(FUNCTIONS)]
    turns: list[Callable[[World], Any]] = []
    for _ in range(length):
        # Mostly calls of one kind, so that traces are used again.
        first, second = draw.choices([("new", "new"), ("result", "same"), ("new", "result")],
                                     [4, 1, 1])[0]  # fmt: skip
        size, scale = draw.choices(SIZES, [5, 1])[0], draw.choices([None, 2], [5, 1])[0]
        at, change, value = draw.randrange(FUNCTIONS), draw.choice(CHANGES), draw.choice(NUMBERS)
        if draw.random() < 0.6:
            turns.append(
                partial(call, at=at, size=size, kinds=(first, second), scale=scale)
            )
        else:
            turns.append(partial(_apply, change=change, value=value))
    return bodies, turns


def _apply(world: World, change: Change, value: Any) -> None:
    change(world, value)


def run(seed: int, length: int) -> None:
    bodies, turns = generate(seed, length)
    plain, captured = World(lambda function: function, bodies), World(ogive.jit, bodies)
    for turn in turns:
        turn(plain)
        turn(captured)
        for expected, found in zip(plain.seen(), captured.seen(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def run_group(group: int, length: int) -> None:
    for seed in range(group * GROUP, (group + 1) * GROUP):
        try:
            run(seed, length)
        except Exception as error:
            error.add_note(f"seed {seed}")
            raise


@pytest.mark.filterwarnings("ignore::ogive.errors.CaptureWarning")
@pytest.mark.parametrize("group", range(10))
def test_random_mixtures_of_captured_and_eager_use(group: int) -> None:
    run_group(group, 16)


@pytest.mark.soak
@pytest.mark.filterwarnings("ignore::ogive.errors.CaptureWarning")
@pytest.mark.parametrize("group", range(1000, 1200))
def test_many_random_mixtures_of_captured_and_eager_use(group: int) -> None:
    run_group(group, 30)
