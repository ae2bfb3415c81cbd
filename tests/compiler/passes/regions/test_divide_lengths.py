"""Kernels of variable lengths: one for short lengths and one for the others, chosen in the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ogive
from ogive import Tensor, Variable
from ogive.compiler.targets.costs import CPU_COSTS

WHOLE = CPU_COSTS.tiles.whole
WEIGHT = np.random.default_rng(0).standard_normal((24, 40)).astype(np.float32)


def values(*shape: int) -> Any:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def kernels(result: Tensor) -> list[str]:
    return [kernel.name for kernel in result.prepare().kernels]


def product(length: Variable, value: int) -> Tensor:
    return Tensor(values(length.high, 24))[: length.bind(value)] @ Tensor(WEIGHT)


@pytest.mark.parametrize("rows", [1, 2, 7, WHOLE - 1, WHOLE, WHOLE + 1, 30, 31, 64])
def test_a_product_is_right_on_both_sides_of_the_border(rows: int) -> None:
    result = product(Variable("rows", 1, 64), rows)
    expected = values(64, 24)[:rows].astype(float) @ WEIGHT
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-4, atol=1e-4)


def test_only_lengths_that_may_be_short_and_long_are_divided() -> None:
    divided = len(kernels(product(Variable("a", 1, 64), 9)))
    short = len(kernels(product(Variable("b", 1, WHOLE - 1), 9)))
    long = len(kernels(product(Variable("c", WHOLE, 64), 20)))
    assert short == long == divided - 1


def test_one_plan_runs_with_lengths_of_both_kinds() -> None:
    rows = Variable("rows", 1, 64)
    result = product(rows, 40)
    plan = result.prepare()
    plan.execute()
    for value in (3, 40, 15, 16, 1, 64):
        plan.execute_with_vars(rows=value)
        expected = values(64, 24)[:value].astype(float) @ WEIGHT
        np.testing.assert_allclose(
            plan.outputs[0].numpy(), expected, rtol=1e-4, atol=1e-4
        )


def test_what_is_elementwise_along_rows_of_one_length_has_one_kernel() -> None:
    rows = Variable("rows", 1, 64)
    assert len(kernels(Tensor(values(64, 24))[: rows.bind(9)] * 2)) == 1


LINES: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Any], Any]]] = {
    "largest of pairs": (
        lambda x: x[:, : x.shape[1] // 2 * 2].reshape(x.shape[0], -1, 2).max(-1)[0],
        lambda x: x[:, : x.shape[1] // 2 * 2].reshape(len(x), -1, 2).max(-1),
    ),
    "sums of columns": (lambda x: x.sum(0), lambda x: x.sum(0)),
    "softmax": (
        lambda x: x.softmax(-1),
        lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True),
    ),
    "transposed": (lambda x: x.T.contiguous(), lambda x: x.T),
    "products of columns": (lambda x: x.T @ x, lambda x: x.T @ x),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_of_variable_length_are_right_on_both_sides_of_the_border(name: str) -> None:
    ours, numpys = LINES[name]
    captured = ogive.jit(ours)
    for rows, columns in ((9, 20), (12, 34), (7, 8), (30, 10), (5, 16), (20, 15), (3, 64), (33, 2)):
        x = values(rows, columns)
        got = captured(Tensor(x)).numpy()
        np.testing.assert_allclose(got, numpys(x.astype(float)), rtol=1e-4, atol=1e-4)
