"""Axes in another order: tiles that are turned, elements picked out of vectors, joined axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.devices.llvm.compile_region import compile_region
from ogive.compiler.passes.loops.kernel_axes import axis_extent, output_axes
from ogive.compiler.passes.pipeline.graph_passes import schedule_graph
from tests.compiler.passes.loops.loops import CONFIG, kernels_of
from tests.compiler.passes.parametric import normalize

RANDOM = np.random.default_rng(11)
SHAPES = [(37, 5), (9, 40), (101, 13), (3, 79, 2), (37, 2, 6), (11, 27, 6), (7, 49, 13, 2)]
ORDERS = [(s, order) for s in SHAPES for order in list(itertools.permutations(range(len(s))))[1:8]]


def whole(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(RANDOM.integers(-50, 50, shape).astype(dtype))


def code_of(tensor: Tensor) -> str:
    """The text of the one kernel that computes a tensor."""
    target = host_target()
    (step,) = schedule_graph(normalize((tensor.node,)).sink, target, CONFIG).kernels
    return compile_region(step.region.graph, target, CONFIG).ir


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize(("shape", "order"), ORDERS[::2])
def test_axes_in_another_order_hold_the_same_elements(
    shape: tuple[int, ...], order: tuple[int, ...], dtype: str
) -> None:
    x = whole(*shape, dtype=dtype)
    turned = x.permute(*order).contiguous().numpy()
    np.testing.assert_array_equal(turned, x.numpy().transpose(order))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
@pytest.mark.parametrize("columns", [2, 3, 5, 8, 13, 100])
def test_columns_are_not_gathered_one_by_one(columns: int, dtype: str) -> None:
    x = whole(128, columns, dtype=dtype)
    assert "gather" not in code_of(x.T.contiguous())


@pytest.mark.parametrize(
    "part", [np.s_[:, ::-1], np.s_[:, 1::3], np.s_[:, -1::-5], np.s_[::2, ::2]]
)
def test_elements_a_few_apart_are_picked(part: tuple[slice, slice]) -> None:
    x = whole(6, 83)
    np.testing.assert_array_equal((x[part] + 1).numpy(), x.numpy()[part] + 1)
    assert "gather" not in code_of(x[part] + 1)


def test_rows_at_positions_that_are_data_are_picked_from() -> None:
    x, rows = whole(9, 64), Tensor([4, 0, 8, 4])
    np.testing.assert_array_equal(x[rows][:, ::2].numpy(), x.numpy()[[4, 0, 8, 4], ::2])


def test_an_element_that_two_lanes_pick_is_zero_for_one_of_them() -> None:
    x = whole(40)
    pairs = ogive.stack([x.pad(((1, 0),))[:-1], x, x.pad(((0, 1),))[1:]], -1)
    before, after = np.r_[0, x.numpy()[:-1]], np.r_[x.numpy()[1:], 0]
    np.testing.assert_array_equal(pairs.numpy(), np.stack([before, x.numpy(), after], -1))


def test_short_axes_that_are_read_as_one_are_joined() -> None:
    (kernel,) = kernels_of(whole(5, 98, 13, 2).permute(0, 3, 2, 1).contiguous())
    assert [axis_extent(axis) for axis in output_axes(kernel)] == [5, 26, 98]


def test_an_axis_that_fills_vectors_is_not_joined() -> None:
    (kernel,) = kernels_of(whole(5, 98, 13, 64).permute(0, 3, 2, 1).contiguous())
    assert [axis_extent(axis) for axis in output_axes(kernel)] == [5, 64, 13, 98]
