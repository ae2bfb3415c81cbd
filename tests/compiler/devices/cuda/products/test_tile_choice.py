"""Tiles suit products: what fits, what fills the multiprocessors, what the engine can copy."""

from __future__ import annotations

import pytest

from ogive.compiler.devices.cuda.products.tile_choice import (
    H200,
    ProductCosts,
    _tiles,
    choose_tile,
    estimate,
)
from ogive.compiler.devices.cuda.products.warpgroup_layout import warpgroup_shared_bytes
from ogive.compiler.devices.cuda.tensor_cores.product import multiply
from ogive.compiler.devices.cuda.tensor_cores.tiles import WarpgroupTile, WarpTile
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType

SIZES = [(64, 64, 64), (1024, 1024, 1024), (4096, 4096, 4096), (16, 4096, 4096), (100, 3000, 24)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", [dtypes.bfloat16, dtypes.float32, dtypes.int8])
def test_all_tiles_fit_into_shared_memory(sizes: tuple[int, int, int], dtype: DType) -> None:
    product = multiply(*sizes, dtype, dtypes.float32, right_transposed=True)
    tiles = list(_tiles(product, H200))
    assert tiles
    for tile in tiles:
        if isinstance(tile, WarpTile):
            assert tile.shared_bytes(dtype) <= H200.shared_bytes
        else:
            assert warpgroup_shared_bytes(product, tile) <= H200.shared_bytes
            assert tile.stages >= 2


def test_large_products_have_large_tiles() -> None:
    tile = choose_tile(multiply(4096, 4096, 4096, dtypes.bfloat16))
    assert isinstance(tile, WarpgroupTile)
    assert (tile.m, tile.n) == (128, 256)


def test_smaller_products_have_a_tile_for_each_multiprocessor() -> None:
    tile = choose_tile(multiply(1024, 1024, 1024, dtypes.bfloat16))
    assert isinstance(tile, WarpgroupTile)
    assert 100 <= 1024 * 1024 // (tile.m * tile.n) <= H200.processors


def test_widths_fill_the_last_wave() -> None:
    tile = choose_tile(multiply(1536, 1536, 1536, dtypes.bfloat16, right_transposed=True))
    assert isinstance(tile, WarpgroupTile)
    assert (tile.m, tile.n) == (128, 144)


def test_few_rows_are_multiplied_by_warps() -> None:
    tile = choose_tile(multiply(16, 4096, 4096, dtypes.bfloat16))
    assert isinstance(tile, WarpTile)
    assert tile.m == 16
    assert tile.warps_k > 1


def test_few_tiles_with_many_terms_are_shared() -> None:
    tile = choose_tile(multiply(256, 256, 8192, dtypes.bfloat16))
    assert isinstance(tile, WarpgroupTile)
    assert tile.splits == 2


def test_a_machine_without_warpgroups_has_warps() -> None:
    product = multiply(1024, 1024, 1024, dtypes.bfloat16)
    assert isinstance(choose_tile(product, H200._replace(has_warpgroups=False)), WarpTile)


def test_the_engine_copies_no_lines_that_begin_anywhere() -> None:
    assert isinstance(choose_tile(multiply(512, 511, 513, dtypes.bfloat16)), WarpTile)


def test_elements_of_one_byte_are_multiplied_along_lines_alone() -> None:
    along = multiply(512, 512, 512, dtypes.int8, dtypes.int32, right_transposed=True)
    across = multiply(512, 512, 512, dtypes.int8, dtypes.int32)
    assert isinstance(choose_tile(along), WarpgroupTile)
    assert isinstance(choose_tile(across), WarpTile)


def test_other_elements_have_no_tile() -> None:
    assert choose_tile(multiply(64, 64, 64, dtypes.float64)) is None


def test_what_things_cost_decides() -> None:
    product = multiply(4096, 4096, 4096, dtypes.bfloat16)
    slow = ProductCosts(warpgroup_area=10.0, warpgroup_bytes=10.0)
    assert isinstance(choose_tile(product, costs=slow), WarpTile)


def test_more_terms_take_longer() -> None:
    tile = WarpgroupTile(128, 128, 6)
    times = [estimate(multiply(512, 512, k, dtypes.bfloat16), tile) for k in (64, 512, 4096)]
    assert times == sorted(times)
