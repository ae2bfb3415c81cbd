"""Panels of operands that have not changed are kept, and no result ever shows it."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
from ogive import Config, Tensor
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.engine.caches.kept_panels import PanelCache, panel_cache
from ogive.compiler.live.kept_graphs import kept_graphs
from tests.compiler.engine.counting import Count

Array = NDArray[Any]

ROWS, DEPTH, COLUMNS = 32, 128, 256
PANEL = 4 * DEPTH * COLUMNS
ANEW = Config(pack_constants=False)
random = numpy.random.default_rng(11)


def normal(*shape: int) -> Array:
    return random.standard_normal(shape).astype(numpy.float32)


def product(x: Array, w: Array) -> Array:
    """`x @ w` without anything kept."""
    return (Tensor(x) @ Tensor(w)).realize(config=ANEW).numpy()


def same(found: Tensor, expected: Array) -> None:
    assert found.numpy().tobytes() == expected.tobytes()


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    panel_cache.clear()
    yield
    panel_cache.clear()


def kept_bytes(cache: PanelCache = panel_cache) -> int:
    memories = [kept.memory for kept in cache._entries.values()]
    return sum(memory.nbytes for memory in memories if memory is not None)


def test_a_panel_is_kept_when_its_operand_is_seen_again() -> None:
    plan = (Tensor(normal(ROWS, DEPTH)) @ Tensor(normal(DEPTH, COLUMNS))).prepare()
    plan.execute()
    assert plan.memory.kept == 0
    with Count() as counted:
        plan.execute()
    assert counted["panels_kept"] == 1 and plan.memory.kept == PANEL
    with Count() as counted:
        plan.execute()
        plan.execute()
    assert counted == {}


def test_what_packs_is_left_out_of_the_run() -> None:
    """Seen from the outside: what the kept memory holds is what counts, until the next version."""
    x, w = Tensor(normal(ROWS, DEPTH)), Tensor(normal(DEPTH, COLUMNS))
    y = x @ w
    plan = y.prepare()
    for _ in range(3):
        plan.execute()
    (kept,) = panel_cache._entries.values()
    assert kept.memory is not None
    kept.memory.as_numpy()[:] = 0
    plan.execute()
    assert not y.numpy().any()
    w.assign(w * 1).realize()
    plan.execute()
    same(y, product(x.numpy(), w.numpy()))


def test_plans_functions_and_realizations_share_a_panel() -> None:
    x, w = Tensor(normal(ROWS, DEPTH)), Tensor(normal(DEPTH, COLUMNS))
    first, second = x @ w, (x @ w).relu()
    plan, other = first.prepare(), second.prepare()
    plan.execute()
    function = ogive.jit(lambda x, w: (x @ w).exp())
    with Count() as counted:
        other.execute()  # the second run that sees it
        function(x, w)
        (x @ w).sum(0).realize()
    assert (counted["panels_kept"], counted["panels_reused"]) == (1, 2)
    same(second, numpy.maximum(product(x.numpy(), w.numpy()), 0))


def test_nothing_is_kept_where_every_run_is_to_pack() -> None:
    y = Tensor(normal(ROWS, DEPTH)) @ Tensor(normal(DEPTH, COLUMNS))
    plan = y.prepare(config=ANEW)
    with Count() as counted:
        for _ in range(4):
            plan.execute()
    assert counted == {} and plan.memory.kept == 0 and kept_bytes() == 0


def test_a_replay_that_kept_a_panel_packs_again_when_told_to() -> None:
    x, w = Tensor(normal(ROWS, DEPTH)), Tensor(normal(DEPTH, COLUMNS))
    for _ in range(3):
        (x @ w).realize()
    (kept,) = panel_cache._entries.values()
    assert kept.memory is not None
    kept.memory.as_numpy()[:] = 0
    assert not (x @ w).numpy().any()
    same((x @ w).realize(config=ANEW), product(x.numpy(), w.numpy()))


def test_small_operands_and_variables_are_not_kept() -> None:
    small = Tensor(normal(ROWS, 12)) @ Tensor(normal(12, COLUMNS))
    rows = ogive.Variable("rows", 1, DEPTH).bind(100)
    symbolic = Tensor(normal(ROWS, DEPTH))[:, :rows] @ Tensor(normal(DEPTH, COLUMNS))[:rows]
    plans = [small.prepare(), symbolic.prepare()]
    with Count() as counted:
        for plan in plans * 3:
            plan.execute()
    assert counted == {}


def test_what_is_computed_while_packing_depends_on_all_it_reads() -> None:
    x, w, scale = normal(ROWS, DEPTH), normal(DEPTH, COLUMNS), normal(COLUMNS)
    weight, factor = Tensor(w), Tensor(scale)
    y = Tensor(x) @ (weight * factor)
    plan = y.prepare()
    for step in range(9):
        if step % 3 == 0:
            factor.assign(factor + step).realize()
        plan.execute()
        same(y, product(x, w * factor.numpy()))
    assert plan.memory.kept == PANEL


def test_windows_of_one_buffer_have_panels_of_their_own() -> None:
    x, values = normal(ROWS, DEPTH), normal(3, DEPTH, COLUMNS)
    stack = Tensor(values)
    outputs = [Tensor(x) @ stack[at] for at in range(3)]
    plans = [y.prepare() for y in outputs]
    for step in range(6):
        if step == 3:
            stack[1] = 0.5
            stack.realize()
            values[1] = 0.5
        for at, plan in enumerate(plans):
            plan.execute()
            same(outputs[at], product(x, values[at]))
    assert kept_bytes() == 3 * PANEL


def test_borrowed_and_lent_memory_is_packed_at_each_run() -> None:
    x, array = normal(ROWS, DEPTH), normal(DEPTH, COLUMNS)
    borrowed, own = Tensor.from_numpy(array), Tensor(array)
    first, second = Tensor(x) @ borrowed, Tensor(x) @ own
    plans = [first.prepare(), second.prepare()]
    for _ in range(3):
        for plan in plans:
            plan.execute()
    assert kept_bytes() == PANEL
    lent = numpy.from_dlpack(own)
    for value in (1.0, 2.0):
        array[:] = value
        lent[0] = value
        for plan in plans:
            plan.execute()
        same(first, product(x, array))
        same(second, product(x, lent))


def test_outputs_of_a_prepared_plan_have_no_version_until_it_is_released() -> None:
    x, source = normal(ROWS, DEPTH), Tensor(normal(DEPTH, COLUMNS))
    w = source * 2
    make = w.prepare()
    y = Tensor(x) @ w
    plan = y.prepare()
    for value in (1.0, 2.0, 3.0):
        source.assign(source + value).realize()
        make.execute()
        for _ in range(3):
            plan.execute()
            same(y, product(x, source.numpy() * 2))
    assert plan.memory.kept == 0
    make.release()
    for _ in range(3):
        plan.execute()
    same(y, product(x, source.numpy() * 2))
    assert plan.memory.kept == PANEL


def test_memory_that_a_function_recycles_is_another_operand() -> None:
    base, x = normal(DEPTH, COLUMNS), normal(ROWS, DEPTH)
    make = ogive.jit(lambda seed: Tensor(base) * seed)
    apply = ogive.jit(lambda x, w: x @ w)
    for seed in range(1, 6):
        w = make(Tensor(float(seed)))
        for _ in range(3):
            same(apply(Tensor(x), w), product(x, base * numpy.float32(seed)))
        del w


def test_a_panel_goes_with_what_it_was_made_from() -> None:
    x, w = Tensor(normal(ROWS, DEPTH)), Tensor(normal(DEPTH, COLUMNS))
    for _ in range(3):
        (x @ w).realize()
    assert kept_bytes() == PANEL
    del w
    kept_graphs.clear()  # the loop is over
    gc.collect()
    assert kept_bytes() == 0


def test_no_more_is_kept_than_allowed_and_the_least_used_goes_first() -> None:
    config = Config(panel_bytes=2 * PANEL)
    x = normal(ROWS, DEPTH)
    weights = [normal(DEPTH, COLUMNS) for _ in range(3)]
    outputs = [Tensor(x) @ Tensor(w) for w in weights]
    plans = [y.prepare(config=config) for y in outputs]
    for at in (0, 0, 1, 1, 0, 2, 2, 2):
        plans[at].execute()
        same(outputs[at], product(x, weights[at]))
        assert kept_bytes() <= 2 * PANEL
    assert [plan.memory.kept for plan in plans] == [PANEL, 0, PANEL]
    nothing = (Tensor(x) @ Tensor(weights[0])).prepare(config=Config(panel_bytes=PANEL - 1))
    for _ in range(3):
        nothing.execute()
    assert nothing.memory.kept == 0


def test_a_run_that_faults_keeps_nothing() -> None:
    x, w = Tensor(normal(ROWS, DEPTH)), Tensor(normal(DEPTH, COLUMNS))
    divisor = Tensor([1, 1])
    outputs = [x @ w, Tensor([6, 8]) // divisor]
    plan = Tensor.prepare_batch(outputs)
    plan.execute()
    divisor.assign(Tensor([1, 0])).realize()
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            plan.execute()
    assert kept_bytes() == 0
    divisor.assign(Tensor([1, 2])).realize()
    plan.execute()
    assert kept_bytes() == PANEL
    same(outputs[0], product(x.numpy(), w.numpy()))


def test_a_version_that_changes_while_it_is_packed_is_not_kept() -> None:
    source = Buffer(64)
    cache = PanelCache()
    kept = cache.find("layout", [source])
    assert kept is not None
    source.writes += 2
    cache.keep(kept, Buffer(64), [source], 1 << 20)
    assert kept.memory is None
    source.writes += 1
    assert cache.find("layout", [source]) is None


def test_threads_share_panels_and_leave_no_wrong_one_behind() -> None:
    x, versions = normal(ROWS, DEPTH), [normal(DEPTH, COLUMNS) for _ in range(2)]
    w = Tensor(versions[0])
    expected = [product(x, version).tobytes() for version in versions]
    inputs = Tensor(x)
    shared = inputs @ w
    plan = shared.prepare()
    wrong: list[str] = []
    stop = threading.Event()

    def realize() -> None:
        while not stop.is_set():
            if (inputs @ w).numpy().tobytes() not in expected:
                wrong.append("realize")

    def execute(run: Callable[[], object]) -> Callable[[], None]:
        def loop() -> None:
            while not stop.is_set():
                run()

        return loop

    own = inputs @ w
    function = ogive.jit(lambda x: x @ w)
    work = [realize, execute(plan.execute), execute(plan.execute), execute(own.prepare().execute)]
    threads = [threading.Thread(target=each) for each in [*work, execute(lambda: function(inputs))]]
    for thread in threads:
        thread.start()
    for step in range(60):
        w.assign(Tensor(versions[step % 2])).realize()
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong
    plan.execute()
    assert shared.numpy().tobytes() == expected[1]
    assert function(inputs).numpy().tobytes() == expected[1]
    assert (inputs @ w).numpy().tobytes() == expected[1]


def test_a_child_process_has_its_own_versions() -> None:
    x, w = Tensor(normal(ROWS, DEPTH)), Tensor(normal(DEPTH, COLUMNS))
    y = x @ w
    plan = y.prepare()
    for _ in range(3):
        plan.execute()
    child = os.fork()
    if child == 0:
        w.assign(w * 2).realize()
        plan.execute()
        right = y.numpy().tobytes() == product(x.numpy(), w.numpy()).tobytes()
        os._exit(0 if right else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    plan.execute()
    same(y, product(x.numpy(), w.numpy()))


class World:
    """Weights that change in every way there is, and all who multiply by them.

    Beside each weight stands what it should hold, in memory that nothing else knows of.
    """

    def __init__(self, seed: int) -> None:
        self.random = numpy.random.default_rng(seed)
        self.x = self.draw(ROWS, DEPTH)
        self.values = [self.draw(DEPTH, COLUMNS) for _ in range(3)]
        self.weights = [Tensor(value) for value in self.values]
        self.arrays: dict[int, Array] = {}
        self.input = Tensor(self.x)
        self.config = Config(panel_bytes=PANEL * int(self.random.integers(0, 4)))
        self.apply = ogive.jit(lambda x, w: x @ w, config=self.config)
        self.update = ogive.jit(_update, config=self.config)
        self.halve = ogive.jit(lambda w: w / 2, donate=(0,), config=self.config)
        self.plans: list[tuple[int, Tensor, Any]] = []

    def draw(self, *shape: int) -> Array:
        return self.random.standard_normal(shape).astype(numpy.float32)

    def forget(self, at: int) -> None:
        """Drop the plans of a weight that has moved to other memory."""
        self.plans = [entry for entry in self.plans if entry[0] != at]

    def step(self) -> None:
        at = int(self.random.integers(len(self.weights)))
        actions = [
            self.prepare, self.execute, self.execute, self.execute, self.realize, self.call,
            self.call, self.assign, self.set_row, self.swap, self.lend, self.write_lent,
            self.borrow, self.train, self.donate,
        ]  # fmt: skip
        actions[int(self.random.integers(len(actions)))](at)

    def expect(self, found: Tensor, at: int) -> None:
        same(found, product(self.x, self.values[at]))

    def prepare(self, at: int) -> None:
        y = self.input @ self.weights[at]
        self.plans.append((at, y, y.prepare(config=self.config)))

    def execute(self, at: int) -> None:
        for number, y, plan in self.plans:
            if number == at:
                plan.execute()
                self.expect(y, at)

    def realize(self, at: int) -> None:
        self.expect((self.input @ self.weights[at]).realize(config=self.config), at)

    def call(self, at: int) -> None:
        self.expect(self.apply(self.input, self.weights[at]), at)

    def moved(self, at: int) -> None:
        """What was borrowed or lent has got memory of its own: plans still read the old."""
        if at in self.arrays:
            del self.arrays[at]
            self.forget(at)

    def assign(self, at: int) -> None:
        self.values[at] = self.draw(DEPTH, COLUMNS)
        self.weights[at].assign(Tensor(self.values[at])).realize()
        self.moved(at)

    def set_row(self, at: int) -> None:
        row = int(self.random.integers(DEPTH))
        self.values[at][row] = row
        self.weights[at][row] = float(row)
        self.weights[at].realize()
        self.moved(at)

    def swap(self, at: int) -> None:
        other = (at + 1) % len(self.weights)
        weights, values = self.weights, self.values
        weights[at], weights[other] = weights[other], weights[at]
        values[at], values[other] = values[other], values[at]
        for each in (at, other):
            self.forget(each)
        arrays = {at: self.arrays.pop(other, None), other: self.arrays.pop(at, None)}
        self.arrays.update({n: array for n, array in arrays.items() if array is not None})

    def lend(self, at: int) -> None:
        if at not in self.arrays:
            self.arrays[at] = numpy.from_dlpack(self.weights[at])

    def write_lent(self, at: int) -> None:
        if at in self.arrays:
            self.values[at][5] = self.arrays[at][5] = float(self.random.random())

    def borrow(self, at: int) -> None:
        self.arrays[at] = self.values[at].copy()
        self.weights[at] = Tensor.from_numpy(self.arrays[at])
        self.forget(at)

    def train(self, at: int) -> None:
        found = self.update(self.input, self.weights[at])
        self.expect(found, at)
        self.values[at] = self.values[at] + numpy.float32(1)
        self.moved(at)

    def donate(self, at: int) -> None:
        self.weights[at] = self.halve(self.weights[at])
        self.values[at] = self.values[at] / numpy.float32(2)
        self.moved(at)
        self.forget(at)


def _update(x: Tensor, w: Tensor) -> Tensor:
    y = x @ w
    w.assign(w + 1)
    return y


@pytest.mark.parametrize("seed", range(6))
def test_no_sequence_of_changes_shows_that_panels_are_kept(seed: int) -> None:
    world = World(seed)
    for _ in range(120):
        world.step()
