"""Which axes make up the register tile of a product."""

from __future__ import annotations

import math

import numpy

from ogive import Config, Tensor
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.passes.pipeline.region_passes import loops_of
from ogive.compiler.passes.place.choose_placement import choose_placement
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.targets.target import describe_cpu
from tests.compiler.passes.parametric import normalize

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")
CONFIG = Config(verify=True)


def placement_of(tensor: Tensor) -> Placement:
    (step,) = schedule_graph(normalize((tensor.node,)).sink, TARGET, CONFIG).kernels
    return choose_placement(loops_of(step.region.graph, TARGET, CONFIG), TARGET, vectorize=True)


def test_windows_by_channel_share_a_vector_of_filters_among_pixels() -> None:
    image = Tensor(numpy.ones((30, 96), numpy.float32))
    filters = Tensor(numpy.ones((3, 96), numpy.float32))
    windows = image.unfold(0, 3, 1)  # (28, 96, 3)
    placement = placement_of((windows * filters.T).sum(-1))
    assert placement.lanes == {1: 16}
    assert placement.upcast[0] >= 4
    assert 8 <= math.prod(placement.upcast.values()) <= 24


def test_results_that_are_stored_far_apart_are_no_more_than_stay_in_a_cache() -> None:
    """Columns are added up, and stored as rows of 2048 bytes: 16 of their lines share two sets."""
    random = numpy.random.default_rng(0)
    x, scale = [
        Tensor(random.normal(size=shape).astype(numpy.float32)) for shape in ((512, 128), (512, 1))
    ]
    placement = placement_of((x * scale).T.softmax(-1))
    assert placement.lanes == {0: 16}
    assert placement.upcast.get(0, 1) == 1
