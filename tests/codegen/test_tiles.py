"""Which register tile the estimate takes, by the lengths of a product."""

from __future__ import annotations

import pytest

from ogive.codegen.optimize.tiles import (
    FAR_LOAD,
    NEAR_LOAD,
    PICKED_LOAD,
    Tiled,
    best_tile_of,
    best_tile_of_sums,
)
from ogive.device.target import Target, describe_cpu

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


@pytest.mark.parametrize("target", [TARGET, SMALL])
@pytest.mark.parametrize(("rows", "columns"), [(1, 7), (5, 300), (300, 5), (257, 263)])
def test_registers_hold_the_sums_and_what_a_step_loads(
    target: Target, rows: int, columns: int
) -> None:
    high, wide = best_tile_of(Tiled(rows, columns, 8, 100, 8, NEAR_LOAD), target)
    assert high * wide + wide + 1 <= target.vector_registers
    high, wide = best_tile_of_sums(rows, columns, 10, target)
    assert high * wide + min(high, wide) < target.vector_registers
