"""Plans and captured functions, step by step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import ogive
from ogive import Tensor, Variable
from ogive.errors import ArgumentError, DivisionByZeroError, ExecuteError
from tests.raising import raises


def values(*shape: int) -> Any:
    return numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)


def test_every_step_is_timed_in_order(tmp_path: Path) -> None:
    array = values(6)
    path = tmp_path / "values.bin"
    path.write_bytes(array.tobytes())

    def halve(given: Any, result: Any) -> None:
        result[...] = given / 2

    stored = Tensor.from_file(str(path), (6,), "float32").to("CPU")
    y = ogive.custom(halve, [stored + 1], ((6,), "float32")) * 3
    plan = y.prepare()
    profile = plan.profile(3)
    steps = [launch.kernel if hasattr(launch, "kernel") else launch for launch in plan.steps]
    assert [entry.step for entry in profile] == steps
    names = [entry.name for entry in profile]
    assert "copy" in names and any("halve" in name for name in names)
    assert all(seconds > 0 for _, seconds in profile)
    numpy.testing.assert_allclose(y.numpy(), (array + 1) / 2 * 3, rtol=1e-6)


def test_a_profile_is_a_run_of_the_plan_each_time() -> None:
    total = Tensor([1.0]).contiguous().realize()
    total.assign(total + 1)
    plan = total.prepare()
    plan.profile(4)
    assert total.tolist() == [5.0]


def test_steps_that_may_run_side_by_side_are_timed_apart() -> None:
    arrays = [values(64, 64) for _ in range(4)]
    products = [Tensor(array) @ Tensor(array) for array in arrays]
    plan = Tensor.prepare_batch(products)
    assert len(plan.profile(2)) == len(plan.kernels)
    for product, array in zip(products, arrays, strict=True):
        numpy.testing.assert_allclose(product.numpy(), array @ array, rtol=1e-3, atol=1e-3)


def test_variables_keep_their_values() -> None:
    rows = Tensor(values(5, 3))
    total = rows[: Variable("n", 1, 5).bind(2)].sum(0)
    plan = total.prepare()
    plan.execute_with_vars(n=4)
    plan.profile(2)
    numpy.testing.assert_allclose(total.numpy(), values(5, 3)[:4].sum(0), rtol=1e-5)


def test_a_fault_is_raised_as_by_execute() -> None:
    quotient = Tensor([4, 6]) // Tensor([2, 0])
    plan = ((Tensor([1, 2]) + 1).contiguous() + quotient).prepare()
    with pytest.raises(DivisionByZeroError):
        plan.profile()


def test_what_cannot_be_profiled_is_refused() -> None:
    plan = (Tensor([1.0]) + 1).prepare()
    with raises(ArgumentError, match="at least 1, got 0"):
        plan.profile(0)
    plan.release()
    with raises(ExecuteError, match="released"):
        plan.profile()
    donating = ogive.jit(lambda x: x + 1, donate=0)
    with raises(ArgumentError, match="runs only once"):
        donating.profile(Tensor([1.0]))


def test_a_captured_function_is_profiled_with_its_assignments() -> None:
    count = Tensor([0.0]).contiguous().realize()

    @ogive.jit
    def step(x: Tensor) -> Tensor:
        count.assign(count + 1)
        return (x @ x).exp()

    x = Tensor(values(8, 8))
    profile = step.profile(x)
    assert len(profile) >= 2 and all(entry.seconds > 0 for entry in profile)
    assert count.tolist() == [11.0]
    assert step.cache_info().traces == 1
    expected = numpy.exp(values(8, 8) @ values(8, 8))
    numpy.testing.assert_allclose(step(x).numpy(), expected, rtol=1e-4)


def test_profiling_leaves_no_panels_behind_that_nobody_has_filled() -> None:
    x, w = values(64, 256), values(256, 256)
    weight = Tensor(w).contiguous().realize()
    product = ogive.jit(lambda x: x @ weight)
    product.profile(Tensor(x))
    for _ in range(2):
        numpy.testing.assert_allclose(product(Tensor(x)).numpy(), x @ w, rtol=1e-3, atol=1e-3)
