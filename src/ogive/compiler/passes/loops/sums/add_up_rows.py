"""Adds up long rows in scratch memory, a few at a time.

    before   r0 < 4096:    out[r0] = sum over r1 < 128 of a[r1, r0]
    after    loop r1 < 32 { r2 < 4096: row[r2] += sum over r3 < 4 of a[r3*32 + r1, r2] }
             r0 < 4096:    out[r0] = row[r0]

Memory is read fastest as a few long streams; here each stream is a quarter of the rows. Sums in
registers would read a short piece of each row, as wide as the registers, and then jump to the next
row. Adjacent rows read together would do the same. The row of sums stays in the first-level cache.
If it does not fit there, the columns are cut into blocks that do.

If reductions of the same rows need each other's results, each has a row of scratch memory:

    before   r0 < 4096:    m[r0] = max over r1 < 32 of a[r1, r0]
                           s[r0] = sum over r2 < 32 of exp(a[r2, r0] - m[r0])
    after    loop r1 < 4 { r3 < 4096: row1[r3] max= max over r4 < 8 of a[r4*4 + r1, r3] }
             loop r2 < 8 { r5 < 4096: row2[r5] += sum over r6 < 4 of exp(a[...] - row1[r5]) }
             r0 < 4096:    m[r0] = row1[r0];  s[r0] = row2[r0]
"""

from __future__ import annotations

import itertools
import math

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, LOOP, Op, staged_row
from ogive.compiler.ir.traversal import substitute, walk
from ogive.compiler.passes.loops.accesses import memory_accesses
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.compiler.passes.loops.replace_counters import replace_ranges
from ogive.compiler.targets.estimates import operation_cycles, sums_in_registers
from ogive.compiler.targets.target import Target


def add_up_rows(root: UOp, target: Target) -> UOp:
    """The kernel with its long rows added up in scratch memory, if it only reduces such rows."""
    costs = target.costs.loops
    totals = [node for node in root.walk() if node.op is Op.REDUCE]
    rows = list(dict.fromkeys([total.closed for total in totals]))
    beside = costs.more_rows_beside if len(rows) > 1 else costs.rows_beside
    if not totals or not _stores_totals(root) or not all(_can_cut(row, beside) for row in rows):
        return root
    column = _column(root, [row for (row,) in rows], target)
    if column is None or not _is_cheap(totals, rows, target):
        return root
    store = root.roots[0]
    most = target.l1_bytes // 2 // sum(total.dtype.itemsize for total in totals)
    tiles = math.prod(axis_extent(c) for c in store.closed if c is not column)
    if tiles * -(-axis_extent(column) // most) < costs.least_tiles:
        return root
    return _Rows(root, column, most, beside, target).add_up(root, totals)


def _stores_totals(root: UOp) -> bool:
    """Whether a kernel only stores reductions, all over the same axes, and has no other loops."""
    return all(
        store.combine is None
        and store.value.op is Op.REDUCE
        and store.closed == root.roots[0].closed
        for store in root.src
    ) and not any(node.op in (Op.STAGE, Op.SCAN) for node in root.walk())


def _can_cut(row: tuple[UOp, ...], beside: int) -> bool:
    """Whether rows are one axis whose length is a multiple of those that are added up at a time."""
    length = axis_extent(row[0])
    is_fixed = len(row) == 1 and row[0].extent.op is Op.CONST
    return is_fixed and length % beside == 0 and length >= 2 * beside


def _is_cheap(totals: list[UOp], rows: list[tuple[UOp, ...]], target: Target) -> bool:
    """Whether rows take little to compute on their first read; later reads find them in a cache."""
    first = [total for total in totals if total.closed == rows[0]]
    work = sum([operation_cycles(node, target) for node in _computed(first)])
    return work <= target.costs.loops.cheap_work


def _column(root: UOp, rows: list[UOp], target: Target) -> UOp | None:
    """The axis of the result along which the rows and their sums are contiguous.

    None if registers hold all sums, because rows are then read in order anyway, or if rows are read
    again for other results, as in a product, for which registers are better.
    """
    accesses = memory_accesses(root)
    widest = max(access.index.dtype.itemsize for access in accesses)
    held = sums_in_registers(target) * target.vector_bytes // widest
    stores = [access.strides for access in accesses if access.is_store]
    results = [c for c in root.roots[0].closed if axis_extent(c) > 1]
    loads = [a for a in accesses if not a.is_store and all(map(a.depends_on, results))]
    for column in stores[0]:
        length = axis_extent(column)
        is_fixed = column.extent.op is Op.CONST and column.placement is None
        if length <= held or not is_fixed or any(s.get(column) != 1 for s in stores):
            continue
        beside = [load.strides for load in loads if load.strides.get(column) == 1]
        if all(any(strides.get(row, 0) >= length for strides in beside) for row in rows):
            return column
    return None


def _computed(totals: list[UOp]) -> list[UOp]:
    nodes = walk(tuple(totals))
    return [n for n in nodes if n.op in ELEMENTWISE and n.dtype is not dtypes.index]


class _Rows:
    """The rewrite: rows of at most `most` sums along `column`, up to `beside` rows at a time."""

    def __init__(
        self, root: UOp, column: UOp, most: int, beside: int, target: Target
    ) -> None:
        self.target = target
        self.column = column
        self.beside = beside
        self.length = axis_extent(column)
        self.count = -(-self.length // most)
        self.block = self.length
        if self.count > 1:
            step = target.costs.loops.column_step
            self.block = -(-self.length // (self.count * step)) * step
        # New counters get new numbers, because the graph holds old and new ones for a while.
        base = 1 + max([node.number for node in root.walk() if node.op is Op.RANGE])
        outputs = root.roots[0].closed
        self.outer = {c: make_range(c.extent, base + 1 + c.number, c.placement) for c in outputs}
        # Blocks are the outermost loop, so that the same columns of the next rows are read next.
        self.first = make_range(self.count, base) * self.block
        self.last = make_range(self.block, base + 1 + column.number)
        self.numbers = itertools.count(2 * base + 1)
        # Stands for a place in the block until the loop that reads it is known.
        self.place = make_range(self.block, next(self.numbers))
        self.loops: dict[UOp, tuple[UOp, UOp, UOp]] = {}
        self.sums: dict[UOp, UOp] = {}

    def add_up(self, root: UOp, totals: list[UOp]) -> UOp:
        """The kernel with these reductions in scratch memory. Each comes after those it needs."""
        for total in totals:
            stage = self.staged(total)
            place = UOp(Op.INDEX, total.dtype, (stage, self.place))
            self.sums[total] = UOp(Op.LOAD, total.dtype, (place,))
        (root,) = substitute((root,), self.sums, revisit=False)
        return self.at(root, self.last, {})

    def staged(self, total: UOp) -> UOp:
        """The row of a reduction, to which a few rows at a time are added."""
        (row,) = total.closed
        if row not in self.loops:
            is_cheap = _is_cheap([total], [total.closed], self.target)
            count = self.beside if is_cheap else self.target.costs.loops.rows_beside
            self.loops[row] = (
                make_range(axis_extent(row) // count, next(self.numbers), LOOP),
                make_range(self.block, next(self.numbers)),
                make_range(count, next(self.numbers)),
            )
        groups, within, beside = self.loops[row]
        (value,) = substitute((total.operand,), self.sums, revisit=False)
        rows = {row: beside * axis_extent(groups) + groups}
        few = UOp(Op.REDUCE, total.dtype, (self.at(value, within, rows), beside), total.combine)
        block = staged_row(self.block, total.combine)
        return UOp(Op.STAGE, total.dtype, (few, within, groups, within), block)

    def at(self, node: UOp, place: UOp, rows: dict[UOp, UOp]) -> UOp:
        """A node with the column at `place` of the block."""
        position = self.first + place
        gates = {}
        if self.count * self.block > self.length:
            gates[self.column] = position.lt(self.length)
        replacements = {**self.outer, **rows, self.column: position, self.place: place}
        return replace_ranges(node, replacements, gates)
