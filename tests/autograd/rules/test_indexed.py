"""Gradients of reading and writing at computed positions, and of scans, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

import ogive
from ogive import Tensor
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock
from ogive.tensor import build
from ogive.tensor.core import wrap

INDEX = numpy.array([2, 0, 2, 1, 2])
REDUCTIONS = {Op.ADD: "sum", Op.MUL: "prod", Op.MAXIMUM: "amax", Op.MINIMUM: "amin"}


def taken(x: Tensor) -> Tensor:
    with graph_lock:
        return wrap(build.gather(x.node, [Tensor(INDEX).node]), x.device)


def written(op: Op | None, index: Any) -> Callable[[Tensor, Tensor], Tensor]:
    def function(x: Tensor, value: Tensor) -> Tensor:
        with graph_lock:
            node = build.scatter(x.node, value.node, [Tensor(index).node], op)
            return wrap(node, x.device)

    return function


def scanned(op: Op) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor) -> Tensor:
        with graph_lock:
            return wrap(build.scan(x.node, op, 1), x.device)

    return function


def squared(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *inputs: (function(*inputs) ** 2).sum()


def compare(ours: Callable[..., Any], theirs: Callable[..., Any], *arrays: Any) -> None:
    """First and second derivatives of two functions."""
    numbers = tuple(range(len(arrays)))

    def twice(library: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        gradients = library.grad(squared(function), numbers)
        return lambda *inputs: sum((g * g).sum() for g in gradients(*inputs))

    mine, other = [Tensor(a) for a in arrays], [torch.tensor(a) for a in arrays]
    for found, wanted in [
        (ogive.grad(squared(ours), numbers), torch.func.grad(squared(theirs), numbers)),
        (
            ogive.grad(twice(ogive, ours), numbers),
            torch.func.grad(twice(torch.func, theirs), numbers),
        ),
    ]:
        for one, two in zip(found(*mine), wanted(*other), strict=True):
            numpy.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-9, atol=1e-9)


def test_repeated_reads_add_up() -> None:
    x = numpy.random.default_rng(0).normal(size=4)
    compare(taken, lambda x: x[torch.tensor(INDEX)], x)


@pytest.mark.parametrize("op", REDUCTIONS, ids=REDUCTIONS.values())
def test_combined_writes(op: Op) -> None:
    random = numpy.random.default_rng(1)
    x, value = random.uniform(0.5, 2, size=4), random.uniform(0.5, 2, size=5)

    def theirs(x: Any, value: Any) -> Any:
        return x.scatter_reduce(0, torch.tensor(INDEX), value, REDUCTIONS[op])

    compare(written(op, INDEX), theirs, x, value)


def test_combined_products_are_right_where_there_are_zeros() -> None:
    for zeros in ([0], [0, 2], [3]):
        x, value = numpy.array([2.0, 3.0, 4.0, 5.0]), numpy.array([6.0, 7.0, 8.0, 9.0, 10.0])
        value[zeros] = 0
        mine, other = Tensor(x), torch.tensor(x)
        found = ogive.grad(lambda v, x=mine: written(Op.MUL, INDEX)(x, v).sum())(Tensor(value))
        wanted = torch.func.grad(
            lambda v, x=other: x.scatter_reduce(0, torch.tensor(INDEX), v, "prod").sum()
        )(torch.tensor(value))
        assert found.tolist() == wanted.tolist()


def test_plain_writes() -> None:
    random = numpy.random.default_rng(2)
    index = numpy.array([3, 0])
    compare(
        written(None, index),
        lambda x, v: x.scatter(0, torch.tensor(index), v),
        random.normal(size=4),
        random.normal(size=2),
    )


def test_of_several_writes_to_one_place_the_last_gets_the_gradient() -> None:
    value = Tensor([1.0, 2.0, 3.0, 4.0, 5.0], requires_grad=True)
    written(None, INDEX)(ogive.zeros(4), value).sum().backward()
    assert value.grad is not None
    assert value.grad.tolist() == [0.0, 1.0, 0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("op", "theirs"),
    [
        (Op.ADD, lambda x: x.cumsum(1)),
        (Op.MUL, lambda x: x.cumprod(1)),
        (Op.MAXIMUM, lambda x: x.cummax(1).values),
        (Op.MINIMUM, lambda x: x.cummin(1).values),
    ],
    ids=["cumsum", "cumprod", "cummax", "cummin"],
)
@pytest.mark.parametrize("zeros", [0, 2])
def test_scans(op: Op, theirs: Callable[[Any], Any], zeros: int) -> None:
    x = numpy.random.default_rng(3).normal(size=(2, 7))
    x[:, 1 : 1 + 2 * zeros : 2] = 0
    compare(scanned(op), theirs, x)


def test_many_examples_at_once() -> None:
    random = numpy.random.default_rng(4)
    x, value = Tensor(random.normal(size=(3, 4))), Tensor(random.normal(size=(3, 5)))
    functions: list[tuple[Callable[..., Any], list[Tensor]]] = [
        (taken, [x]),
        (written(Op.ADD, INDEX), [x, value]),
        (written(None, INDEX), [x, value]),
    ]
    for function, inputs in functions:
        for each in (function, ogive.grad(squared(function))):
            together = ogive.vmap(each)(*inputs).numpy()
            alone = [each(*[entry[row] for entry in inputs]).numpy() for row in range(3)]
            numpy.testing.assert_allclose(together, alone)


def test_positions_that_differ_between_examples() -> None:
    x = Tensor([[1.0, 2.0], [3.0, 4.0]])
    positions = Tensor([[1, 1], [0, 1]])

    def pick(row: Tensor, position: Tensor) -> Tensor:
        with graph_lock:
            return wrap(build.gather(row.node, [position.node]), row.device)

    assert ogive.vmap(pick)(x, positions).tolist() == [[2.0, 2.0], [3.0, 4.0]]
    shared = ogive.vmap(pick, in_axes=(None, 0))(x[0], positions)
    assert shared.tolist() == [[2.0, 2.0], [1.0, 2.0]]
