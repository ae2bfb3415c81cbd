"""Panels of weights: those of several shapes are laid out by one kernel."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch

from ogive import Tensor
from ogive.compiler.devices.cpu.host import host_target
from ogive.compiler.ir.dtype import float32
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import reshape
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.fuse.choice import Choice
from ogive.compiler.passes.graph.products.panels import make_panels
from ogive.compiler.passes.regions.cut_regions import Region, cut_regions
from ogive.compiler.passes.regions.share_transposes import AXES, FILLED, share_transposes

ROWS = 64


def values(*shape: int) -> Any:
    return (np.random.default_rng(sum(shape)).standard_normal(shape) / 8).astype(np.float32)


def panel_kernels(result: Tensor) -> list[tuple[str, ...]]:
    """The variables of the kernels that lay weights out, each kernel once for each launch."""
    kernels = [kernel.variables for kernel in result.prepare().kernels]
    return [names for names in kernels if AXES[1] in names or AXES[0] in names]


def layers(widths: Sequence[int], is_transposed: bool) -> tuple[Tensor, Any]:
    """Products in a row, with weights (in, out) or, transposed, (out, in)."""
    arrays = [values(*pair) for pair in itertools.pairwise(widths)]
    if is_transposed:
        arrays = [np.ascontiguousarray(array.T) for array in arrays]
    made, expected = Tensor(values(ROWS, widths[0])), values(ROWS, widths[0]).astype(float)
    for array in arrays:
        weight = Tensor(array)
        made = made @ (weight.T if is_transposed else weight)
        expected = expected @ (array.T if is_transposed else array)
    return made, expected


@pytest.mark.parametrize("is_transposed", [False, True])
def test_weights_of_several_shapes_share_a_kernel(is_transposed: bool) -> None:
    made, expected = layers((96, 192, 288, 240, 144), is_transposed)
    found = panel_kernels(made)
    assert len(found) >= 3 and len(set(found)) == 1
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("depth", [40, 96])
def test_weights_whose_panels_are_padded_share_a_kernel(depth: int) -> None:
    x = values(ROWS, depth)
    weights = [values(depth, width) for width in (200, 1000, 104, 136)]
    made = [Tensor(x) @ Tensor(weight) for weight in weights]
    kernels = [kernel.variables for kernel in Tensor.prepare_batch(made).kernels]
    found = [names for names in kernels if FILLED in names]
    assert len(found) >= 2 and len(set(found)) == 1
    for tensor, weight in zip(made, weights, strict=True):
        np.testing.assert_allclose(tensor.numpy(), x @ weight, rtol=1e-4, atol=1e-4)


def panel_region(features: int, depth: int, width: int) -> Region:
    """A region that lays out weights (features, depth) in panels of so many features."""
    weight = UOp(Op.PARAM, float32, (), (0, features * depth, "CPU"))
    panels = make_panels(reshape(weight, (features, depth)), 0, (1,), width)
    (kept,) = [node for node in panels.walk() if node.op is Op.CONTIGUOUS]
    (region,) = cut_regions(Choice([kept], {}))
    assert isinstance(region, Region)
    return region


def test_panels_that_are_padded_share_a_graph_and_others_another() -> None:
    target = host_target()
    width = 3 * target.vector_bytes // float32.itemsize
    padded = [panel_region(width * 2 + more, 64, width) for more in (1, 8, 16)]
    whole = [panel_region(width * count, 128, width) for count in (1, 2)]
    alone = panel_region(width, 63, width)
    done = share_transposes([*padded, *whole, alone], target)
    graphs = [each.graph for each in done if isinstance(each, Region)]
    assert len(set(graphs[:3])) == len(set(graphs[3:5])) == 1 and len(set(graphs)) == 3
    assert done[-1] is alone
    assert [dict(each.fixed)[FILLED] for each in done[:3] if isinstance(each, Region)] == [
        width * 2 + 1, width * 2 + 8, width * 2 + 16,
    ]  # fmt: skip


@pytest.mark.parametrize("depth", [3, 8, 30, 48])
@pytest.mark.parametrize("order", ["read as they lie", "transposed", "both"])
def test_weights_of_any_depth_give_what_numpy_gives(depth: int, order: str) -> None:
    x = values(ROWS, depth)
    weights = [values(depth, width) for width in (7, 8, 16, 33, 48, 100)]
    expected = [x @ weight for weight in weights]
    made = []
    for number, weight in enumerate(weights):
        lies = order == "read as they lie" or (order == "both" and number % 2)
        made.append(Tensor(x) @ (Tensor(weight) if lies else Tensor(weight.T.copy()).T))
    Tensor.realize_batch(made)
    for tensor, array in zip(made, expected, strict=True):
        np.testing.assert_allclose(tensor.numpy(), array, rtol=1e-4, atol=1e-4)


def test_one_weight_alone_is_laid_out_for_its_shape() -> None:
    made, expected = layers((96, 192), True)
    assert not panel_kernels(made)
    np.testing.assert_allclose(made.numpy(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("window, groups", [(1, 1), (3, 1), (3, 32), (5, 1)])
def test_filters_of_several_shapes_give_what_pytorch_gives(window: int, groups: int) -> None:
    made, expected = Tensor(values(1, 32, 20, 20)), torch.tensor(values(1, 32, 20, 20))
    for before, after in ((32, 32), (32, 64), (64, 96), (96, 160), (160, 24)):
        parts = groups if before % groups == 0 and after % groups == 0 else 1
        weight = values(after, before // parts, window, window)
        made = made.conv2d(Tensor(weight), padding=window // 2, groups=parts)
        expected = torch.nn.functional.conv2d(
            expected, torch.tensor(weight), padding=window // 2, groups=parts
        )
    np.testing.assert_allclose(made.numpy(), expected.numpy(), rtol=1e-3, atol=1e-3)
