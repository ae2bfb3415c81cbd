"""The placement of a kernel, chosen without measuring from strides, lengths and the target's costs.

    before   for r0 < 64, r1 < 32:  out[r0*32 + r1] = sum over r2 of a[r0*64 + r2] * b[r2*32 + r1]
    after    lanes r1: 16;  register tile r0: 8, r1: 2;  nest r0, r1, both divided among threads

(float32, with 32 registers of 64 bytes). The facts of the kernel are gathered once
(`kernel_facts.py`). Then come the axes in lanes (`choose_lanes.py`), the register tile, by the kind
of kernel (`score_tiles.py`, `product_tiles.py`, `movement_tiles.py`, `piece_tiles.py`,
`vector_counts.py`), and the nest of the remaining loops (`loop_nest.py`).

Lane counts, accumulators and tiles depend on dtype, extents and target alone, never on the number
of cores or on timings, because they determine the order of every reduction.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.place.choose_lanes import choose_lanes
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.passes.place.loop_nest import choose_order, choose_parallel
from ogive.compiler.passes.place.placement import Placement
from ogive.compiler.passes.place.tiles.movement_tiles import tile_moved
from ogive.compiler.passes.place.tiles.piece_tiles import tile_pieces
from ogive.compiler.passes.place.tiles.product_tiles import tile_product
from ogive.compiler.passes.place.tiles.scan_tiles import scanned_rows
from ogive.compiler.passes.place.tiles.score_tiles import tile_scores
from ogive.compiler.passes.place.tiles.sort_tiles import sorted_rows
from ogive.compiler.passes.place.tiles.vector_counts import tile_vectors
from ogive.compiler.targets.target import Target


def choose_placement(root: UOp, target: Target, vectorize: bool) -> Placement:
    """The placement of the axes of one kernel's loop graph."""
    kernel = KernelFacts.of(root, target)
    if target.has_grid:
        from ogive.compiler.passes.place.thread_placement import place_on_threads  # CPUs do without

        return place_on_threads(kernel, target)
    scanned = scanned_rows(kernel, target) if vectorize else None
    in_order = sorted_rows(kernel, target) if vectorize else None
    if scanned is not None:
        rows, count, along, steps = scanned
        lanes, upcast = {rows: count}, {along: steps}
    elif in_order is not None:
        lanes, upcast = in_order
    else:
        lanes = choose_lanes(kernel, target) if vectorize else {}
        upcast = _choose_upcast(kernel, lanes, target)
    order = choose_order(kernel, lanes, target)
    return Placement(
        lanes={counter.number: count for counter, count in lanes.items()},
        upcast={counter.number: count for counter, count in upcast.items() if count > 1},
        order=tuple([counter.number for counter in order]),
        parallel=choose_parallel(kernel, order, lanes, upcast, target),
    )


def _choose_upcast(
    kernel: KernelFacts, lanes: dict[UOp, int], target: Target
) -> dict[UOp, int]:
    """The register tile, by the first kind of kernel that matches."""
    rows = kernel.rows
    if rows is not None and rows.columns:
        tile = tile_scores(kernel, rows, lanes, target)
    else:
        tile = (
            tile_product(kernel, lanes, target)
            or tile_moved(kernel, lanes, target)
            or tile_pieces(kernel, lanes, target)
            or tile_vectors(kernel, lanes, target)
        )
    return tile if rows is None else rows.fit(lanes, tile)
