"""`REFERENCE` as a device: tensors there, plans, assignments, faults, copies, kernels on disk."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

import ogive
from ogive import Config, Tensor, Variable
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.engine.caches.graph_cache import graph_cache
from ogive.compiler.engine.caches.kernel_cache import kernel_cache
from ogive.errors import LoadError
from tests.injection.injector import Bytecodes, Interrupt
from tests.raising import raises

REFERENCE = "REFERENCE"


def on_reference(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float64), device=REFERENCE)


def test_tensors_are_made_and_computed_there() -> None:
    x = Tensor(np.arange(6.0).reshape(2, 3), device=REFERENCE)
    total = (x @ x.T).softmax(-1).sum()
    assert x.device == total.device == REFERENCE
    assert total.item() == 2.0


def test_tensors_go_there_and_back() -> None:
    x = Tensor([1.0, 2.0])
    there = (x * 3).to(REFERENCE) + 1
    back = there.to("CPU") * 2
    assert (there.device, back.device) == (REFERENCE, "CPU")
    assert back.tolist() == [8.0, 14.0]


def test_what_is_the_same_everywhere_is_made_there() -> None:
    counted, filled = ogive.arange(3).to(REFERENCE), ogive.full((), 2.0).to(REFERENCE)
    assert (counted.device, filled.device) == (REFERENCE, REFERENCE)
    assert (counted.tolist(), filled.item()) == ([0, 1, 2], 2.0)


def test_a_plan_runs_again_over_what_its_inputs_hold() -> None:
    x = on_reference(1, 2, 3)
    doubled = x * 2
    plan = doubled.prepare()
    plan.execute()
    assert doubled.tolist() == [2, 4, 6]
    x.assign(x + 10).realize()
    plan.execute()
    assert doubled.tolist() == [22, 24, 26]


def test_a_plan_may_mix_it_with_others() -> None:
    x, y = on_reference(1, 2), Tensor([10.0, 20.0])
    mixed = (x + 1).to("CPU") * y
    plan = mixed.prepare()
    plan.execute()
    assert mixed.tolist() == [20.0, 60.0]


def test_assignments_happen_in_place_and_old_readers_keep_the_old_values() -> None:
    x = on_reference(1, 2, 3, 4)
    before = x * 10
    x[1:] = x[:-1]
    assert x.tolist() == [1, 1, 2, 3]
    assert before.tolist() == [10, 20, 30, 40]


@pytest.mark.parametrize("module", ["native_plan.py", "device.py", "evaluate_region.py"])
def test_an_assignment_that_is_interrupted_anywhere_happens_once(module: str) -> None:
    x, count, at = on_reference(0, 0, 0), 0.0, 0
    old = x * 2
    while True:
        x += 1
        injection = Bytecodes(lambda path: module if path.endswith(module) else None, module, at)
        with contextlib.suppress(Interrupt), injection.watching():
            x.realize()
        assert old.tolist() == [2 * count] * 3
        assert x.tolist() == [count + 1] * 3, injection.raised_at
        count, at, old = count + 1, at + 7, x * 2
        if injection.raised_at is None:
            break
    assert at > 7


def test_lengths_may_change_between_runs() -> None:
    table = on_reference(*range(8))
    part = table[: Variable("n", 1, 8).bind(3)] * 2
    plan = part.prepare()
    plan.execute_with_vars(n=5)
    assert part.tolist() == [0, 2, 4, 6, 8]


def test_a_fault_names_the_line() -> None:
    x = Tensor([1, 2], device=REFERENCE)
    quotient = Tensor([3, 4], device=REFERENCE) // (x - 1)
    with raises(
        ZeroDivisionError, match="by a zero element", quoting=r"quotient = Tensor\(\[3, 4\]"
    ):
        quotient.tolist()
    assert x.tolist() == [1, 2]


def test_captured_functions_run_there() -> None:
    scale = ogive.jit(lambda x: (x * 2).sum())
    assert scale(on_reference(1, 2)).item() == 6
    assert scale(on_reference(3, 4)).item() == 14
    assert scale.cache_info().traces == 1


def test_a_kernel_is_the_listing_of_its_region() -> None:
    plan = (on_reference(1, 2) * 3).prepare()
    (kernel,) = plan.kernels
    assert kernel.name == "evaluate_mul"
    assert "MUL float64" in kernel.ir


def test_kernels_are_found_on_disk(own_cache: str) -> None:
    def compute() -> dict[str, int]:
        before = ogive.counters()
        graph_cache.clear()
        kernel_cache.clear()
        assert (on_reference(1, 2, 3) * 1.25 - 7).tolist() == [-5.75, -4.5, -3.25]
        return {name: count - before[name] for name, count in ogive.counters().items()}

    assert compute()["kernels_compiled"] == 1
    found = compute()
    assert (found["kernels_compiled"], found["schedule_disk_hits"]) == (0, 1)


@pytest.mark.parametrize("damage", [b"", b"nonsense", None])
def test_damaged_code_is_refused(damage: bytes | None) -> None:
    device = find_device(REFERENCE)
    (kernel,) = (on_reference(1, 2) * 3).prepare().kernels
    code = device.assemble(kernel.ir, device.target(Config()))
    assert device.load("whole", code)
    with pytest.raises(LoadError):
        device.load("damaged", code[:-3] if damage is None else damage)


def test_no_rewrite_pays_there() -> None:
    many = Tensor(np.zeros(1 << 18), device=REFERENCE)
    square = many.reshape(512, 512)
    for value in (many.sum(), many.cumsum(0), square @ square):
        plan = value.prepare()
        assert len(plan.kernels) == 1


def test_graphs_of_changing_sizes_read_no_more_than_there_is() -> None:
    for rows in (3, 5, 8, 6):
        values = np.arange(rows * 4, dtype=np.float32).reshape(rows, 4)
        found = (Tensor(values, device="REFERENCE") * 2).sum(0)
        np.testing.assert_allclose(found.numpy(), (values * 2).sum(0))
