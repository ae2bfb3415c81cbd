"""Kernels under construction, and how each of them reads a value.

A read is a kernel with a `View` of the value. Kernels grow as values join them: a reduction opens
loops, a staged value opens the loop of its row.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field

from ogive.compiler.ir.memory import upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import common_shape, greatest
from ogive.compiler.passes.fuse.reads.axis_relations import View, identity_view, permuted_view
from ogive.compiler.passes.fuse.reads.bit_sets import Loops, all_below, members, single
from ogive.compiler.targets.target import Target
from ogive.named import record


@record
class KernelDraft:
    """A kernel under construction: its root, the loops opened so far, the output's first, and what
    is known of the work that has joined it."""

    root: UOp
    extents: list[int]
    output_count: int
    node_count: int = 0
    work: int = 0
    has_product: bool = False
    by_tensor_cores: bool = False
    directions: set[bool] = field(default_factory=set)
    """Whether reductions go along the rows of memory (`reduction_directions.py`), of those whose
    results its elements are made from."""
    rows: dict[Loops, Loops] = field(default_factory=dict)
    """The loops that stage a row, each a set of one, and with each the output loops around it."""
    scratch: int = 0
    """The bytes of all staged rows."""

    @property
    def is_ordered(self) -> bool:
        """Whether some of its loops are innermost and in order, whichever axes they are of."""
        is_scattered = self.root.op is Op.ASSIGN and bool(self.root.indices)
        return is_scattered or self.root.op in (Op.SCAN_AXIS, Op.ARRANGE)

    @property
    def output_loops(self) -> Loops:
        """The loops over the elements of the root."""
        return all_below(self.output_count)

    def open_loop(self, extent: int) -> Loops:
        """Add a loop, inside of all others; the set of it alone."""
        self.extents.append(extent)
        return single(len(self.extents) - 1)

    def iterations(self, loops: Loops) -> int:
        """How many iterations some loops have together."""
        return math.prod([self.extents[loop] for loop in members(loops)])

    def repeats(self, view: View) -> bool:
        """Whether a read stands in a loop of several iterations that it does not depend on."""
        return any(self.extents[loop] > 1 for loop in members(view.scope & ~view.used))


Read = tuple[KernelDraft, View]
"""A read of a value: a kernel, and how it sees the value."""


@record
class Reads:
    """The reads of one value that are known so far, each once, in the order they were found."""

    pairs: list[Read] = field(default_factory=list)
    _known: set[tuple[int, View]] = field(default_factory=set)

    @classmethod
    def of(cls, pairs: Iterable[Read]) -> Reads:
        """These reads."""
        reads = cls()
        for kernel, view in pairs:
            reads.add(kernel, view)
        return reads

    def add(self, kernel: KernelDraft, view: View) -> None:
        known = (id(kernel), view)
        if known not in self._known:
            self._known.add(known)
            self.pairs.append((kernel, view))

    def includes(self, other: Reads) -> bool:
        """Whether a value with these reads is read wherever one with `other` reads is."""
        return self._known >= other._known

    def by_kernel(self) -> list[Reads]:
        """The reads of each kernel by themselves."""
        parts: dict[int, Reads] = {}
        for kernel, view in self.pairs:
            parts.setdefault(id(kernel), Reads()).add(kernel, view)
        return list(parts.values())


def open_kernel(root: UOp, nest: tuple[int, ...] | None) -> Read:
    """A kernel that computes `root`, and how it does: along its axes, or those in another order."""
    stored = root.op is Op.ASSIGN and root.indices
    shape = common_shape(root.src[1:]) if stored else root.shape
    if root.op is Op.ARRANGE:
        shape = root.operand.shape
    kernel = KernelDraft(root, [greatest(size) for size in shape], len(shape))
    kernel.work = math.prod(kernel.extents)
    if nest is None:
        return kernel, identity_view(kernel.extents)
    kernel.extents = [kernel.extents[axis] for axis in nest]
    return kernel, permuted_view(identity_view(kernel.extents), nest)


def open_row(node: UOp, reads: Reads, axis: int) -> Read:
    """How a staged value is computed: along a new loop, for the output loops it varies with."""
    kernel, view = reads.pairs[0]
    loop = kernel.open_loop(greatest(node.shape[axis]))
    around = view.used & ~view.loops[axis]
    kernel.rows[loop] = around
    kernel.scratch += row_bytes(node, axis)
    return kernel, view.along(axis, loop, scope=around | loop)


def row_bytes(node: UOp, axis: int) -> int:
    """How much a value takes along one of its axes."""
    return greatest(node.shape[axis]) * node.dtype.itemsize


def is_large_product(node: UOp, target: Target) -> bool:
    """Whether a reduction is a product of the kind whose sums are made in a register tile."""
    (product,) = node.src
    return (
        node.combine is Op.ADD
        and product.op is Op.MUL
        and all(factor.op is Op.EXPAND for factor in product.src)
        and upper_count(product.shape) >= target.costs.fusion.large_product
    )
