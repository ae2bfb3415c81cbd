"""The order of steps: every dependency is kept, and memory is freed as early as it can be."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor, nn
from ogive.compiler.engine.steps.step_order import order_for_memory
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.passes.regions.slots import CallStep, Slot


@dataclass(frozen=True)
class Kernel:
    """A step that writes its first slot and reads the others."""

    slots: tuple[int, ...]

    @property
    def written(self) -> tuple[int, ...]:
        return self.slots[:1]


def order(steps: list[Any], sizes: list[int], left_out: Any = ()) -> tuple[int, ...]:
    slots = [Slot(dtypes.float32, size, None) for size in sizes]
    return order_for_memory(steps, slots, left_out)


def test_what_frees_memory_runs_first() -> None:
    # A chain of gradients (slots 0 to 2), each with an update (3 to 5) that a result needs.
    gradients = [Kernel((0,)), Kernel((1, 0)), Kernel((2, 1))]
    updates = [Kernel((5, 2)), Kernel((4, 1)), Kernel((3, 0))]
    found = order([*gradients, *updates], [100, 100, 100, 100, 100, 100], {3, 4, 5})
    assert found == (0, 5, 1, 4, 2, 3)


@pytest.mark.parametrize("seed", range(20))
def test_dependencies_are_kept(seed: int) -> None:
    generator = random.Random(seed)
    steps: list[Any] = [
        Kernel(tuple([generator.randrange(8) for _ in range(generator.randint(1, 4))]))
        for _ in range(40)
    ]
    found = order(steps, [generator.randrange(1000) for _ in range(8)], {0, 1})
    assert sorted(found) == list(range(40))
    assert replay(steps, found) == replay(steps, range(40))


def replay(steps: list[Any], positions: Any) -> tuple[dict[int, int], dict[int, Any]]:
    """What each step reads, and what is left at the end."""
    memory = {slot: hash(("start", slot)) for slot in range(8)}
    seen = {}
    for position in positions:
        step = steps[position]
        seen[position] = tuple([memory[slot] for slot in step.slots])
        memory[step.slots[0]] = hash((position, seen[position]))
    return memory, seen


def test_calls_keep_their_order() -> None:
    calls = [CallStep("f", (n, 9), ((1,),), ()) for n in (0, 1, 2)]
    assert order(calls, [1, 1000, 10, 0, 0, 0, 0, 0, 0, 0]) == (0, 1, 2)


def test_updates_of_all_layers_need_the_memory_of_few() -> None:
    ogive.manual_seed(0)
    layers = [nn.Linear(64, 64) for _ in range(10)]
    x = ogive.rand(32, 64)
    for layer in layers:
        x = layer(x).tanh()
    x.square().mean().backward()
    updates: list[Tensor] = []
    for layer in layers:
        assert layer.weight.grad is not None
        updates.append(layer.weight - layer.weight.grad * 0.1)
    expected = [update.numpy() for update in (layer.weight - 0 for layer in layers)]
    plan = Tensor.prepare_batch(updates)
    plan.execute()
    # The activations of ten layers are 80 KB; all gradients at once would be 160 KB more.
    assert plan.memory.planned < 160_000
    for update, before in zip(updates, expected, strict=True):
        assert not numpy.array_equal(update.numpy(), before)
