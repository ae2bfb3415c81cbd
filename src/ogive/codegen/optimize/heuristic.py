"""The placement chosen without measuring, from strides, lengths and the target's table.

Lane count, accumulators and tiles follow from dtype, extents and target alone, never from the
machine's core count or from timings: they fix the order of every reduction.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass

from ogive.choose.costs import (
    ACROSS,
    LONG_SUM,
    MOST_STRIDE,
    STORED_TURNED,
    best_tile,
    lane_use,
    operation_cost,
    sums_in_registers,
    whole_vectors,
)
from ogive.codegen.optimize.accesses import MemoryAccess, memory_accesses
from ogive.codegen.optimize.placement import (
    Placement,
    axis_extent,
    counters_together,
    output_axes,
    reduction_axes,
)
from ogive.codegen.optimize.scores import StagedRows, find_rows, tile_scores
from ogive.codegen.optimize.tiles import (
    FAR_LOAD,
    NEAR_LOAD,
    PICKED_LOAD,
    SIDE_BY_SIDE,
    Tiled,
    best_tile_of,
    best_tile_of_sums,
)
from ogive.config import Config
from ogive.device.target import Target
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, Op

COLUMN_TILES = 8
"""Sums of columns are cut into at least this many tiles."""

MOVED_ROWS = 8
"""Rows that are cut into panels at a time."""

SCANNED_ROWS = 4
"""Rows that are scanned side by side, so that each waits for its own last sum only."""

FEW_ROWS = 16
"""Rows that a processor fetches ahead side by side."""

LEAST_PANEL = 4
"""Rows from which on a panel makes a good tile."""

MOST_PICKED = 8
"""Rows up to which a tile is picked out of vectors, whatever their length."""

MOST_TURNED = 16
"""Rows of a tile that registers hold while it is turned."""

MANY_VECTORS = 8
"""Vectors of columns of which one more or less makes no difference."""

LEAST_SUMS = 4
"""Vectors of sums from which on none waits for its last addition."""

REUSE = 8
"""About how many products of a register tile each element that is loaded goes into."""

NEAR_LANE, FAR_LANE = 0.25, 1.0
"""What loading a lane takes that is picked out of vectors, or gathered, in vector operations."""

PARALLEL_TILES = 512
"""Output loops are joined into the parallel one until it has this many iterations."""


@dataclass
class _Kernel:
    """What the heuristics look at."""

    root: UOp
    outputs: tuple[UOp, ...]
    reductions: tuple[UOp, ...]
    accesses: list[MemoryAccess]
    together: dict[UOp, set[UOp]]  # counters that some value depends on at the same time
    costs: dict[UOp, int]  # of what is computed in each iteration of a counter
    scans: bool
    rows: StagedRows | None

    @functools.cached_property
    def is_product(self) -> bool:
        """Whether a reduction reads its operands again and again."""
        return self.rows is None and bool(_reused_axes(self))

    @functools.cached_property
    def is_long_product(self) -> bool:
        """Whether so many products go into an element that storing it takes no time beside them."""
        summed = math.prod(axis_extent(counter) for counter in self.reductions)
        return self.is_product and summed >= LONG_SUM

    @functools.cached_property
    def common(self) -> frozenset[UOp]:
        """The counters that everything depends on that is reduced or staged."""
        needed = [n.ranges for n in self.root.walk() if n.op in (Op.REDUCE, Op.STAGE)]
        return frozenset(self.outputs).intersection(*needed)

    @functools.cached_property
    def reduction_loads(self) -> list[tuple[UOp, list[MemoryAccess]]]:
        return _reduction_loads(self)


def choose_placement(root: UOp, target: Target, config: Config) -> Placement:
    """A good placement for the loop graph of one kernel."""
    kernel = _inspect(root)
    lanes = _choose_lanes(kernel, target) if config.vectorize else {}
    upcast = _choose_upcast(kernel, lanes, target)
    order = _outer_first(kernel, _choose_order(kernel, lanes, target))
    if kernel.rows is not None:
        upcast = kernel.rows.fit(lanes, upcast)
    return Placement(
        lanes={counter.arg[0]: count for counter, count in lanes.items()},
        upcast={counter.arg[0]: count for counter, count in upcast.items() if count > 1},
        order=tuple([counter.arg[0] for counter in order]),
        parallel=_choose_parallel(kernel, order, lanes, upcast),
    )


def _inspect(root: UOp) -> _Kernel:
    together: dict[UOp, set[UOp]] = {}
    costs: dict[UOp, int] = {}
    scans = False
    for node in root.walk():
        scans |= node.op is Op.SCAN
        if node.op in ELEMENTWISE and node.dtype.name != "index":
            for counter in node.ranges:
                costs[counter] = costs.get(counter, 0) + operation_cost(node)
        if node.op in (Op.LOAD, Op.STORE, Op.REDUCE) or node.op in ELEMENTWISE:
            used = counters_together(node)
            for counter in used:
                together.setdefault(counter, set()).update(used)
    return _Kernel(
        root,
        output_axes(root),
        reduction_axes(root),
        memory_accesses(root),
        together,
        costs,
        scans,
        find_rows(root),
    )


def _choose_lanes(kernel: _Kernel, target: Target) -> dict[UOp, int]:
    counters = (*kernel.outputs, *kernel.reductions)
    counts = _lane_counts(kernel, counters, target)
    scores = {
        counter: (
            _product_score(counter, kernel, counts[counter], target)
            if kernel.is_product
            else _lane_score(counter, kernel) * lane_use(axis_extent(counter), counts[counter])
        )
        for counter in counters
    }
    chosen: dict[UOp, int] = {}
    for counter in sorted(scores, key=lambda c: (-scores[c], c.arg[0])):
        extent = axis_extent(counter)
        if scores[counter] <= 0 or extent < 2:
            continue
        if any(other in kernel.together.get(counter, ()) for other in chosen):
            continue
        lanes = counts[counter]
        while lanes // 2 >= extent or (kernel.rows and not kernel.rows.allows(counter, lanes)):
            lanes //= 2
        if lanes > 1:
            chosen[counter] = lanes
    turned = _transposed_rows(kernel, chosen)
    if turned is not None and axis_extent(turned) > MOST_PICKED:
        return {counter: min(lanes, MOST_TURNED) for counter, lanes in chosen.items()}
    return chosen


def _lane_counts(
    kernel: _Kernel, counters: tuple[UOp, ...], target: Target
) -> dict[UOp, int]:
    """As many of the widest element as fill a register, for each axis that may be in lanes.

    What is the same all along, such as the key of a random draw, takes up no lanes; nor does a
    position that is data along an axis on which it does not depend.
    """
    moving = [access for access in kernel.accesses if access.strides or access.irregular]
    positions = {
        node
        for access in kernel.accesses
        for node in access.index.src[1].backward_slice()
        if node.op is Op.LOAD
    }
    counts = {}
    for counter in counters:
        widths = [
            access.index.dtype.itemsize
            for access in moving or kernel.accesses
            if access.node not in positions or access.depends_on(counter)
        ]
        counts[counter] = max(target.vector_bytes // max(widths, default=4), 2)
    return counts


def _product_score(counter: UOp, kernel: _Kernel, lanes: int, target: Target) -> float:
    """The share of lanes that multiply and add all the time if `counter` is spread over them; 0 if
    nothing lies side by side along it."""
    loads = [access for _, loads in kernel.reduction_loads for access in loads]
    if not any(access.strides.get(counter) == 1 for access in loads):
        return 0.0
    extents = [axis_extent(c) for c in (*kernel.outputs, *kernel.reductions)]
    results = math.prod(axis_extent(c) for c in kernel.outputs)
    products = math.prod(extents)
    cost = products / axis_extent(counter) * whole_vectors(axis_extent(counter), lanes, target)
    for access in loads:
        if access.depends_on(counter) and access.strides.get(counter) != 1:
            near = abs(access.strides.get(counter, MOST_STRIDE + 1)) <= MOST_STRIDE
            cost += products / REUSE * (NEAR_LANE if near else FAR_LANE)
    if counter in kernel.reductions:
        return products / lanes / (cost + results * ACROSS)
    stores = [access for access in kernel.accesses if access.is_store]
    if any(store.strides.get(counter) != 1 for store in stores):
        cost += results * STORED_TURNED
    return products / lanes / cost


def _lane_score(counter: UOp, kernel: _Kernel) -> float:
    """How well the accesses run along `counter`: contiguous is good, a little apart will do for a
    load, and so will a tile that is turned; far apart is bad."""
    score = 0.0
    for access in kernel.accesses:
        if access.is_store:
            weight = 0.0625 if kernel.is_long_product else 1.5
        else:
            weight = 4.0 if any(access.depends_on(r) for r in kernel.reductions) else 1.0
        if counter in access.irregular:
            score -= 2 * weight
        elif counter in access.strides:
            stride = access.strides[counter]
            near = abs(stride) <= MOST_STRIDE
            if access.is_store:
                near = near and _between(kernel, access, stride) is not None
            elif not kernel.reductions:
                near = near or _is_turned(kernel, access)
            score += (3 if stride == 1 else 1 if near else -2) * weight
    # The lanes of a sum have to be added up, and hold but one element of a register tile.
    return score / 2 if counter in kernel.reductions and kernel.is_product else score


def _is_turned(kernel: _Kernel, load: MemoryAccess) -> bool:
    """Whether a load is contiguous along an output axis of which a tile is worth turning."""
    return any(
        load.strides.get(c) == 1 and axis_extent(c) > MOST_PICKED for c in kernel.outputs
    )


def _choose_upcast(
    kernel: _Kernel, lanes: dict[UOp, int], target: Target
) -> dict[UOp, int]:
    if kernel.rows is not None and kernel.rows.columns:
        return tile_scores(kernel.rows, kernel.outputs, kernel.accesses, lanes, target)
    reused = _reused_axes(kernel)
    lane_outputs = [counter for counter in kernel.outputs if counter in lanes]
    if reused and lane_outputs and lane_outputs[0] in reused:
        return _tile_columns(kernel, lane_outputs[0], lanes, target)
    if reused and any(counter in lanes for counter in kernel.reductions):
        return _tile_sums(kernel, reused, lanes, target)
    between, rows = _interleaved_rows(kernel, lanes), _transposed_rows(kernel, lanes)
    if between is not None or rows is not None:
        tile = {between: axis_extent(between)} if between is not None else {}
        if rows is not None and rows is not between:
            room = next(iter(lanes.values())) // math.prod(tile.values())
            tile[rows] = best_tile(axis_extent(rows), max(room, 1))
        return tile
    if kernel.scans and kernel.outputs and not lanes:
        rows = kernel.outputs[-1]
        return {rows: best_tile(axis_extent(rows), SCANNED_ROWS)}
    moved = _moved_rows(kernel, lanes)
    if moved is not None:
        (lane,) = lanes
        vectors = max(min(axis_extent(lane) // lanes[lane], 2), 1)
        return {lane: vectors, moved: best_tile(axis_extent(moved), MOVED_ROWS)}
    upcast: dict[UOp, int] = {}
    for counter, count in lanes.items():
        wanted = _vectors_at_a_time(kernel.costs.get(counter, 0))
        vectors = axis_extent(counter) // count
        most = max(vectors // 2, 1)
        upcast[counter] = wanted
        if wanted == 4 and (kernel.scans or _is_summed_beside(kernel, counter)):
            upcast[counter] = _columns_at_a_time(kernel, target)
            others = math.prod(axis_extent(c) for c in kernel.outputs if c is not counter)
            filled = -(-axis_extent(counter) // count)
            most = max(min(filled, filled * others // COLUMN_TILES), 1)
            upcast[counter] = best_tile(filled, min(upcast[counter], most))
        upcast[counter] = _columns_gone_through(kernel, counter, target) or upcast[counter]
        while upcast[counter] > most:
            upcast[counter] //= 2
    if kernel.reductions and all(counter in kernel.outputs for counter in lanes):
        wanted = _vectors_at_a_time(max(kernel.costs.values(), default=0))
        upcast |= _rows_beside(kernel, upcast, wanted)
    return upcast


def _vectors_at_a_time(cost: int) -> int:
    """How many vectors are computed side by side if one takes so many operations."""
    return 4 if cost <= 12 else 2 if cost <= 40 else 1


def _is_summed_beside(kernel: _Kernel, counter: UOp) -> bool:
    """Whether there is a sum for each value of an output counter, as in a sum of columns."""
    return counter in kernel.outputs and any(
        counter in node.ranges for node, _ in kernel.reduction_loads
    )


def _columns_gone_through(kernel: _Kernel, counter: UOp, target: Target) -> int:
    """How many vectors of columns a kernel takes that reduces them and then goes through them
    again: as many as stay in a first-level cache meanwhile, up to four. 0 for other kernels."""
    again = [c for c in kernel.outputs if c not in kernel.common]
    rows = math.prod(axis_extent(c) for c in again)
    if rows == 1 or counter in again or not _is_summed_beside(kernel, counter):
        return 0
    return min(max(target.l1_bytes // 2 // (rows * target.vector_bytes), 1), 4)


def _rows_beside(kernel: _Kernel, upcast: dict[UOp, int], wanted: int) -> dict[UOp, int]:
    """Rows that are summed up side by side where registers hold fewer sums than `wanted`: each
    waits for its own last addition only."""
    rows = [c for c in kernel.outputs if c not in upcast and axis_extent(c) > 1]
    room = wanted // max(math.prod(upcast.values()), 1)
    return {rows[-1]: best_tile(axis_extent(rows[-1]), room)} if rows and room > 1 else {}


def _interleaved_rows(kernel: _Kernel, lanes: dict[UOp, int]) -> UOp | None:
    """The output axis that fills the gaps between the lanes of what is written, as the last one of
    a stack does: all of it is written at once, in whole vectors."""
    stores = [access for access in kernel.accesses if access.is_store]
    if kernel.reductions or kernel.scans or len(lanes) != 1 or len(stores) != 1:
        return None
    (lane,), (store,) = lanes, stores
    return _between(kernel, store, store.strides.get(lane, 1))


def _between(kernel: _Kernel, store: MemoryAccess, stride: int) -> UOp | None:
    """The output axis that a store fills gaps of that length along."""
    for counter in kernel.outputs:
        if store.strides.get(counter) == 1 and axis_extent(counter) == stride <= MOST_STRIDE:
            return counter
    return None


def _transposed_rows(kernel: _Kernel, lanes: dict[UOp, int]) -> UOp | None:
    """The output axis along which loads are contiguous that are not so along the lanes.

    A square tile of it is loaded row by row and turned in registers."""
    if kernel.reductions or len(lanes) != 1:
        return None
    (lane,) = lanes
    for access in kernel.accesses:
        if not access.is_store and access.strides.get(lane, 1) not in (0, 1):
            for counter in kernel.outputs:
                if access.strides.get(counter) == 1 and axis_extent(counter) > 1:
                    return counter
    return None


def _moved_rows(kernel: _Kernel, lanes: dict[UOp, int]) -> UOp | None:
    """The output axis of rows that are cut into panels, as an operand of a product is.

    Along it, what is read is far apart and what is written is not: a few rows are taken at a
    time, from one panel to the next, so that neither reads nor writes jump about.
    """
    if kernel.reductions or kernel.scans or len(lanes) != 1 or len(kernel.outputs) < 3:
        return None
    panels, rows, lane = kernel.outputs[-3:]
    if lane not in lanes:
        return None
    (store, *others) = [access.strides for access in kernel.accesses if access.is_store]
    loads = [access.strides for access in kernel.accesses if not access.is_store]
    if others or store.get(panels, 0) <= store.get(rows, 0):
        return None
    width = axis_extent(lane)
    is_cut = any(s.get(lane) == 1 and s.get(panels) == width < s.get(rows, 0) for s in loads)
    return rows if is_cut else None


def _reduction_loads(kernel: _Kernel) -> list[tuple[UOp, list[MemoryAccess]]]:
    """Each reduction with the loads that its loops repeat."""
    found = []
    for node in kernel.root.walk():
        if node.op is Op.REDUCE:
            inside = node.src[0].backward_slice() | {node.src[0]}
            loads = [
                access
                for access in kernel.accesses
                if access.node in inside and any(access.depends_on(r) for r in node.src[1:])
            ]
            found.append((node, loads))
    return found


def _reused_axes(kernel: _Kernel) -> list[UOp]:
    """Output axes along which a reduction reads one operand again and another one anew."""
    return [
        counter
        for counter in kernel.outputs
        if any(
            counter in node.ranges and len({a.depends_on(counter) for a in loads}) == 2
            for node, loads in kernel.reduction_loads
        )
    ]


def _row_axes(kernel: _Kernel, column: UOp) -> list[UOp]:
    """Output axes along which whatever a reduction reads along `column` is read again."""
    loads = [a for _, loads in kernel.reduction_loads for a in loads if a.depends_on(column)]
    return [
        counter
        for counter in _reused_axes(kernel)
        if not any(access.depends_on(counter) for access in loads)
    ]


def _tile_columns(
    kernel: _Kernel, column: UOp, lanes: dict[UOp, int], target: Target
) -> dict[UOp, int]:
    """A register tile of a product whose columns are lanes: rows by vectors."""
    rows = _row_axes(kernel, column)
    turned = _turned_tile(kernel, column, lanes[column], rows, target)
    if turned is not None:
        return turned
    row = _row_axis(kernel, rows, sums_in_registers(target)) if rows else None
    tiled = Tiled(
        rows=axis_extent(row) if row is not None else 1,
        columns=axis_extent(column),
        lanes=lanes[column],
        terms=math.prod(map(axis_extent, kernel.reductions)),
        times=math.prod(axis_extent(c) for c in kernel.outputs if c not in (row, column)),
        load=_column_load(kernel, column, target),
        blocks=_blocks_of_sums(kernel),
    )
    if row is None:
        _, wide = best_tile_of(tiled, target, _columns_at_a_time(kernel, target))
        return {column: wide} | _rows_beside(kernel, {column: wide}, LEAST_SUMS)
    tile, wide = best_tile_of(tiled, target)
    return {column: wide, row: tile}


def _blocks_of_sums(kernel: _Kernel) -> int:
    """How many blocks a sum is cut into; 0 if it is not."""
    outer = [node for node, _ in kernel.reduction_loads if node.src[0].op is Op.REDUCE]
    return sum([math.prod(map(axis_extent, node.closed)) for node in outer])


def _turned_tile(
    kernel: _Kernel, column: UOp, lanes: int, rows: list[UOp], target: Target
) -> dict[UOp, int] | None:
    """The tile where rows are stored side by side, which the columns then are not: it is turned on
    its way to memory, and is the better the more rows it has. None if there are few."""
    stored = [
        counter
        for counter in rows
        if any(a.is_store and a.strides.get(counter) == 1 for a in kernel.accesses)
    ]
    if not stored:
        return None
    vectors = -(-axis_extent(column) // lanes)
    wide = 2 if vectors > MANY_VECTORS else best_tile(vectors, 3)
    row, tile = _longest_tile(stored, sums_in_registers(target) // wide)
    return {column: wide, row: tile} if tile >= LEAST_PANEL else None


def _column_load(kernel: _Kernel, column: UOp, target: Target) -> float:
    """What it takes to load a vector of the operand that runs along the columns."""
    loads = [a for _, loads in kernel.reduction_loads for a in loads if a.depends_on(column)]
    if any(access.strides.get(column) != 1 for access in loads):
        return PICKED_LOAD
    summed = {column, *kernel.reductions}
    size = sum(_bytes_along(access, summed) for access in loads)
    return NEAR_LOAD if size <= target.l1_bytes else FAR_LOAD


def _reread_bytes(kernel: _Kernel, column: UOp, row: UOp) -> int:
    """How much is read again for each row if loops are nested as results lie in memory."""
    outer = set(kernel.outputs[: kernel.outputs.index(row)])
    loads = [a for _, loads in kernel.reduction_loads for a in loads if a.depends_on(column)]
    return sum(
        [
            min(_bytes_along(access, set(access.strides) - outer), _memory_bytes(access))
            for access in loads
        ]
    )


def _memory_bytes(access: MemoryAccess) -> int:
    """The size of the memory that an access is to."""
    memory = access.index.src[0]
    count = memory.arg[1] if memory.op is Op.PARAM else math.prod(map(axis_extent, memory.closed))
    return int(count) * access.index.dtype.itemsize


def _bytes_along(access: MemoryAccess, counters: set[UOp]) -> int:
    """How many bytes an access touches along some counters."""
    lengths = [axis_extent(counter) for counter in access.strides if counter in counters]
    return access.index.dtype.itemsize * math.prod(lengths)


def _columns_at_a_time(kernel: _Kernel, target: Target) -> int:
    """How many vectors of each row are read at a time where columns are added up.

    Of many rows, as many as registers hold, since each is far from the last. A few rows are
    fetched ahead side by side, if none of them runs far ahead of the others.
    """
    rows = math.prod(axis_extent(counter) for counter in kernel.reductions)
    sums = sums_in_registers(target)
    return sums // 6 if kernel.reductions and rows <= FEW_ROWS else sums // 3 * 2


def _row_axis(kernel: _Kernel, rows: list[UOp], most: int) -> UOp:
    """The axis of a tile's rows: those of a panel, which lie side by side, or the longest."""
    for counter in rows:
        beside = any(
            access.strides.get(counter) == 1
            for _, loads in kernel.reduction_loads
            for access in loads
        )
        if beside and LEAST_PANEL <= axis_extent(counter) <= most:
            return counter
    return _longest_tile(rows, most)[0]


def _tile_sums(
    kernel: _Kernel, reused: list[UOp], lanes: dict[UOp, int], target: Target
) -> dict[UOp, int]:
    """A register tile of a product that is summed up in lanes: along one axis the one operand is
    read again, along another the other. A vector is read again for each row of a matrix only."""
    kinds: dict[frozenset[UOp], list[UOp]] = {}
    for counter in reused:
        loads = [access for _, loads in kernel.reduction_loads for access in loads]
        read = frozenset([access.node for access in loads if access.depends_on(counter)])
        kinds.setdefault(read, []).append(counter)
    if len(kinds) == 1:
        # As many streams as are read at full speed, each with a sum of its own.
        return dict([_longest_tile(reused, SIDE_BY_SIDE)])
    row, column = [max(axes, key=axis_extent) for axes in list(kinds.values())[-2:]]
    vectors = math.prod(-(-axis_extent(c) // lanes.get(c, 1)) for c in kernel.reductions)
    tile = best_tile_of_sums(axis_extent(row), axis_extent(column), vectors, target)
    return dict(zip((row, column), tile, strict=True))


def _longest_tile(axes: list[UOp], most: int) -> tuple[UOp, int]:
    """The axis that can be cut into the longest tiles, the last of those, and the length."""
    tiles = [(counter, best_tile(axis_extent(counter), most)) for counter in reversed(axes)]
    return max(tiles, key=lambda pair: pair[1])


def _choose_order(kernel: _Kernel, lanes: dict[UOp, int], target: Target) -> list[UOp]:
    """The nest of the output loops: as they lie in memory, so that lines are written whole. But
    innermost are the rows of a product whose column operand is more than a cache holds, so that a
    block of panels stays there while they pass by, or those of a transposed tile, so that loads
    follow each other, and then the lines that are written together."""
    columns = [counter for counter in _reused_axes(kernel) if counter in lanes]
    moved = _moved_rows(kernel, lanes)
    if moved is not None:
        *outer, panels, _, lane = kernel.outputs
        return [*outer, moved, panels, lane]
    turned = _transposed_rows(kernel, lanes)
    if turned is not None:
        inner = [turned, *[c for c in _blocks(kernel) if c in lanes]]
        return [*[c for c in kernel.outputs if c not in inner], *inner]
    rows = _row_axes(kernel, columns[0]) if columns else []
    if rows and _reread_bytes(kernel, columns[0], rows[0]) <= target.l2_bytes * 3 // 4:
        rows = []
    blocks = [c for c in _blocks(kernel) if rows and c not in lanes and c not in rows]
    inner = [*rows, *blocks]
    return [*[c for c in kernel.outputs if c not in inner], *inner]


def _outer_first(kernel: _Kernel, order: list[UOp]) -> list[UOp]:
    """The nest with those loops on the outside that all reductions depend on: the others would
    work some of them out again."""
    return sorted(order, key=lambda counter: counter not in kernel.common)


def _blocks(kernel: _Kernel) -> list[UOp]:
    """Output axes that were cut off others, and run through a block that stays in cache."""
    return [
        inner
        for outer, inner in itertools.pairwise(kernel.outputs)
        if all(
            access.strides.get(outer, 0) == access.strides.get(inner, 0) * axis_extent(inner)
            for access in kernel.accesses
        )
    ]


def _choose_parallel(
    kernel: _Kernel, order: list[UOp], lanes: dict[UOp, int], upcast: dict[UOp, int]
) -> int:
    """How many leading output loops run in parallel: those every reduction depends on."""
    tiles = 1
    count = 0
    for counter in order:
        if counter not in kernel.common:
            break
        count += 1
        tiles *= math.ceil(axis_extent(counter) / (lanes.get(counter, 1) * upcast.get(counter, 1)))
        if tiles >= PARALLEL_TILES:
            break
    return count
