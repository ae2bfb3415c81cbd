"""Words of narrow elements: how they are put together, loaded, and multiplied in any placement."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.compiler.passes.loops.join_words import join_words
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.tensor.core import wrap
from tests.compiler.passes.parametric import normalize
from tests.compiler.passes.place.test_placements import Kernel, check

CONFIG = Config(verify=True)
needs_dots = pytest.mark.skipif(len(host_target().dots) < 2, reason="no dot products here")


def words(rows: int, depth: int) -> Tensor:
    """Words of four bytes below 128, which are the same with and without a sign."""
    generator = np.random.default_rng(rows)
    return Tensor(generator.integers(0, 128, (rows, 4 * depth)).astype(np.uint8).view(np.uint32))


@needs_dots
def test_random_placements_of_dot_products_keep_the_result() -> None:
    left, right = words(9, 13), words(21, 13)
    with graph_lock:
        spread = [
            part.reshape(shape).expand(9, 21, 13).node
            for part, shape in ((left, (9, 1, 13)), (right, (1, 21, 13)))
        ]
        dot = next(dot for dot in host_target().dots if dot.total == "int32")
        node = make(Op.DOT, dtypes.int32, tuple(spread), (dot.left, dot.right))
        product = wrap(make(Op.REDUCE_AXES, dtypes.int32, (node,), (Op.ADD, (2,))), left.device)
    # Only a pass makes such nodes, so the graph as it is given does not pass the verifier.
    kernel = Kernel(product, config=Config(pack_operands=False))
    bytes_of = [part.numpy().view(np.uint8).astype(np.int32) for part in (left, right)]
    np.testing.assert_array_equal(kernel.wanted[:, :, 0], bytes_of[0] @ bytes_of[1].T)
    check(kernel, 1, 8)


def packings(left: Tensor, right: Tensor) -> list[UOp]:
    """The loop graphs that lay out the operands of a product in words, the first one's first."""
    product = left.cast("int32") @ right.cast("int32")
    steps = schedule_graph(normalize((product.node,)).sink, host_target(), CONFIG).kernels
    graphs = [step.region.graph for step in steps]
    return [
        rangeify(graph)
        for graph in graphs
        if not any(node.op is Op.REDUCE_AXES for node in graph.walk())
    ]


def loads(loops: UOp) -> list[str]:
    return [node.dtype.name for node in loops.walk() if node.op is Op.LOAD]


def integers(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.int8))


@needs_dots
@pytest.mark.parametrize(
    ("left", "right", "whole"),
    [
        (lambda: integers(40, 64), lambda: integers(64, 48), [False]),  # words already
        (lambda: integers(64, 40).T, lambda: integers(48, 64).T, [True, False]),
        (lambda: integers(40, 66), lambda: integers(66, 48), [False, False]),  # fills no words
        (lambda: integers(40, 66)[:, 1:65], lambda: integers(64, 48), [False, False]),
    ],
)
def test_neighbours_in_memory_are_loaded_as_words(
    left: Callable[[], Tensor], right: Callable[[], Tensor], whole: list[bool]
) -> None:
    kernels = packings(left(), right())
    assert [loads(loops) for loops in kernels] == [["int8"] * 4] * len(whole)
    joined = [join_words(loops) for loops in kernels]
    for loops in joined:
        verify(loops, "loops")
    assert [loads(loops) == ["uint32"] for loops in joined] == whole


@pytest.mark.parametrize("columns", [17, 33, 49])
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
def test_one_last_column_is_stored_no_wider_than_it_is(columns: int, dtype: str) -> None:
    generator = np.random.default_rng(columns)
    left = generator.integers(-9, 9, (40, 31)).astype(dtype)
    right = generator.integers(-9, 9, (31, columns)).astype(dtype)
    got = (Tensor(left) @ Tensor(right)).realize(config=CONFIG).numpy()
    np.testing.assert_array_equal(got, (left.astype(np.int64) @ right).astype(dtype))
