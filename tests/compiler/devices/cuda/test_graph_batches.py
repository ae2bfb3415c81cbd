"""Launches in a row are one graph from the second run on, and do what launches do."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.cuda.graph_batches import GraphBatch, load_batch_function
from ogive.compiler.devices.cuda.native_launches import LaunchCall, NativeLaunch, make_native_launch
from ogive.compiler.devices.known_devices import host
from ogive.compiler.devices.protocol import HostStep, KernelStep, Program
from tests.compiler.devices.cuda.conftest import ON_A_GPU
from tests.compiler.devices.cuda.fake_graphs import CONTEXT, STREAM, FakeGraphs

TILES = 4
"""How many of its tiles a block of each kernel has."""


class Given:
    """What a batch takes of a GPU when it goes."""

    context = CONTEXT

    def __init__(self) -> None:
        self.driver = self
        self.given_back: list[str] = []

    def give_back(self, name: str, *arguments: int) -> None:
        self.given_back.append(name)


class Batches:
    """Makes batches for a driver that is none."""

    def __init__(self, driver: FakeGraphs) -> None:
        self.gpu: Any = Given()
        self.function = load_batch_function(
            driver.addresses, STREAM, CONTEXT, ctypes.addressof(driver.failure)
        )

    def batch(self, steps: Any, records: int, words: int) -> GraphBatch:
        count = sum(len(step.arguments) for step in steps)
        return GraphBatch(self.gpu, self.function, len(steps), len(steps), records, words, count)


def kernel(driver: FakeGraphs, function: int, words: int) -> NativeLaunch:
    call = LaunchCall(
        driver.addresses["launch"], driver.addresses["enter"], driver.addresses["synchronize"],
        CONTEXT, function, ctypes.addressof(driver.failure), words, threads=64, tiles=TILES,
    )  # fmt: skip
    return make_native_launch(call, Config())


def plan_of(driver: FakeGraphs, between: Any = None) -> tuple[Program, Batches]:
    """Three launches of 2, 1 and 2 words; `between` is done before the last."""
    batches = Batches(driver)
    steps: list[Any] = []
    for function, words, tiles in ((11, [1, 2], 5), (12, [3], 1), (13, [4, 5], 8)):
        made = kernel(driver, function, len(words))
        steps.append(KernelStep(made, words, tiles, 1 << 62, parallel=False, batcher=batches))
    if between is not None:
        steps.insert(2, HostStep(between))
    return host().bind(steps, host().pool(Config(threads=1))), batches


FIRST = [(11, 2, [1, 2, 5, 0]), (12, 1, [3, 1, 0]), (13, 2, [4, 5, 8, 0])]


def test_the_second_run_captures_and_all_later_ones_replay() -> None:
    driver = FakeGraphs()
    plan, _ = plan_of(driver)
    for run in range(5):
        driver.ran.clear()
        driver.calls.clear()
        assert plan.execute() is None
        assert driver.ran == FIRST
        launches = driver.calls.count("launch"), driver.calls.count("replay")
        assert launches == [(3, 0), (3, 1), (0, 1), (0, 1), (0, 1)][run]


def test_what_changes_is_changed_in_its_node_alone() -> None:
    driver = FakeGraphs()
    plan, _ = plan_of(driver)
    for _ in range(3):
        plan.execute()
    driver.ran.clear()
    driver.calls.clear()
    plan.words[2] = 33
    plan.tiles[2] = 9
    plan.execute()
    assert driver.ran == [FIRST[0], (12, 1, [33, 1, 0]), (13, 3, [4, 5, 9, 0])]
    assert driver.calls.count("change") == 2
    driver.calls.clear()
    plan.execute()
    assert "change" not in driver.calls


def test_words_may_change_between_the_run_that_launches_and_the_one_that_captures() -> None:
    driver = FakeGraphs()
    plan, _ = plan_of(driver)
    for word in (10, 20, 30, 40):
        driver.ran.clear()
        plan.words[0] = word
        plan.execute()
        assert driver.ran == [(11, 2, [word, 2, 5, 0]), *FIRST[1:]]


def test_a_step_without_tiles_is_left_out_and_comes_back() -> None:
    driver = FakeGraphs()
    plan, _ = plan_of(driver)
    for tiles in (5, 0, 5, 5, 0, 5, 2):
        driver.ran.clear()
        plan.tiles[0] = tiles
        plan.execute()
        first = [(11, -(-tiles // TILES), [1, 2, tiles, 0])] if tiles else []
        assert driver.ran == [*first, *FIRST[1:]]


@pytest.mark.parametrize("name", ["begin", "end", "info", "instantiate"])
def test_where_there_can_be_no_graph_launches_stay_what_they_are(name: str) -> None:
    driver = FakeGraphs({name: 900})
    plan, _ = plan_of(driver)
    for _ in range(4):
        driver.ran.clear()
        plan.execute()
        assert (driver.ran, driver.failure.value) == (FIRST, 0)
    assert "replay" not in driver.calls


def test_a_node_that_cannot_be_changed_is_told_and_tried_again() -> None:
    driver = FakeGraphs()
    plan, _ = plan_of(driver)
    for _ in range(3):
        plan.execute()
    driver.refused["change"] = 1
    driver.ran.clear()
    plan.words[0] = 7
    plan.execute()
    assert (driver.ran, driver.failure.value) == ([], 1)
    driver.failure.value = 0
    del driver.refused["change"]
    plan.execute()
    assert driver.ran == [(11, 2, [7, 2, 5, 0]), *FIRST[1:]]


def test_a_step_of_the_host_divides_them_and_one_alone_is_launched() -> None:
    driver = FakeGraphs()
    seen: list[int] = []
    plan, _ = plan_of(driver, between=lambda: seen.append(len(driver.ran)))
    for run in range(4):
        driver.ran.clear()
        plan.execute()
        assert driver.ran == FIRST
        assert seen[run] == 2
    assert driver.calls.count("replay") == 3


def test_a_plan_that_goes_gives_its_graphs_back() -> None:
    driver = FakeGraphs()
    plan, batches = plan_of(driver)
    for _ in range(2):
        plan.execute()
    del plan
    names = [name for name in batches.gpu.given_back if name != "cuCtxSetCurrent"]
    assert names == ["cuGraphExecDestroy", "cuGraphDestroy"]


pytest_gpu = pytest.mark.parametrize("size", [7, 5000])


class TestOnAGpu:
    """The same with the driver itself."""

    pytestmark = ON_A_GPU

    @pytest_gpu
    def test_a_plan_gives_what_its_inputs_have_at_each_run(self, size: int) -> None:
        x = Tensor(np.zeros(size, np.float32), device="CUDA").realize()
        y = ((x.flip(0) + 1).contiguous().flip(0) * 3).contiguous() + x.sum()
        plan = y.prepare()
        for value in range(6):
            given = np.random.default_rng(value).random(size, np.float32)
            x.assign(Tensor(given, device="CUDA")).realize()
            plan.execute()
            expected = (given + 1) * 3 + given.sum(dtype=np.float64)
            np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5)

    def test_captured_functions_take_other_memory_at_each_call(self) -> None:
        weights = ogive.randn(64, 64, device="CUDA", dtype="bfloat16").realize()

        @ogive.jit
        def layers(x: Tensor) -> Tensor:
            for _ in range(4):
                x = (x @ weights).softmax(-1) + x
            return x

        for _ in range(6):
            x = ogive.randn(48, 64, device="CUDA", dtype="bfloat16").realize()
            expected = x
            for _ in range(4):
                expected = ((expected @ weights).softmax(-1) + expected).realize()
            taken = layers(x)
            np.testing.assert_array_equal(taken.numpy(), expected.numpy())

    def test_other_extents_are_other_grids(self) -> None:
        rows = Tensor(np.arange(4000, dtype=np.float32).reshape(1000, 4), device="CUDA").realize()
        length = ogive.Variable("n", 1, 1000)
        total = (rows[: length.bind(3)].sum(0).contiguous() + 1).contiguous() * 2
        plan = total.prepare()
        for count in (3, 3, 3, 900, 1, 900, 1000):
            plan.execute_with_vars(n=count)
            expected = (np.arange(4000.0).reshape(1000, 4)[:count].sum(0) + 1) * 2
            np.testing.assert_allclose(total.numpy(), expected)
