"""Orders as the target has them made: which way, and the same either way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from ogive import Config, Tensor
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.graph.orders.lower_orders import lower_orders
from ogive.compiler.targets.costs import CPU_COSTS, Costs
from tests.compiler.passes.parametric import normalize
from tests.costs import COUNTED, EXCHANGED, host_with

RANDOM = np.random.default_rng(31)
WAYS = {"exchanged": EXCHANGED, "counted": COUNTED}


def lowered(*tensors: Tensor, costs: Costs = CPU_COSTS) -> UOp:
    sink = normalize(tuple([tensor.node for tensor in tensors])).sink
    return lower_orders(sink, host_with(costs))


def count(graph: UOp, op: Op) -> int:
    return sum(node.op is op for node in graph.walk())


def lines(*shape: int, dtype: str = "float32") -> Any:
    array = (RANDOM.standard_normal(shape) * 40).astype(dtype)
    if dtype.startswith("float"):
        array.flat[::5] = RANDOM.choice([0.0, -0.0, np.nan, np.inf, -np.inf], len(array.flat[::5]))
    return array


def test_capture_leaves_the_way_to_the_target() -> None:
    for shape in ((1000, 100), (100_000,)):
        graph = normalize((Tensor(lines(*shape)).argsort().node,)).sink
        assert count(graph, Op.ORDER) == 1
        assert not count(graph, Op.SORT) and not count(graph, Op.ARRANGE)


def test_many_short_lines_are_exchanged_and_a_long_one_is_counted() -> None:
    many, long = Tensor(lines(1000, 100)), Tensor(lines(100_000))
    exchanged, counted = lowered(many.argsort()), lowered(long.argsort())
    assert count(exchanged, Op.SORT) == 1 and count(exchanged, Op.ARRANGE) == 0
    assert count(counted, Op.SORT) == 0 and count(counted, Op.ARRANGE) > 0


def test_a_target_on_which_exchanges_take_longer_counts() -> None:
    slow = CPU_COSTS.with_changes(sorting={"exchange": 1e6})
    assert count(lowered(Tensor(lines(1000, 100)).argsort(), costs=slow), Op.ARRANGE)


def test_values_and_positions_of_floats_come_from_the_same_words() -> None:
    found = Tensor(lines(64, 20)).sort()
    assert count(lowered(found.values, found.indices), Op.SORT) == 1


def test_integers_by_themselves_are_sorted_without_positions() -> None:
    found = Tensor(lines(64, 20, dtype="int32")).sort()
    (sort,) = [node for node in lowered(found.values).walk() if node.op is Op.SORT]
    assert sort.dtype.name == "int32"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8", "bool"])
def test_both_ways_order_as_pytorch_does(way: str, descending: bool, dtype: str) -> None:
    array, config = lines(3, 70, dtype=dtype), Config(costs=WAYS[way])
    found = Tensor(array).sort(-1, descending)
    Tensor.realize_batch([found.values, found.indices], config=config)
    wanted = torch.tensor(array).sort(dim=-1, descending=descending, stable=True)
    np.testing.assert_array_equal(found.values.numpy(), wanted.values.numpy())
    np.testing.assert_array_equal(found.indices.numpy(), wanted.indices.numpy())


@pytest.mark.parametrize("wanted", [1, 3, 20])
def test_few_of_many_are_found_in_blocks(wanted: int) -> None:
    array = RANDOM.integers(0, 50, (2, 4001)).astype(np.int32)
    found = Tensor(array).topk(wanted, largest=False)
    graph = lowered(found.indices)
    assert all(node.shape[-1] < 4001 for node in graph.walk() if node.op in (Op.SORT, Op.ARRANGE))
    order = np.argsort(array, axis=1, kind="stable")[:, :wanted]
    np.testing.assert_array_equal(found.indices.numpy(), order)
