"""Which register tile the estimate takes, by the lengths of a product."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ogive.compiler.passes.place.tiles.tile_estimates import (
    Tiled,
    best_tile_of,
    best_tile_of_sums,
    best_tile_of_two,
)
from ogive.compiler.targets.target import Target, describe_cpu

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")
COSTS = TARGET.costs.tiles
SMALL = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")


def tile(rows: int, columns: int, terms: int, load: float = COSTS.near_load) -> tuple[int, int]:
    return best_tile_of(Tiled(rows, columns, 16, terms, 1, load), TARGET)


def test_short_sums_have_tiles_of_few_rows() -> None:
    assert tile(1000, 1024, 2)[0] <= 6 < tile(1000, 32, 500, COSTS.far_load)[0]


def test_a_tile_divides_the_axis_that_it_nearly_fills() -> None:
    assert tile(1024, 32, 256) == (8, 2)
    assert tile(300, 80, 100)[1] == 5


def test_vectors_that_are_dear_to_load_go_with_many_rows() -> None:
    assert tile(64, 112, 147, COSTS.picked_load)[0] > tile(64, 112, 147)[0]


def test_vectors_that_are_far_to_go_to_are_many_at_a_time() -> None:
    near = Tiled(rows=17, columns=733, lanes=16, terms=1257, times=9, load=COSTS.far_load)
    assert best_tile_of(near, TARGET) == (17, 1)
    assert best_tile_of(replace(near, visit=COSTS.far_visit), TARGET)[1] >= 4


def test_sums_that_wait_for_each_other_are_not_few() -> None:
    assert best_tile_of(Tiled(16, 16, 8, 500, 9, COSTS.far_load), SMALL) == (6, 2)


def test_pixels_of_several_lines_make_a_tile_where_lines_are_short() -> None:
    image = Tiled(14, 16, 8, 2304, 1, COSTS.far_load)
    lines, pixels, vectors = best_tile_of_two(image, (14, 14), SMALL)
    assert (lines * pixels, vectors) == (6, 2) and lines > 1


def test_products_that_are_added_later_leave_room_for_one() -> None:
    image = Tiled(12, 24, 8, 500, 9, COSTS.near_load)
    assert best_tile_of(image, SMALL) == (4, 3)
    rows, vectors = best_tile_of(replace(image, spare=2), SMALL)
    assert rows * vectors + vectors + 2 <= SMALL.vector_registers


def test_elements_that_are_spread_slowly_go_with_several_vectors() -> None:
    product = Tiled(197, 24, 8, 384, 16, COSTS.far_load, blocks=6)
    assert best_tile_of(product, replace(SMALL, cpu="znver3")) == (4, 3)


def test_few_columns_at_a_time_pass_by_rows_if_they_come_from_far() -> None:
    near = best_tile_of_sums(266, 82, 71, TARGET, COSTS.near_load)
    far = best_tile_of_sums(266, 82, 71, TARGET, COSTS.far_load)
    assert near[1] > far[1]


@pytest.mark.parametrize("target", [TARGET, SMALL])
@pytest.mark.parametrize(("rows", "columns"), [(1, 7), (5, 300), (300, 5), (257, 263)])
def test_registers_hold_the_sums_and_what_a_step_loads(
    target: Target, rows: int, columns: int
) -> None:
    high, wide = best_tile_of(Tiled(rows, columns, 8, 100, 8, COSTS.near_load), target)
    assert high * wide + wide + 1 <= target.vector_registers
    high, wide = best_tile_of_sums(rows, columns, 10, target, COSTS.near_load)
    assert high * wide + min(high, wide) < target.vector_registers
