"""Regions that are products are found, with the layouts of their operands and what follows."""

from __future__ import annotations

import numpy
import pytest

import ogive
from ogive import Tensor
from ogive.compiler.devices.cuda.products.launches import launch_product
from ogive.compiler.devices.cuda.products.region_product import RegionProduct, find_product
from ogive.compiler.devices.cuda.products.region_steps import RegionStep
from ogive.compiler.devices.cuda.tensor_cores.tiles import WarpTile
from ogive.compiler.devices.known_devices import find_device
from ogive.compiler.devices.llvm.library.assembler import check_module
from ogive.compiler.engine.parametric import to_parametric
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.loops.merge_axes import merge_axes
from ogive.compiler.passes.loops.rangeify import rangeify
from ogive.compiler.passes.pipeline.graph_passes import schedule_devices, schedule_graph
from ogive.compiler.passes.regions.number_slots import Schedule
from ogive.config import current_config

DEVICE = "REFERENCE"  # its target wants no rewrites of products


def _regions(tensor: Tensor) -> list[UOp]:
    """The loop graphs of all kernels of a tensor."""
    config, regions = current_config(), []

    def schedule(part: UOp, device: str) -> Schedule:
        made = schedule_graph(part, find_device(device).target(config), config)
        regions.extend([step.region.graph for step in made.kernels])
        return made

    schedule_devices(to_parametric((tensor.node,), config).sink, config, schedule)
    return [merge_axes(rangeify(region)) for region in regions]


def _product(tensor: Tensor) -> RegionProduct:
    (region,) = _regions(tensor)
    found = find_product(region)
    assert found is not None
    return found


def _narrow(*shape: int) -> Tensor:
    values = numpy.zeros(shape, numpy.float32)
    return Tensor(values).cast(ogive.bfloat16).realize().to(DEVICE).realize()


def test_rows_and_columns() -> None:
    found = _product(_narrow(10, 24) @ _narrow(24, 30))
    product = found.product
    assert (product.m, product.n, product.k) == (10, 30, 24)
    assert (product.left.row, product.left.column) == (24, 1)
    assert (product.right.row, product.right.column) == (30, 1)
    assert product.result.dtype is dtypes.bfloat16


def test_transposed_operands_are_read_where_they_are() -> None:
    product = _product(_narrow(24, 10).T @ _narrow(30, 24).T).product
    assert (product.left.row, product.left.column) == (1, 10)
    assert (product.right.row, product.right.column) == (1, 24)


def test_leading_axes_that_follow_each_other_are_rows() -> None:
    product = _product(_narrow(4, 5, 24) @ _narrow(24, 30)).product
    assert (product.m, product.batch) == (20, (1, 1))


def test_axes_of_both_operands_are_batches() -> None:
    product = _product(_narrow(2, 3, 10, 24) @ _narrow(3, 24, 30)).product
    assert product.batch == (2, 3)
    assert product.left.batch == (720, 240)
    assert product.right.batch == (0, 720)
    assert product.result.batch == (900, 300)


def test_a_transposed_result_is_a_product_of_transposed_operands() -> None:
    product = _product((_narrow(10, 24) @ _narrow(24, 30)).T.contiguous()).product
    assert (product.m, product.n, product.result.column) == (30, 10, 1)


def test_what_follows_is_a_step_that_reads_its_operands() -> None:
    bias, residual = _narrow(30), _narrow(10, 30)
    found = _product((_narrow(10, 24) @ _narrow(24, 30) + bias).gelu() + residual)
    step = RegionStep(found, find_device(DEVICE).target(current_config()))
    assert len(step.slots) == 2
    assert {found.left.slot, found.right.slot, found.result.slot}.isdisjoint(step.slots)
    launch = launch_product(found.product, WarpTile(64, 64, 32, 2, 2), (step,))
    check_module(launch.module)
    assert "ogive.erf" in launch.module


def test_elements_that_tensor_cores_would_round_are_left_alone() -> None:
    wide = Tensor(numpy.zeros((10, 24), numpy.float32)).to(DEVICE).realize()
    (region,) = _regions(wide @ wide.T)
    assert find_product(region) is None


@pytest.mark.parametrize("operation", ["sum", "prod"])
def test_other_reductions_are_no_products(operation: str) -> None:
    (region,) = _regions(getattr(_narrow(10, 24), operation)(axis=1))
    assert find_product(region) is None
