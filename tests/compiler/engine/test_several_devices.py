"""`CPU` and other devices in one plan: memory of their own, copies between them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy.typing import NDArray

import ogive
import ogive.torch
from ogive import Config, Tensor
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import registry
from ogive.compiler.passes.regions.slots import CopyStep
from ogive.config import PLANNERS
from ogive.errors import DeviceError, DivisionByZeroError
from ogive.tensor import build, core
from ogive.tensor.core import wrap
from tests.raising import raises

OTHER = "CPU:1"


def values(*shape: int, seed: int = 0) -> NDArray[numpy.float32]:
    return numpy.random.default_rng(seed).standard_normal(shape).astype(numpy.float32)


X, W = values(17, 23), values(23, 11, seed=1)


@pytest.mark.parametrize("planner", PLANNERS)
def test_what_goes_there_and_back_is_what_numpy_computes(planner: str) -> None:
    x, w = Tensor(X), Tensor(W, device=OTHER)
    there = x.tanh().to(OTHER) @ w
    back = there.to("CPU").sum(0) + x.sum()
    back.realize(config=Config(planner=planner))
    assert back.device == "CPU" and there.device == OTHER
    expected = (numpy.tanh(X) @ W).sum(0) + X.sum()
    numpy.testing.assert_allclose(back.numpy(), expected, rtol=2e-5)
    numpy.testing.assert_allclose(there.numpy(), numpy.tanh(X) @ W, rtol=2e-5, atol=1e-6)


def test_a_large_expression_of_constants_is_computed_where_its_tensor_is() -> None:
    counted = ogive.arange(8)
    with registry.graph_lock:
        node = counted.node
        for number in range(300):
            node = registry.make(Op.ADD, node.dtype, (node, build.constant(node.dtype, number)))
        result = wrap(node, OTHER)
    result.realize()
    assert memory_leaf(result.node).device == OTHER
    assert result.tolist() == [sum(range(300)) + each for each in range(8)]


def test_a_tensor_of_another_device_is_known_to_be_there_without_looking_for_its_memory() -> None:
    x = Tensor(X, device=OTHER)
    for _ in range(5):
        x = x + 1
    assert core._device_below((x * 2).node) == OTHER
    assert not any(node.op is Op.COPY for node in x.node.walk())


def test_tensors_of_several_devices_are_realized_together() -> None:
    x, y = Tensor(X), Tensor(X, device=OTHER)
    results = (x + 1, y * 2, x.to(OTHER) + y, (y - 1).to("CPU"))
    Tensor.realize_batch(list(results))
    for result, expected in zip(results, (X + 1, X * 2, X + X, X - 1), strict=True):
        numpy.testing.assert_array_equal(result.numpy(), expected)
    assert [result.device for result in results] == ["CPU", OTHER, OTHER, "CPU"]


def test_a_plan_has_copies_between_devices_and_memory_of_each() -> None:
    x, w = Tensor(X), Tensor(W, device=OTHER)
    result = ((x.exp() + 1).to(OTHER) @ w).to("CPU").softmax(-1)
    plan = result.prepare()
    assert sum(isinstance(step, CopyStep) for step in plan.steps) == 2
    assert set(plan.memory.devices) == {"CPU", OTHER}
    assert plan.memory.by_device["CPU"] > 0 and plan.memory.by_device[OTHER] > 0
    assert plan.memory.planned == sum(plan.memory.by_device.values())
    for _ in range(3):
        plan.execute()
    logits = (numpy.exp(X) + 1) @ W
    weights = numpy.exp(logits - logits.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True)
    numpy.testing.assert_allclose(result.numpy(), expected, rtol=1e-3, atol=1e-6)


def test_memory_is_allocated_by_its_device() -> None:
    before = find_device(OTHER).memory.bytes_allocated + find_device(OTHER).memory.bytes_reused
    Tensor(numpy.zeros(1 << 16, numpy.float32), device=OTHER).realize()
    after = find_device(OTHER).memory.bytes_allocated + find_device(OTHER).memory.bytes_reused
    assert after - before >= 4 << 16
    assert ogive.counters()[f"bytes_allocated on {OTHER}"] > 0


def test_one_kernel_serves_all_devices_of_a_target() -> None:
    length, static = 6151, ogive.Config(generalize=False)
    (Tensor(numpy.ones(length)) * 3 + 1).realize(static)
    before = ogive.counters()["kernels_compiled"]
    result = (Tensor(numpy.ones(length), device=OTHER) * 3 + 1).realize(static)
    assert ogive.counters()["kernels_compiled"] == before
    assert result.device == OTHER and result[0].item() == 4


@pytest.mark.parametrize("other", [OTHER, "REFERENCE"])
def test_gradients_flow_through_copies(other: str) -> None:
    x, w = Tensor(X, requires_grad=True), Tensor(W, device=other, requires_grad=True)
    loss = ((x * 2).to(other) @ w).square().sum().to("CPU")
    loss.backward()
    assert x.grad is not None and w.grad is not None
    assert (x.grad.device, w.grad.device) == ("CPU", other)
    product = 2 * X @ W
    numpy.testing.assert_allclose(w.grad.numpy(), 2 * (2 * X).T @ product, rtol=1e-4, atol=1e-4)
    numpy.testing.assert_allclose(x.grad.numpy(), 4 * product @ W.T, rtol=1e-4, atol=1e-4)


def test_a_gradient_that_is_a_constant_is_where_its_tensor_is() -> None:
    x = Tensor(X, device=OTHER, requires_grad=True)
    x.sum().backward()
    assert x.grad is not None and x.grad.device == OTHER
    assert x.grad.realize().device == OTHER


@pytest.mark.parametrize("first", [0, 1])
def test_assignments_keep_program_order_across_devices(first: int) -> None:
    x, y = Tensor(X), Tensor(X, device=OTHER)
    old = x.to(OTHER) * 10 + y
    x.assign(y.to("CPU") + 1)
    new = x.to(OTHER) * 10 + y
    y += 5
    late = x + y.to("CPU")
    results = [old, new, late]
    for result in results[first:] + results[:first]:
        result.realize()
    numpy.testing.assert_allclose(old.numpy(), X * 10 + X, rtol=1e-6)
    numpy.testing.assert_allclose(new.numpy(), (X + 1) * 10 + X, rtol=1e-6)
    numpy.testing.assert_allclose(late.numpy(), X + 1 + X + 5, rtol=1e-5)
    assert (x.device, y.device) == ("CPU", OTHER)


def test_what_is_assigned_comes_from_any_device() -> None:
    x = Tensor(X)
    x.assign(Tensor(X + 1, device=OTHER))
    x[0] = Tensor(X[1], device=OTHER)
    expected = X + 1
    expected[0] = X[1]
    assert x.device == "CPU"
    numpy.testing.assert_array_equal(x.numpy(), expected)


def test_a_captured_function_spans_devices() -> None:
    w = Tensor(W, device=OTHER)

    @ogive.jit
    def step(x: Tensor) -> tuple[Tensor, Tensor]:
        there = x.exp().to(OTHER) @ w
        return there, there.sum(-1).to("CPU") + x[:, 0]

    for seed in range(4):
        x = values(17, 23, seed=seed)
        there, back = step(Tensor(x))
        assert (there.device, back.device) == (OTHER, "CPU")
        product = numpy.exp(x) @ W
        numpy.testing.assert_allclose(there.numpy(), product, rtol=1e-4, atol=1e-4)
        numpy.testing.assert_allclose(back.numpy(), product.sum(-1) + x[:, 0], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("other", [OTHER, "REFERENCE"])
def test_a_captured_step_updates_what_is_elsewhere(other: str) -> None:
    weight = Tensor(numpy.zeros(3, numpy.float32), device=other)

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        weight.assign(weight + x.to(other))
        return weight.sum()

    totals = [step(Tensor(numpy.full(3, number, numpy.float32))).item() for number in range(5)]
    assert totals == [0, 3, 9, 18, 30]
    assert weight.tolist() == [10, 10, 10]


def test_constants_are_made_where_they_are_wanted() -> None:
    made = [
        ogive.zeros(4, device=OTHER), ogive.arange(4, device=OTHER), Tensor(1.5, device=OTHER),
        ogive.rand(4, device=OTHER), Tensor([1, 2], device=OTHER) == 1000,
    ]  # fmt: skip
    for tensor in made:
        assert tensor.device == OTHER
        again = tensor.realize() + 0
        assert again.device == OTHER
        assert again.realize().tolist() == tensor.tolist()


def test_constants_that_move_are_computed_where_they_arrive() -> None:
    there = ogive.zeros(4, device=OTHER) + 1
    back = there.to("CPU") * 3
    Tensor.realize_batch([back, there, back + Tensor([1.0, 2.0, 3.0, 4.0])])
    assert (back.device, there.device) == ("CPU", OTHER)
    assert back.tolist() == [3] * 4 and there.tolist() == [1] * 4
    assert (ogive.arange(3, device=OTHER).to("CPU:2") + 1).tolist() == [1, 2, 3]


def test_constants_of_another_device_are_written_where_they_are_asked_for_as_they_are() -> None:
    counted = ogive.arange(ogive.Variable("n", 1, 6).bind(5), device=OTHER)
    plan = counted.prepare()
    assert len(plan.kernels) == 1
    plan.execute()
    assert counted.tolist() == [0, 1, 2, 3, 4]


def test_a_value_that_is_all_overwritten_stays_where_it_is() -> None:
    flags = Tensor(X, device=OTHER) >= Tensor(X, device=OTHER)
    flags[...] = False
    flags.realize()
    assert {step.device for step in (flags + 0).prepare()._graph.slots} == {OTHER}


def test_what_is_all_overwritten_on_another_device_has_gradients_of_zero() -> None:
    w = ogive.ones(3, device=OTHER).requires_grad_()
    y = w * 2
    y.fill_(2)
    (y * 3).sum().backward()
    assert y.requires_grad and w.grad is not None
    assert w.grad.tolist() == [0, 0, 0]


def test_functions_read_constants_of_another_device() -> None:
    drawn = ogive.random.multinomial(
        ogive.ones(3, 4, device=OTHER), 4, key=ogive.random.key(1)
    )
    assert numpy.sort(drawn.numpy(), -1).tolist() == [[0, 1, 2, 3]] * 3


def test_equal_constants_of_two_devices_are_two_values() -> None:
    here, there = ogive.full((5,), 2.5), ogive.full((5,), 2.5, device=OTHER)
    Tensor.realize_batch([here, there])
    here += 1
    assert here.tolist() == [3.5] * 5 and there.tolist() == [2.5] * 5
    assert (here.device, there.device) == ("CPU", OTHER)


def test_devices_do_not_mix_without_a_copy() -> None:
    x, y = Tensor(X), Tensor(X, device=OTHER)
    apart = "tensors are on CPU and CPU:1; move one with to"
    with raises(DeviceError, match=apart):
        _ = x + y
    with raises(DeviceError, match=apart):
        _ = x @ y.T
    with raises(DeviceError, match=apart):
        ogive.cat([x, y])


def test_numbers_on_the_default_device_go_with_any() -> None:
    y = Tensor(X, device=OTHER)
    for result in (Tensor(2.0) * y, y * Tensor(2.0)):
        assert result.device == OTHER
        numpy.testing.assert_array_equal(result.numpy(), X * 2)
    chosen = ogive.where(y > 0, y, Tensor(0.0))
    assert chosen.device == OTHER
    with raises(DeviceError, match="tensors are on"):
        _ = Tensor(2.0, device=OTHER) * Tensor(X)


@pytest.mark.parametrize("other", [OTHER, "REFERENCE"])
def test_a_fault_there_names_the_line_here(other: str) -> None:
    x = Tensor([6, 4], device=other)
    zero = Tensor([1, 0]).to(other)
    with raises(
        DivisionByZeroError, match="by a zero element",
        quoting=r"test_several_devices\.py:\d+: .*x // zero",
    ):
        (x // zero).to("CPU").realize()


def test_a_file_is_read_to_where_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "values.bin"
    path.write_bytes(X.tobytes())
    file = Tensor.from_file(path, X.shape, "float32")
    y = Tensor(X, device=OTHER)
    plan = (file + y).prepare()
    assert [type(step).__name__ for step in plan.steps] == ["CopyStep", "Launch"]
    assert (file.to(OTHER) * 2).device == OTHER
    numpy.testing.assert_array_equal((file.to(OTHER) * 2 + y).numpy(), X * 2 + X)
    both = [file + 1, file + y]
    Tensor.realize_batch(both)
    assert [tensor.device for tensor in both] == ["CPU", OTHER]


def test_a_function_is_called_with_what_is_elsewhere() -> None:
    def double(x: NDArray[numpy.float32], result: NDArray[numpy.float32]) -> None:
        result[...] = 2 * x

    y = Tensor(X, device=OTHER)
    result = ogive.custom(double, [y + 1], (X.shape, "float32"))
    assert result.device == OTHER
    numpy.testing.assert_allclose((result + y).numpy(), 2 * (X + 1) + X, rtol=1e-6)


def test_variables_reach_both_devices() -> None:
    n = ogive.Variable("n", 1, 17)
    x = Tensor(X)[: n.bind(4)]
    result = (x * 2).to(OTHER).sum(0)
    plan = result.prepare()
    for rows in (4, 9):
        plan.execute_with_vars(n=rows)
        numpy.testing.assert_allclose(result.numpy(), (X[:rows] * 2).sum(0), rtol=1e-5, atol=1e-5)


PROGRAM = """
import json, numpy, ogive
from ogive import Tensor
x = Tensor(numpy.arange(12, dtype="float32").reshape(3, 4))
w = Tensor(numpy.arange(8, dtype="float32").reshape(4, 2), device="CPU:1")
result = ((x + 1).to("CPU:1") @ w).to("CPU").sum(0)
plan = result.prepare()
plan.execute()
counts = ogive.counters()
print(json.dumps([result.tolist(), dict(plan.memory.by_device), counts["schedules_created"],
    counts["kernels_compiled"], counts["schedule_disk_hits"]]))
"""


def test_a_second_process_finds_the_plan_of_several_devices_on_disk(tmp_path: Path) -> None:
    environment = {**os.environ, "OGIVE_CACHE_DIR": str(tmp_path / "cache")}
    runs = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        runs.append(json.loads(done.stdout))
    (result, memory, *first), (again, same, *second) = runs
    left, right = numpy.arange(12).reshape(3, 4) + 1, numpy.arange(8).reshape(4, 2)
    assert result == again == (left @ right).sum(0).tolist()
    assert memory == same and set(memory) == {"CPU", "CPU:1"}
    assert first[0] == 1 and first[1] > 0
    assert second == [0, 0, 1]


def test_a_module_moves_to_another_device() -> None:
    layer = ogive.nn.Linear(23, 4)
    # Kernels for these very sizes on both, whatever other sizes the process has met before.
    config = Config(generalize=False)
    expected = layer(Tensor(X)).realize(config=config).numpy()
    layer.to(OTHER)
    assert {parameter.device for parameter in layer.parameters()} == {OTHER}
    moved = layer(Tensor(X, device=OTHER)).realize(config=config)
    assert moved.device == OTHER
    numpy.testing.assert_array_equal(moved.numpy(), expected)


def test_profiles_time_steps_of_all_devices() -> None:
    plan = (Tensor(X).exp().to(OTHER) + 1).prepare()
    names = [entry.name.partition("_")[0] for entry in plan.profile(2)]
    assert names == ["elementwise", "copy", "elementwise"]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.clone().fill_diagonal_(7.0, wrap=True),
        lambda x: ogive.isin(x, 1.0),
        lambda x: ogive.isin(1.0, x),
        lambda x: ogive.linspace(x[0, 0], x[1, 1], 4),
        lambda x: ogive.linspace(x[0, 0], 3.0, 4),
        lambda x: x.quantile([0.25, 0.5]),
        lambda x: ogive.linalg.lu(x).P,
    ],
    ids=["fill_diagonal_", "isin", "isin of a number", "linspace", "linspace to a number",
         "quantile", "lu"],
)  # fmt: skip
def test_what_a_function_makes_for_itself_is_on_the_device_of_its_tensor(function: Any) -> None:
    array = values(5, 2)
    found = function(Tensor(array, device=OTHER))
    assert found.device == OTHER
    numpy.testing.assert_allclose(found.numpy(), function(Tensor(array)).numpy(), rtol=1e-5)


def test_a_mask_of_attention_is_made_where_the_layer_is() -> None:
    layer = ogive.nn.MultiheadAttention(4, 2, add_zero_attn=True, add_bias_kv=True)
    mask = ogive.ones(3, 3, dtype="bool").triu(1)
    x = Tensor(values(3, 1, 4))
    expected = layer(x, x, x, attn_mask=mask)[0].numpy()
    there = x.to(OTHER)
    found = layer.to(OTHER)(there, there, there, attn_mask=mask.to(OTHER))[0]
    assert found.device == OTHER
    numpy.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("device", [0, 3.5])
def test_what_names_no_device_is_refused(device: Any) -> None:
    with raises(DeviceError, match="unknown device"):
        Tensor([1.0]).to(device=device)
    with raises(DeviceError, match="unknown device"):
        ogive.torch.tensor([1.0]).to(device=device)
