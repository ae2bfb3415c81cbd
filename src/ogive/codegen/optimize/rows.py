"""Add up long rows in scratch memory, a few at a time.

    before   r0 < 4096:    out[r0] = sum over r1 < 128 of a[r1, r0]
    after    loop r1 < 16 { r2 < 4096: row[r2] += sum over r3 < 8 of a[r1*8 + r3, r2] }
             r0 < 4096:    out[r0] = row[r0]

Memory is read fastest as a few long stretches. Sums in registers read a short piece of each row,
as wide as the registers, and the next piece is a row further. The row of sums stays in the first
level cache; where it would not fit, the columns are cut into blocks of which it does.
"""

from __future__ import annotations

import math

from ogive.choose.costs import operation_cost
from ogive.codegen.optimize.accesses import memory_accesses
from ogive.codegen.optimize.placement import axis_extent
from ogive.codegen.optimize.ranges import replace_ranges
from ogive.device.target import Target
from ogive.ir import dtype as dtypes
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, SCRATCH, Op
from ogive.schedule.rangeify import LOOP, make_range

SIDE_BY_SIDE = 8
"""Rows that are added up at a time: as many streams as are read at full speed."""

LEAST_COLUMNS = 512
"""Shorter rows are as wide as the registers that hold their sums."""

CHEAP = 12
"""What is added up may cost this much: of more, reading is the lesser part, and code for so many
elements side by side would be long."""

LEAST_TILES = 8
"""Fewer sums of rows than this are shared out by their columns instead."""

BLOCK_STEP = 64
"""Blocks of columns are a multiple of that many."""


def add_up_rows(root: UOp, target: Target) -> UOp:
    """The kernel with its long rows added up in scratch memory, if that is what it does."""
    (store, *others) = root.src
    total = store.src[1]
    if others or store.arg is not None or total.op is not Op.REDUCE or len(total.closed) != 1:
        return root
    (row,) = total.closed
    column = _column(root, row)
    if column is None or axis_extent(row) % SIDE_BY_SIDE or axis_extent(row) < 2 * SIDE_BY_SIDE:
        return root
    if sum(map(operation_cost, _computed(total))) > CHEAP:
        return root
    most = target.l1_bytes // 2 // total.dtype.itemsize
    tiles = math.prod(axis_extent(c) for c in store.src[2:] if c is not column)
    if tiles * -(-axis_extent(column) // most) < LEAST_TILES:
        return root
    return UOp(root.op, root.dtype, (_in_scratch(store, row, column, most),))


def _column(root: UOp, row: UOp) -> UOp | None:
    """The axis of the result along which the rows, and their sum, lie side by side; none if rows
    are read again for other results, as in a product, which registers do better."""
    accesses = memory_accesses(root)
    (store,) = [access for access in accesses if access.is_store]
    results = [c for c in store.node.src[2:] if axis_extent(c) > 1]
    for column, step in store.strides.items():
        length = axis_extent(column)
        fixed = row.src[0].op is Op.CONST and column.src[0].op is Op.CONST
        if step == 1 and length >= LEAST_COLUMNS and fixed and column.arg[1] is None:
            for access in accesses:
                steps = access.strides
                is_row = steps.get(column) == 1 and steps.get(row, 0) >= length
                if is_row and not access.is_store and all(map(access.depends_on, results)):
                    return column
    return None


def _computed(total: UOp) -> list[UOp]:
    return [n for n in total.walk() if n.op in ELEMENTWISE and n.dtype is not dtypes.index]


def _in_scratch(store: UOp, row: UOp, column: UOp, most: int) -> UOp:
    """The store of a sum of rows, from rows of sums of at most so many columns."""
    total = store.src[1]
    length = axis_extent(column)
    count = -(-length // most)
    block = length if count == 1 else -(-length // (count * BLOCK_STEP)) * BLOCK_STEP
    number = 4 * (1 + max([c.arg[0] for c in store.src[2:]], default=0))
    outer = {c: make_range(c.src[0], 4 * c.arg[0], c.arg[1]) for c in store.src[2:]}
    first = make_range(count, 4 * column.arg[0]) * block
    groups = make_range(axis_extent(row) // SIDE_BY_SIDE, number, LOOP)
    within, beside = make_range(block, number + 1), make_range(SIDE_BY_SIDE, number + 2)

    def at(node: UOp, place: UOp) -> UOp:
        """The same with the column at a place of the block."""
        position = first + place
        gates = {column: position.lt(length)} if count * block > length else {}
        rows = {row: groups * SIDE_BY_SIDE + beside}
        return replace_ranges(node, {**outer, **rows, column: position}, gates)

    few = UOp(Op.REDUCE, total.dtype, (at(total.src[0], within), beside), total.arg)
    sums = UOp(Op.STAGE, total.dtype, (few, within, groups, within), (SCRATCH, total.arg))
    last = make_range(block, 4 * column.arg[0] + 1)
    read = UOp(Op.LOAD, total.dtype, (UOp(Op.INDEX, total.dtype, (sums, last)),))
    placed = at(store, last)
    return UOp(store.op, store.dtype, (placed.src[0], read, *placed.src[2:]), store.arg)
