"""Scores are computed row by row by the kernel that reads them, unless it reads them for little."""

from __future__ import annotations

from collections.abc import Callable

import numpy
import pytest

from ogive import Config, Tensor
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.targets.target import describe_cpu
from tests.compiler.passes.parametric import normalize

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")


def drawn(*shape: int) -> Tensor:
    random = numpy.random.default_rng(sum(shape))
    return Tensor(random.normal(size=shape).astype(numpy.float32)).realize()


def product_kernels(value: Tensor) -> int:
    """How many kernels add products up."""
    steps = schedule_graph(normalize((value.node,)).sink, TARGET, Config()).kernels
    sums = [any(n.op is Op.REDUCE_AXES for n in step.region.graph.walk()) for step in steps]
    return sum(sums)


@pytest.mark.parametrize("between", [Tensor.relu, lambda scores: scores * 2 + 1])
@pytest.mark.parametrize("columns, kernels", [(2, 2), (4, 2), (16, 1), (64, 1)])
def test_scores_are_kept_for_a_product_whose_columns_do_not_fill_half_a_vector(
    columns: int, kernels: int, between: Callable[[Tensor], Tensor]
) -> None:
    scores = between(drawn(512, 64) @ drawn(64, 512))
    assert product_kernels(scores @ drawn(512, columns)) == kernels


@pytest.mark.parametrize("columns", [1, 3, 4, 7, 40])
def test_products_of_scores_give_what_numpy_gives(columns: int) -> None:
    a, b, v = drawn(512, 16), drawn(16, 512), drawn(512, columns)
    wide = [each.numpy().astype(numpy.float64) for each in (a, b, v)]
    expected = numpy.maximum(wide[0] @ wide[1], 0) @ wide[2]
    found = ((a @ b).relu() @ v).numpy()
    numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * abs(expected).max())
