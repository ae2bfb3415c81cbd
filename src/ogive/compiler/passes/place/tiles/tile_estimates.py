"""The register tile of a product, chosen by an estimate of the time of each.

With columns in lanes, a tile of `rows` by `vectors` takes:

    for each step of the sum:   find and load `vectors` of the column operand,
                                broadcast `rows` elements, rows * vectors multiply-adds
    at the end of a block:      add its rows * vectors sums to the total
    at the end:                 store `vectors` to each of the rows

A large tile loads little for each sum. Long sums want many rows, so that a distant column operand
is read seldom. Short sums want few, since stores are slow because of the steps from row to row. If
no near cache holds the vectors, finding them may take longer than all else, once for all rows: then
wide tiles are better. A tile that exceeds its axis wastes work, or needs gates.

With the depth in lanes, each of some rows is multiplied by each of some columns, vector by vector,
and all sums of the tile need a lane reduction at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from ogive.compiler.targets.estimates import step_cost, sums_in_registers
from ogive.compiler.targets.target import Target
from ogive.named import record


@record(frozen=True)
class Tiled:
    """The results to cut into tiles, and their costs.

    There are `times` matrices of `rows` by `columns`, in vectors of `lanes`. Each result is a sum
    of `terms` in `blocks` (0 if it is not cut into blocks). Loading a vector costs `load`, and
    finding the vectors of a step costs `visit`, once for all rows. `spare` registers are left for
    the broadcast element and for a product that is not added yet.
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
    """The rows and vectors of the tile with the least estimated time."""
    tiles = _tiles(tiled, target, most_vectors or target.costs.tiles.widest)
    return min(tiles, key=lambda tile: estimate(tiled, tile[0], tile[1], target))


def _tiles(tiled: Tiled, target: Target, most_vectors: int) -> Iterator[tuple[int, int]]:
    """The tiles whose sums fit in registers beside the vectors of a step and the spare ones.

    Wide tiles are left out if there would be too few to divide among threads.
    """
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
    """The estimated cycles of all tiles of this size."""
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
    """The same for rows along two axes, such as the lines and pixels of an image.

    Gives the rows along each axis, and the vectors. So tiles can fill short lines exactly.
    """
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
    """The rows and columns of the fastest tile with the depth, of `vectors`, in lanes.

    Rows stay in a near cache while all columns are read. A vector of a column costs `load`.
    """
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
