"""What a step takes on many devices, from what it takes on one."""

from __future__ import annotations

import itertools

import pytest

from ogive.compiler.targets.links import Link, Network, all_reduce
from ogive.compiler.targets.scaling import Plan, Step, predict_step

NETWORK = Network(Link(1e11, 1e-6), Link(1e10, 1e-5), 8)
STEP = Step(0.3, 8, parameters=1e9, state=2e9, activations=4e8, layers=12, layer_bytes=1e7)


def test_one_device_takes_what_it_takes() -> None:
    found = predict_step(STEP, Plan(), NETWORK)
    assert (found.devices, found.seconds, found.speedup, found.efficiency) == (1, 0.3, 1, 1)
    assert found.memory == 2 * STEP.parameters + STEP.state + STEP.activations


def test_gradients_are_exchanged_behind_the_backward_pass() -> None:
    hidden = predict_step(STEP, Plan(data=64), NETWORK)
    assert 0 < hidden.gradients.seconds < 0.2 and hidden.exposed == 0 and hidden.seconds == 0.3
    slow = NETWORK._replace(across=Link(1e9, 1e-5))
    found = predict_step(STEP, Plan(data=64), slow)
    assert found.gradients == all_reduce(STEP.parameters, 64, slow)
    assert found.exposed == pytest.approx(found.gradients.seconds - 0.2)
    assert found.seconds == pytest.approx(0.1 + found.gradients.seconds)


def test_a_batch_that_is_divided_leaves_less_to_compute() -> None:
    found = predict_step(STEP, Plan(data=8, weak=False), NETWORK)
    assert found.compute == pytest.approx(0.3 / 8)
    assert found.speedup == pytest.approx(0.3 / found.seconds)


def test_stages_wait_for_the_first_micro_batch() -> None:
    found = predict_step(STEP, Plan(stages=4, micro_batches=8), NETWORK)
    assert found.bubble == pytest.approx(found.compute * 3 / 8)
    assert found.memory < (2 * STEP.parameters + STEP.state + STEP.activations) / 4 + 1


def test_divided_layers_exchange_activations() -> None:
    found = predict_step(STEP, Plan(model=4), NETWORK)
    assert found.layer_exchanges == pytest.approx(4 * 12 * all_reduce(1e7, 4, NETWORK).seconds)
    assert found.compute == pytest.approx(0.3 / 4)


@pytest.mark.parametrize(
    ("shard", "expected"), [("none", 4e9), ("state", 2e9 + 2e9 / 8), ("full", 4e9 / 8)]
)
def test_memory_of_what_is_in_parts(shard: str, expected: float) -> None:
    found = predict_step(STEP, Plan(data=8, shard=shard), NETWORK)
    assert found.memory == pytest.approx(expected + STEP.activations)


def test_those_between_share_the_connection_of_a_machine() -> None:
    alone = predict_step(STEP, Plan(data=4, model=8), NETWORK).gradients
    fast = NETWORK._replace(across=Link(8e10, 1e-5))
    assert alone.seconds == pytest.approx(
        all_reduce(STEP.parameters / 8, 4, Network(fast.inside, Link(1e10 / 8, 1e-5), 1)).seconds
    )


def test_more_devices_never_make_a_weak_step_faster_nor_its_memory_larger() -> None:
    rows = [predict_step(STEP, Plan(data=2**n, shard="full"), NETWORK) for n in range(11)]
    assert rows[-1].devices == 1024
    for before, after in itertools.pairwise(rows):
        assert after.seconds >= before.seconds - 1e-12 and after.memory <= before.memory
