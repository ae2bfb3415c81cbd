"""Results that are joined from pieces have all pieces in the register tile."""

from __future__ import annotations

import numpy

import ogive
from ogive import Tensor
from ogive.compiler.passes.pipeline.region_passes import placement_for
from ogive.compiler.targets.target import describe_cpu
from ogive.config import Config
from tests.compiler.passes.loops.loops import kernels_of

TARGET = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")


def tiles_of(result: Tensor) -> list[int]:
    (kernel,) = kernels_of(result, TARGET)
    return list(placement_for(kernel, TARGET, Config()).upcast.values())


def operands(*shape: int) -> list[Tensor]:
    return [Tensor(numpy.random.rand(*shape).astype(numpy.float32)).realize() for _ in range(3)]


def test_pieces_that_are_computed_are_taken_together() -> None:
    a, b, c = operands(30, 64)
    assert 4 in tiles_of(ogive.stack([a + b, a - b, a * c, c - b]))


def test_pieces_that_lie_in_memory_are_copied_one_by_one() -> None:
    a, b, c = operands(30, 64)
    assert 3 not in tiles_of(ogive.stack([a, b, c]))


def test_joined_results_are_right() -> None:
    a, b, c = operands(5, 21)
    made = ogive.stack([ogive.stack([a + b, b * c]), ogive.stack([a - c, a * 3])], 2).numpy()
    x, y, z = [each.numpy() for each in (a, b, c)]
    wanted = numpy.stack([numpy.stack([x + y, y * z]), numpy.stack([x - z, x * 3])], 2)
    numpy.testing.assert_array_equal(made, wanted)
