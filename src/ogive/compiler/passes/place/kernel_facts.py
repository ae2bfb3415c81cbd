"""Facts about a kernel, from which its placement is chosen.

They are gathered from a loop graph without placements: its axes, its accesses along each axis, and
the loads that its reductions repeat. For a matrix product

    for r0 < 64, r1 < 32:   out[r0*32 + r1] = sum over r2 < 128 of a[r0*128 + r2] * b[r2*32 + r1]

the output axes are r0 and r1, the reduction axis is r2. Both outputs are reused axes: along r0, `b`
is read again and `a` is not; along r1, the reverse. So r0 is the row axis for column r1.
"""

from __future__ import annotations

import functools

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.passes.loops.accesses import MemoryAccess, memory_accesses
from ogive.compiler.passes.loops.kernel_axes import counters_together, output_axes, reduction_axes
from ogive.compiler.passes.place.staged_rows import StagedRows, find_rows
from ogive.compiler.targets.estimates import operation_cycles
from ogive.compiler.targets.target import Target
from ogive.named import record


@record
class KernelFacts:
    """The axes of a kernel, its accesses and costs along each, and properties of these."""

    root: UOp
    outputs: tuple[UOp, ...]
    reductions: tuple[UOp, ...]
    accesses: list[MemoryAccess]
    together: dict[UOp, set[UOp]]  # for each counter, those on which some value depends with it
    costs: dict[UOp, float]  # of the elementwise operations in each iteration of a counter
    scans: bool
    rows: StagedRows | None

    @classmethod
    def of(cls, root: UOp, target: Target) -> KernelFacts:
        """The facts of a loop graph that is compiled for `target`."""
        together: dict[UOp, set[UOp]] = {}
        costs: dict[UOp, float] = {}
        scans = False
        for node in root.walk():
            scans |= node.op is Op.SCAN
            if node.op in ELEMENTWISE and node.dtype.name != "index":
                for counter in node.ranges:
                    costs[counter] = costs.get(counter, 0) + operation_cycles(node, target)
            if node.op in (Op.LOAD, Op.STORE, Op.REDUCE) or node.op in ELEMENTWISE:
                used = counters_together(node)
                for counter in used:
                    together.setdefault(counter, set()).update(used)
        return cls(
            root,
            output_axes(root),
            reduction_axes(root),
            memory_accesses(root),
            together,
            costs,
            scans,
            find_rows(root, target),
        )

    @property
    def stores(self) -> list[MemoryAccess]:
        return [access for access in self.accesses if access.is_store]

    @property
    def loads(self) -> list[MemoryAccess]:
        return [access for access in self.accesses if not access.is_store]

    @functools.cached_property
    def common(self) -> frozenset[UOp]:
        """The output counters on which all reductions and staged values depend."""
        needed = [n.ranges for n in self.root.walk() if n.op in (Op.REDUCE, Op.STAGE)]
        return frozenset(self.outputs).intersection(*needed)

    @functools.cached_property
    def chain(self) -> int:
        """The length of the longest chain of operations, each of which needs the one before."""
        lengths: dict[UOp, int] = {}
        for node in self.root.walk():
            before = max([lengths[source] for source in node.src], default=0)
            is_counted = node.op in ELEMENTWISE and node.dtype.name != "index"
            lengths[node] = before + is_counted
        return lengths[self.root]

    @functools.cached_property
    def has_waiting_sums(self) -> bool:
        """Whether a reduction needs the result of another one, which all its terms share."""
        reductions = [node for node in self.root.walk() if node.op is Op.REDUCE]
        return len(reductions) > 1 and any(
            below.op is Op.REDUCE and below.ranges.isdisjoint(node.closed)
            for node in reductions
            for below in node.operand.backward_slice() | {node.operand}
        )

    @functools.cached_property
    def repeated_loads(self) -> list[tuple[UOp, list[MemoryAccess]]]:
        """Each reduction with the loads that depend on its counters."""
        repeated = []
        for node in self.root.walk():
            if node.op is Op.REDUCE:
                inside = node.operand.backward_slice() | {node.operand}
                loads = [
                    access
                    for access in self.accesses
                    if access.node in inside and any(access.depends_on(r) for r in node.closed)
                ]
                repeated.append((node, loads))
        return repeated

    @functools.cached_property
    def operands(self) -> list[MemoryAccess]:
        """The loads of all reductions."""
        return [access for _, loads in self.repeated_loads for access in loads]

    def operands_along(self, counter: UOp) -> list[MemoryAccess]:
        """The loads of all reductions that depend on a counter."""
        return [access for access in self.operands if access.depends_on(counter)]

    def distinct_operands_along(self, counter: UOp) -> list[MemoryAccess]:
        """The same, each load once, since a sum of sums repeats those of the inner sum."""
        return list({access.node: access for access in self.operands_along(counter)}.values())

    @functools.cached_property
    def reused_axes(self) -> list[UOp]:
        """Output axes along which a reduction reads one operand again but not another one."""
        return [
            counter
            for counter in self.outputs
            if any(
                counter in node.ranges and len({a.depends_on(counter) for a in loads}) == 2
                for node, loads in self.repeated_loads
            )
        ]

    @property
    def is_product(self) -> bool:
        """Whether a reduction reads its operands several times."""
        return self.rows is None and bool(self.reused_axes)

    def row_axes(self, column: UOp) -> list[UOp]:
        """Output axes along which the operands that depend on `column` are read again."""
        loads = self.operands_along(column)
        return [
            counter
            for counter in self.reused_axes
            if not any(access.depends_on(counter) for access in loads)
        ]

    def is_summed_beside(self, counter: UOp) -> bool:
        """Whether each value of an output counter has a reduction, as in a sum of columns."""
        return counter in self.outputs and any(
            counter in node.ranges for node, _ in self.repeated_loads
        )
