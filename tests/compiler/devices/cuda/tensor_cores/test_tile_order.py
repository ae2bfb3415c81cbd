"""Every tile is computed once, whatever the numbers of rows, columns and batches."""

from __future__ import annotations

import random

import pytest

from ogive.compiler.devices.cuda.tensor_cores.kernel_text import KernelText
from ogive.compiler.devices.cuda.tensor_cores.tile_order import division, find_tile, order_values

TEXT = KernelText("index arithmetic", (), 32)


@pytest.mark.parametrize("group", [1, 8, 16])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 5), (16, 7), (17, 2), (40, 33)])
@pytest.mark.parametrize("batch", [(1, 1), (3, 1), (2, 5)])
def test_every_tile_once(rows: int, columns: int, group: int, batch: tuple[int, int]) -> None:
    values = order_values(rows, columns, group, batch)
    found = [find_tile(TEXT, each, group, values) for each in range(values["all_tiles"])]
    assert len(set(found)) == len(found) == rows * columns * batch[0] * batch[1]
    assert {place.row for place in found} == set(range(rows))
    assert {place.column for place in found} == set(range(columns))
    assert {place.batch for place in found} == {
        (outer, inner) for outer in range(batch[0]) for inner in range(batch[1])
    }


def test_tiles_that_follow_each_other_share_rows_and_columns() -> None:
    values = order_values(64, 64, 8, (1, 1))
    together = [find_tile(TEXT, each, 8, values) for each in range(64)]
    assert len({place.row for place in together}) == 8
    assert len({place.column for place in together}) == 8


def test_division_is_exact() -> None:
    draw = random.Random(5)
    for _ in range(2000):
        divisor = draw.randrange(1, 1 << draw.randrange(1, 31))
        multiplier, shift = division(divisor)
        assert multiplier < 1 << 32
        for dividend in (0, divisor - 1, divisor, (1 << 31) - 1, draw.randrange(1 << 31)):
            assert (dividend + (dividend * multiplier >> 32)) >> shift == dividend // divisor
