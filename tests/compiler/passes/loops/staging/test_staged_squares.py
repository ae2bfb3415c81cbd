"""Products and transposes for blocks of threads go through squares of staged memory."""

from __future__ import annotations

import numpy as np
import pytest

from ogive import Config, Tensor
from ogive.compiler.devices.known_devices import host
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.merge_axes import merge_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.loops.staging.stage_products import stage_products
from ogive.compiler.passes.loops.staging.stage_transposes import stage_transposes
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from ogive.compiler.targets.target import Grid, Target, describe_gpu
from tests.compiler.passes.parametric import normalize

GPU = describe_gpu("nvptx64-nvidia-cuda", "sm_90a", "", Grid(32, 256, 1024, 200 << 10, 16), 1 << 20)


def matrix(*shape: int) -> Tensor:
    return Tensor(np.empty(shape, np.float32))


def loops_of(tensor: Tensor, target: Target = GPU) -> UOp:
    (step,) = schedule_graph(normalize((tensor.node,)).sink, target, Config()).kernels
    return merge_axes(rangeify(step.region.graph))


def stages_of(root: UOp) -> list[UOp]:
    return [node for node in root.walk() if node.op is Op.STAGE]


def test_a_transpose_stages_a_square_with_a_place_more_in_each_row() -> None:
    after = stage_transposes(loops_of(matrix(200, 300).T.contiguous()), GPU)
    verify(after, "loops")
    (stage,) = stages_of(after)
    side = GPU.costs.threads.square
    assert stage.length == side * (side + 1)
    assert [counter.extent.literal for counter in stage.closed] == [side * side]


@pytest.mark.parametrize(
    "tensor",
    [
        matrix(200, 300) + 1,
        matrix(8, 300).T.contiguous(),
        matrix(200, 300).flip(0).contiguous(),
        matrix(200, 300).sum(0),
    ],
)
def test_what_lies_as_results_do_or_is_too_narrow_is_not_staged(tensor: Tensor) -> None:
    before = loops_of(tensor)
    assert stage_transposes(before, GPU) is before


def test_a_product_stages_both_operands_in_its_loop_over_terms() -> None:
    after = stage_products(loops_of(matrix(600, 96) @ matrix(96, 600)), GPU)
    verify(after, "loops")
    (total,) = [node for node in after.walk() if node.op is Op.REDUCE]
    outer, inner = total.closed
    assert (outer.extent.literal, inner.extent.literal) == (6, 16)
    stages = stages_of(after)
    assert len(stages) == 2 and all(outer in stage.ranges for stage in stages)
    assert {stage.length for stage in stages} == {128 * 17, 16 * 129}


def test_few_squares_are_smaller_and_narrow_products_are_left_alone() -> None:
    small = stage_products(loops_of(matrix(130, 96) @ matrix(96, 130)), GPU)
    assert {stage.length for stage in stages_of(small)} == {64 * 17, 16 * 65}
    narrow = loops_of(matrix(600, 96) @ matrix(96, 20))
    assert stage_products(narrow, GPU) is narrow


def test_a_target_without_blocks_of_threads_stages_none() -> None:
    target = host().target(Config())
    for tensor in (matrix(600, 96) @ matrix(96, 600), matrix(200, 300).T.contiguous()):
        before = loops_of(tensor)
        assert stage_transposes(stage_products(before, target), target) is before
