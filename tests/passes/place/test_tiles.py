"""Which register tile the estimate takes, by the lengths of a product."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ogive.passes.place.tile_estimates import (
    FAR_LOAD,
    FAR_VISIT,
    NEAR_LOAD,
    PICKED_LOAD,
    Tiled,
    best_tile_of,
    best_tile_of_sums,
)
from ogive.targets.target import Target, describe_cpu

TARGET = describe_cpu("x86_64-linux-gnu", "skylake-avx512", "+avx,+avx2,+avx512f")
SMALL = describe_cpu("x86_64-linux-gnu", "haswell", "+avx,+avx2")


def tile(rows: int, columns: int, terms: int, load: float = NEAR_LOAD) -> tuple[int, int]:
    return best_tile_of(Tiled(rows, columns, 16, terms, 1, load), TARGET)


def test_short_sums_have_tiles_of_few_rows() -> None:
    assert tile(1000, 1024, 2)[0] <= 6 < tile(1000, 32, 500, FAR_LOAD)[0]


def test_a_tile_divides_the_axis_that_it_nearly_fills() -> None:
    assert tile(1024, 32, 256) == (8, 2)
    assert tile(300, 80, 100)[1] == 5


def test_vectors_that_are_dear_to_load_go_with_many_rows() -> None:
    assert tile(64, 112, 147, PICKED_LOAD)[0] > tile(64, 112, 147)[0]


def test_vectors_that_are_far_to_go_to_are_many_at_a_time() -> None:
    near = Tiled(rows=17, columns=733, lanes=16, terms=1257, times=9, load=FAR_LOAD)
    assert best_tile_of(near, TARGET) == (17, 1)
    assert best_tile_of(replace(near, visit=FAR_VISIT), TARGET)[1] >= 4


def test_few_columns_at_a_time_pass_by_rows_if_they_come_from_far() -> None:
    assert best_tile_of_sums(266, 82, 71, TARGET)[1] > best_tile_of_sums(
        266, 82, 71, TARGET, FAR_LOAD
    )[1]


@pytest.mark.parametrize("target", [TARGET, SMALL])
@pytest.mark.parametrize(("rows", "columns"), [(1, 7), (5, 300), (300, 5), (257, 263)])
def test_registers_hold_the_sums_and_what_a_step_loads(
    target: Target, rows: int, columns: int
) -> None:
    high, wide = best_tile_of(Tiled(rows, columns, 8, 100, 8, NEAR_LOAD), target)
    assert high * wide + wide + 1 <= target.vector_registers
    high, wide = best_tile_of_sums(rows, columns, 10, target)
    assert high * wide + min(high, wide) < target.vector_registers
