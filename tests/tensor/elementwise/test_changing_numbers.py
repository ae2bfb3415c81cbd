"""Numbers that a line changes from run to run are data; all others are constants."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
import ogive.torch as ours
from ogive import Tensor
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.traversal import walk
from ogive.tensor.elementwise import changing_numbers
from tests.compiler.engine.counting import Count


def memories_under(tensor: Tensor) -> int:
    return len([node for node in walk((tensor.node,)) if node.op is Op.BUFFER])


def test_a_number_that_changes_between_runs_compiles_nothing_more() -> None:
    x = Tensor(numpy.arange(6, dtype=numpy.float32))

    def turn(step: int) -> float:
        return float((x * (0.5 + step) - step / 7).sum().item())

    found = [turn(step) for step in range(3)]
    with Count() as count:
        found += [turn(step) for step in range(3, 12)]
    assert count["kernels_compiled"] == count["schedules_created"] == 0
    values = numpy.arange(6, dtype=numpy.float32)
    wanted = [(values * numpy.float32(0.5 + s) - numpy.float32(s / 7)).sum() for s in range(12)]
    assert found == pytest.approx([float(value) for value in wanted], rel=1e-6)


def test_a_number_that_stays_is_a_constant() -> None:
    x = Tensor(numpy.ones(3, numpy.float32))
    for _ in range(4):
        y = x * 2.5
        assert memories_under(y) == 1
        y.realize()


def test_numbers_of_one_graph_are_constants() -> None:
    x = Tensor(numpy.ones(3, numpy.float32))
    for _ in range(3):
        y = x
        for number in range(5):
            y = y + number
        assert memories_under(y) == 1
        assert y.tolist() == [11.0] * 3


def test_a_number_of_the_librarys_own_is_a_constant() -> None:
    def scaled(x: Tensor, scale: float) -> Tensor:
        clipped: Tensor = ogive.nn.functional.hardtanh(x, -scale, scale)
        return clipped

    x = Tensor(numpy.ones(3, numpy.float32))
    for scale in (0.25, 0.5, 0.75):
        y = scaled(x, scale)
        assert memories_under(y) == 1
        assert y.tolist() == [scale] * 3


def test_what_lies_between_an_operator_and_its_node_is_there() -> None:
    assert all(map(os.path.exists, changing_numbers.PASSED_THROUGH))


@pytest.mark.parametrize(
    "program",
    [
        lambda x, c: x * c,
        lambda x, c: c - x,
        lambda x, c: x.mul(c),
        lambda x, c: x.clone().mul_(c),
        lambda x, c: x.add(x, alpha=c),
        lambda x, c: ours.mul(x, c),
        lambda x, c: ours.add(x, x, alpha=c),
    ],
)
def test_a_number_is_data_however_the_operation_is_called(program: Any) -> None:
    x = ours.tensor([1.0, 2.0])
    memories = []
    for number in (0.5, 0.25, 0.125):
        y = program(x, number)
        memories.append(memories_under(y))
        y.tolist()
    assert memories[0] < memories[1] == memories[2]


def test_a_traced_function_keeps_its_own_numbers() -> None:
    rates = [1.0]

    @ogive.jit
    def scale(x: Tensor) -> Tensor:
        return x * rates[0]

    x = Tensor([1.0, 2.0])
    for rate in (1.0, 2.0, 3.0, 2.0):
        rates[0] = rate
        assert scale(x).tolist() == [rate, 2 * rate]


Program = Callable[[Any, Any, float], Any]

PROGRAMS: dict[str, Program] = {
    "left": lambda library, x, c: c - x,
    "right": lambda library, x, c: x / (c + 1),
    "in place": lambda library, x, c: x.clone().mul_(c).add_(x, alpha=c),
    "function": lambda library, x, c: library.add(x, x, alpha=c),
    "comparison": lambda library, x, c: (x < c).to(x.dtype),
    "specials": lambda library, x, c: x * (float("nan") if c > 2 else float("inf")),
    "signs of zero": lambda library, x, c: (x * 0.0) / (-c),
    "gradient": lambda library, x, c: slope(library, x, c),
}


def slope(library: Any, x: Any, c: float) -> Any:
    w = x.clone().requires_grad_()
    ((w * c) ** 2 - c).sum().backward()
    return w.grad


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_changing_numbers_give_what_pytorch_gives(name: str, dtype: str) -> None:
    if dtype == "int32" and name in ("in place", "function", "gradient"):
        pytest.skip("PyTorch refuses these, or has no gradients of integers")
    data = numpy.array([[0, 1, -2], [3, 4, 5]]).astype(dtype)
    for number in (0.5, 1.5, 2.5, 1.5, 3.0):
        found, wanted = [
            PROGRAMS[name](library, library.tensor(data), number) for library in (ours, torch)
        ]
        assert str(found.dtype).split(".")[-1] == str(wanted.dtype).split(".")[-1]
        numpy.testing.assert_allclose(
            found.numpy(), wanted.numpy(), rtol=2e-3 if dtype == "float16" else 1e-6
        )
