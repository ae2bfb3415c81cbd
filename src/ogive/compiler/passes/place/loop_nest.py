"""The nest of a kernel's output loops, and the number of them that run in parallel.

It takes the facts of a kernel and what is in lanes and tiles. It gives the output counters from the
outside in, and the number of outer ones that are divided among threads. For a product

    out[r0*4096 + r1] = sum over r2 of a[r0*512 + r2] * b[r2*4096 + r1]

the nest is r1, r0: a few columns of `b` stay in a cache while all rows of `a` are read. If a cache
holds all of `b` but not the results, it is r0, r1, the order of results in memory, so that cache
lines are written whole.
"""

from __future__ import annotations

import itertools
import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.passes.place.tiles.movement_tiles import cut_rows, rows_to_transpose
from ogive.compiler.targets.target import CACHE_LINE, Target


def choose_order(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> list[UOp]:
    """The nest of the output loops.

    Loops on which all reductions depend are outside: inside another loop, some reductions would be
    computed again.
    """
    nest = _nest(kernel, lanes, target)
    return sorted(nest, key=lambda counter: counter not in kernel.common)


def _nest(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> list[UOp]:
    """The output loops in the order of memory, except for the innermost ones.

    In a product these are the rows that are multiplied by a block of the column operand. In a
    transpose they are the rows of a tile, so that loads are contiguous, and then the lines that are
    written together, unless there are too many.
    """
    rows = cut_rows(kernel, lanes)
    if rows is not None:
        *outer, panels, _, lane = kernel.outputs
        return [*outer, rows, panels, lane]
    transposed = rows_to_transpose(kernel, lanes)
    if transposed is not None:
        blocks = _blocks(kernel)
        lines = [c for c in lanes if c in blocks or _is_short(kernel, c, transposed, target)]
        inner = [transposed, *lines]
    else:
        passing = _passing_rows(kernel, lanes, target)
        blocks = [c for c in _blocks(kernel) if c not in lanes and c not in passing]
        inner = [*passing, *blocks] if passing else []
    return [*[c for c in kernel.outputs if c not in inner], *inner]


def _is_short(kernel: KernelFacts, lane: UOp, transposed: UOp, target: Target) -> bool:
    """Whether it is better to write the lines of all rows along the lanes together.

    It is if a line of each row stays in the first-level cache, which is not so if the rows are
    multiples of a set apart, and if the lines written would leave the second-level cache before
    they are whole.
    """
    rows = axis_extent(lane)
    if rows * CACHE_LINE > target.l1_bytes // 2:
        return False
    memory = target.costs.memory
    held = memory.ways * memory.set_bytes
    strides = [load.strides.get(lane, 0) * load.index.dtype.itemsize for load in kernel.loads]
    if any(rows * math.gcd(stride, memory.set_bytes) > held for stride in strides):
        return False
    written = [store.bytes_along({lane, transposed}) for store in kernel.stores]
    return max(written) > target.l2_bytes // 8


def _passing_rows(kernel: KernelFacts, lanes: dict[UOp, int], target: Target) -> list[UOp]:
    """The rows of a product that are multiplied by a block of its column operand.

    None if a cache holds all of that operand but not the results, which are then better written in
    order.
    """
    columns = [counter for counter in kernel.reused_axes if counter in lanes]
    rows = kernel.row_axes(columns[0]) if columns else []
    if not rows or sum([store.memory_bytes for store in kernel.stores]) < target.l2_bytes // 2:
        return rows
    is_held = _reread_bytes(kernel, columns[0], rows[0]) <= target.l2_bytes * 3 // 4
    return [] if is_held else rows


def _reread_bytes(kernel: KernelFacts, column: UOp, row: UOp) -> int:
    """The bytes that are read again for each row if loops are nested in the order of results."""
    outer = set(kernel.outputs[: kernel.outputs.index(row)])
    return sum(
        [
            min(access.bytes_along(set(access.strides) - outer), access.memory_bytes)
            for access in kernel.distinct_operands_along(column)
        ]
    )


def _blocks(kernel: KernelFacts) -> list[UOp]:
    """Output axes that are the inner part of a cut axis, whose block stays in a cache."""
    return [
        inner
        for outer, inner in itertools.pairwise(kernel.outputs)
        if all(
            access.strides.get(outer, 0) == access.strides.get(inner, 0) * axis_extent(inner)
            for access in kernel.accesses
        )
    ]


def choose_parallel(
    kernel: KernelFacts,
    order: list[UOp],
    lanes: dict[UOp, int],
    upcast: dict[UOp, int],
    target: Target,
) -> int:
    """The number of outer loops that run in parallel, all of which every reduction depends on."""
    tiles = 1
    count = 0
    for counter in order:
        if counter not in kernel.common:
            break
        count += 1
        tiles *= math.ceil(axis_extent(counter) / (lanes.get(counter, 1) * upcast.get(counter, 1)))
        if tiles >= target.costs.lanes.parallel_tiles:
            break
    return count
