"""How much memory a plan takes: close to what is needed at once, and what is left out is told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from benchmarks.libraries.base import Operations
from benchmarks.models import transformer, transformer_inputs
from ogive import Config, Tensor
from ogive.compiler.engine.plan import Plan
from ogive.config import PLANNERS
from tests.random_programs import EFFECTS, generate, perform


def largest_step(plan: Plan) -> int:
    """The bytes of intermediates that one step needs at once: nothing can take less."""
    planned = plan.memory.places
    slots = plan._graph.slots
    return max(
        sum(slots[slot].nbytes for slot in set(step.slots) if slot in planned)
        for step in plan.steps
    )


def assert_close(plan: Plan) -> None:
    memory = plan.memory
    assert largest_step(plan) <= memory.peak <= memory.planned <= 1.1 * memory.peak
    assert memory.planned <= memory.logical
    assert memory.planned == sum(memory.blocks)


def random(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32))


def transformer_of_12_blocks() -> Tensor:
    tokens, *block = transformer_inputs(1)
    inputs = [Tensor.from_numpy(array) for array in (tokens, *block * 12)]
    result: Tensor = transformer(Operations(), *inputs)
    return result


def convnet() -> Tensor:
    """Residual pairs of convolutions at three sizes, pooled in between."""
    x, channels = random(2, 3, 32, 32), 3
    for wider in (8, 16, 32):
        x = x.conv2d(random(wider, channels, 3, 3), random(wider), padding=1).relu()
        x = x + x.conv2d(random(wider, wider, 3, 3), random(wider), padding=1).relu()
        batch, channels, height, width = x.shape
        x = x.reshape(batch, channels, height // 2, 2, width // 2, 2).amax((3, 5))
    return (x.mean((2, 3)) @ random(channels, 10)).softmax(-1)


@pytest.mark.parametrize("model", [transformer_of_12_blocks, convnet])
def test_the_arena_of_a_model_is_close_to_its_largest_living_set(
    model: Callable[[], Tensor],
) -> None:
    plan = model().prepare()
    assert len(plan.steps) > 10
    assert_close(plan)
    # What one layer has used, another uses again.
    assert plan.memory.planned < plan.memory.logical / 2


def random_plan(seed: int) -> Plan:
    """All values of a random program that nothing else uses, in kernels as small as can be."""
    tensors: dict[int, Tensor] = {}
    used: set[int] = set()
    for instruction in generate(seed, 40):
        if instruction.kind in EFFECTS or any(n not in tensors for n in instruction.inputs):
            continue
        used.update(instruction.inputs)
        tensors[instruction.out] = perform(instruction, [tensors[n] for n in instruction.inputs])
    results = [tensor for number, tensor in tensors.items() if number not in used]
    return Tensor.prepare_batch(results, Config(kernel_node_limit=1))


@pytest.mark.parametrize("seed", range(7))
def test_the_arena_of_a_random_graph_is_close_to_its_largest_living_set(seed: int) -> None:
    plan = random_plan(seed)
    assert len(plan.memory.places) > 2
    assert_close(plan)


def test_modes_take_ever_more_memory_and_give_the_same_bits() -> None:
    found = {}
    for planner in PLANNERS:
        y = convnet()
        plan = y.prepare(config=Config(planner=planner))
        plan.execute()
        found[planner] = plan.memory, y.numpy().tobytes()
    arena, remap, disabled = [found[planner][0] for planner in PLANNERS]
    assert arena.planned <= remap.planned <= disabled.planned == disabled.logical
    assert arena.peak == remap.peak == disabled.peak
    assert len({bits for _, bits in found.values()}) == 1


def test_inputs_and_outputs_are_left_out_with_the_reason() -> None:
    x = random(8, 8)
    total = (x @ x).contiguous().sum(0)
    plan = Tensor.prepare_batch([total, x + 1])
    memory = plan.memory
    assert set(memory.left_out.values()) == {"an input", "an output"}
    assert not set(memory.left_out) & set(memory.places)
    assert len(memory.left_out) + len(memory.places) == len(plan._graph.slots)
