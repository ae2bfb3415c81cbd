"""The register tile of kernels that stage rows of a product for another one."""

from __future__ import annotations

from dataclasses import replace

import numpy

from ogive import Config, Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.pipeline.region_passes import loops_of, placement_for
from ogive.compiler.passes.place.placement import Placement
from tests.compiler.passes.parametric import normalize

SMALL = replace(host_target(), vector_bytes=32, vector_registers=16)


def placement_of(tensor: Tensor) -> Placement:
    steps = schedule_graph(normalize((tensor.node,)).sink, SMALL, Config()).kernels
    return placement_for(loops_of(steps[-1].region.graph, SMALL, Config()), SMALL, Config())


def sums(placement: Placement) -> int:
    """The most sums that registers hold at a time: rows and vectors of the wider product."""
    rows = [count for axis, count in placement.upcast.items() if axis not in placement.lanes]
    vectors = [placement.upcast.get(axis, 1) for axis in placement.lanes]
    return max(rows, default=1) * max(vectors)


def test_only_rows_that_are_reduced_take_registers_from_sums() -> None:
    x, w, v = [Tensor(numpy.ones(shape, numpy.float32)) for shape in
               ((197, 384), (384, 1536), (1536, 384))]  # fmt: skip
    query = Tensor(numpy.ones((4, 512, 64), numpy.float32))
    assert sums(placement_of((x @ w).gelu() @ v)) == 12
    assert sums(placement_of(query.scaled_dot_product_attention(query, query))) < 12
