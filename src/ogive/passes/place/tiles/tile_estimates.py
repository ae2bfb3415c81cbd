"""The register tile of a product, by an estimate of what each takes.

Where columns are in lanes:

    for each step of the sum:   go to the place of the column operand's `vectors` and load them,
                                spread `rows` elements, rows * vectors multiply-adds
    at the end of a block:      add its rows * vectors sums to the others
    at the end:                 store `vectors` to each of the rows

A large tile loads little for each sum. Long sums want many rows, so that a column operand that is
far away is read seldom; short ones few, since going to another row is what makes stores slow. To go
to vectors that no near cache holds may take longer than all else, but for all rows together: then a
tile is the better the wider it is. One that does not fill its axis works in vain, or needs gates.

Where the sum is in lanes, each of some rows goes with each of some columns, vector by vector, and
all sums of the tile are combined across their lanes at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ogive.named import record
from ogive.targets.estimates import step_cost, sums_in_registers
from ogive.targets.target import Target


@record(frozen=True)
class Tiled:
    """What is cut into tiles: so many rows of `columns` elements each, in vectors of `lanes`, each
    a sum of so many terms in so many blocks (0 if it is not cut), and that so many times. A vector
    takes `load` to load; to go to the vectors of a step takes `visit`, for the first rows that do.
    So many registers are `spare`: for an element, and for a product that is yet to be added.
    """

    rows: int
    columns: int
    lanes: int
    terms: int
    times: int
    load: float
    blocks: int = 0
    visit: float = 0.0
    spare: int = 1


def best_tile_of(
    tiled: Tiled, target: Target, most_vectors: int | None = None
) -> tuple[int, int]:
    """Rows and vectors of the tile that is estimated to take the least time."""
    tiles = _tiles(tiled, target, most_vectors or target.costs.tiles.widest)
    return min(tiles, key=lambda tile: estimate(tiled, tile[0], tile[1], target))


def _tiles(tiled: Tiled, target: Target, most_vectors: int) -> Iterator[tuple[int, int]]:
    """The tiles whose sums registers hold, with the vectors of a step and an element beside them;
    wide ones only if there are enough of them to share out."""
    costs = target.costs.tiles
    filled = -(-tiled.columns // tiled.lanes)
    for vectors in range(1, min(filled, most_vectors) + 1):
        room = min(sums_in_registers(target), target.vector_registers - vectors - tiled.spare)
        for rows in range(min(tiled.rows, max(room // vectors, 1)), 0, -1):
            count = tiled.times * _count(tiled, rows, vectors)
            if vectors <= costs.narrow or count >= costs.least_tiles:
                yield rows, vectors


def _count(tiled: Tiled, rows: int, vectors: int) -> int:
    return math.ceil(tiled.rows / rows) * math.ceil(tiled.columns / (vectors * tiled.lanes))


def estimate(tiled: Tiled, rows: int, vectors: int, target: Target) -> float:
    """Cycles that tiles of so many rows and vectors take."""
    costs, registers = target.costs.tiles, target.vector_registers
    gate = target.costs.operations.gate_share
    sums = rows * vectors
    step = step_cost(rows, vectors, tiled.load, target)
    spilled = min(max(2 * sums + vectors + 1 - registers, 0), sums)
    block = sums + costs.spilled * spilled
    stores = rows * (vectors + costs.stored_row)
    cost = tiled.terms * step + tiled.blocks * block + stores + costs.setup
    gated = bool(tiled.rows % rows) + bool(tiled.columns % (vectors * tiled.lanes))
    visits = math.ceil(tiled.columns / (vectors * tiled.lanes)) * tiled.terms * tiled.visit
    count = _count(tiled, rows, vectors)
    tiles = tiled.times * count
    is_few = costs.least_tiles <= tiles < costs.many_tiles
    waiting = tiles % 2 / tiles if is_few else 0.0
    return (count * cost * (1 + gate * gated) + visits) * (1 + waiting)


def best_tile_of_two(
    tiled: Tiled, lengths: tuple[int, int], target: Target
) -> tuple[int, int, int]:
    """The same where the rows of a tile may lie along two axes, as the pixels of an image do: how
    many along each, and vectors. Few pixels of a short line leave none of them empty."""
    costs, most = target.costs, sums_in_registers(target)
    tiles: list[tuple[float, int, int, int]] = []
    for first in range(1, min(lengths[0], most) + 1):
        for second in range(1, min(lengths[1], most // first) + 1):
            rows = first * second
            count = -(-lengths[0] // first) * -(-lengths[1] // second)
            gated = bool(lengths[0] % first) + bool(lengths[1] % second)
            whole = replace(tiled, rows=count * rows)
            for high, vectors in _tiles(whole, target, costs.tiles.widest):
                if high == rows:
                    cost = estimate(whole, rows, vectors, target)
                    cost *= 1 + costs.operations.gate_share * gated
                    tiles.append((cost, first, second, vectors))
    _, first, second, vectors = min(tiles)
    return first, second, vectors


def best_tile_of_sums(
    rows: int, columns: int, vectors: int, target: Target, load: float
) -> tuple[int, int]:
    """Rows and columns of the tile that takes the least time if sums are that many vectors. Rows
    stay near while all columns pass by, whose vectors take `load` to load."""
    most, side_by_side = sums_in_registers(target), target.costs.memory.streams
    costs, combined = target.costs.tiles, target.costs.operations.lane_reduction

    def estimate(tile: tuple[int, int]) -> float:
        high, wide = tile
        count = math.ceil(rows / high) * math.ceil(columns / wide)
        sums = high * wide
        loads = high * costs.near_load + wide * load
        return count * (vectors * (sums + loads) + sums * combined + costs.setup)

    tiles = [
        (high, wide)
        for high in range(1, min(rows, side_by_side) + 1)
        for wide in range(1, min(columns, side_by_side, most // high) + 1)
        if high * wide + min(high, wide) < target.vector_registers
    ]
    return min(tiles, key=estimate)
