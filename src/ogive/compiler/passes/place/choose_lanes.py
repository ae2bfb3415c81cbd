"""The choice of axes that go into lanes, elements of one vector register, and their lane counts.

It takes the facts of a kernel and gives the number of lanes by counter. The axes with the best
scores are chosen first. No value may depend on two axes in lanes.

    out[r0*64 + r1] = sum over r2 of a[r0*128 + r2] * b[r2*64 + r1]

Lanes along r1 load `b` and store `out` as whole vectors and broadcast elements of `a`. Lanes along
r2 would gather `b` and need a lane reduction at the end; lanes along r0 would gather `a`. So
64-byte vectors of float32 have 16 lanes of r1.

The score of an axis is, in a product, the share of time spent on multiply-adds, and in other
kernels how contiguous the accesses are along it.
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.passes.loops.accesses import MemoryAccess
from ogive.compiler.passes.loops.kernel_axes import axis_extent
from ogive.compiler.passes.place.kernel_facts import KernelFacts
from ogive.compiler.passes.place.tiles.movement_tiles import gap_axis, rows_to_transpose
from ogive.compiler.targets.estimates import lane_use, whole_vectors
from ogive.compiler.targets.target import Target


def choose_lanes(kernel: KernelFacts, target: Target) -> dict[UOp, int]:
    """The number of lanes of each axis that goes into lanes."""
    counters = (*kernel.outputs, *kernel.reductions)
    counts = _lane_counts(kernel, counters, target)
    multiplied = {c for c in counters if kernel.is_product and _is_multiplied(c, kernel)}
    scores = {
        counter: (
            _product_score(counter, kernel, counts[counter], target)
            if counter in multiplied
            else _access_score(counter, kernel, target)
            * _use(counter, kernel, counts[counter], target)
        )
        for counter in counters
    }
    chosen: dict[UOp, int] = {}
    # Axes of a product come first: their scores are shares, and do not compare with the others.
    for counter in sorted(scores, key=lambda c: (c not in multiplied, -scores[c], c.number)):
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
    costs = target.costs.lanes
    transposed = rows_to_transpose(kernel, chosen)
    if transposed is not None and axis_extent(transposed) > costs.picked_rows:
        return {counter: min(lanes, costs.transposed_rows) for counter, lanes in chosen.items()}
    return chosen


def _is_multiplied(counter: UOp, kernel: KernelFacts) -> bool:
    """Whether a counter belongs to the product itself, not to operations on its results."""
    return counter in kernel.reductions or kernel.is_summed_beside(counter)


def _lane_counts(
    kernel: KernelFacts, counters: tuple[UOp, ...], target: Target
) -> dict[UOp, int]:
    """For each axis, the number of elements of the widest dtype that fill a register.

    Some values do not count: those that do not change at all, such as the key of a random draw;
    positions loaded from memory, along an axis on which they do not depend; and results of
    reductions that are wider than their operands.
    """
    moving = [access for access in kernel.accesses if access.strides or access.irregular]
    positions = {
        node
        for access in kernel.accesses
        for node in access.index.offset.backward_slice()
        if node.op is Op.LOAD
    }
    counts = {}
    for counter in counters:
        widths = [
            access.index.dtype.itemsize
            for access in moving or kernel.accesses
            if access.node not in positions or access.depends_on(counter)
        ]
        width = max(widths, default=4)
        reduced = [node for node, _ in kernel.repeated_loads if counter in node.closed]
        if reduced:
            read = [access.index.dtype for access in moving if access.depends_on(counter)]
            sizes = [dtype.itemsize for dtype in (*read, *[node.dtype for node in reduced])]
            width = min(width, max(sizes))
        counts[counter] = max(target.vector_bytes // width, 2)
    return counts


def _product_score(counter: UOp, kernel: KernelFacts, lanes: int, target: Target) -> float:
    """The share of time that all lanes multiply and add if `counter` is in lanes.

    0 if no operand is contiguous along it.
    """
    if not any(access.strides.get(counter) == 1 for access in kernel.operands):
        return 0.0
    costs = target.costs
    operations = costs.operations
    extents = [axis_extent(c) for c in (*kernel.outputs, *kernel.reductions)]
    results = math.prod(axis_extent(c) for c in kernel.outputs)
    products = math.prod(extents)
    cost = products / axis_extent(counter) * whole_vectors(axis_extent(counter), lanes, target)
    for access in kernel.operands_along(counter):
        if access.strides.get(counter) != 1:
            most = costs.accesses.picked_stride
            near = abs(access.strides.get(counter, most + 1)) <= most
            lane = costs.lanes.near_lane if near else costs.lanes.far_lane
            cost += products / costs.lanes.reuse * lane
    if counter in kernel.reductions:
        return products / lanes / (cost + results * operations.lane_reduction)
    if any(store.strides.get(counter) != 1 for store in kernel.stores):
        cost += results * operations.transposed_store
    return products / lanes / cost


def _use(counter: UOp, kernel: KernelFacts, lanes: int, target: Target) -> float:
    """The share of lanes in use, times the share of time that is not spent on lane reductions.

    Lane reductions do not count in kernels with staged rows, which make many of them at a time.
    """
    extent = axis_extent(counter)
    if kernel.rows is not None or counter not in kernel.reductions:
        return lane_use(extent, lanes, target)
    vectors = -(-extent // lanes)
    combined = target.costs.operations.lane_reduction
    return lane_use(extent, lanes, target) * vectors / (vectors + combined)


def _access_score(counter: UOp, kernel: KernelFacts, target: Target) -> float:
    """How well the accesses suit lanes along `counter`.

    Contiguous accesses are good, small strides of loads and transposed tiles acceptable, large
    strides bad. A gather takes as long as loading its elements one by one, but the computation
    between gathers gains from lanes.
    """
    costs = target.costs
    score, gathered = 0.0, 0.0
    for access in kernel.accesses:
        is_repeated = any(access.depends_on(r) for r in kernel.reductions)
        weight = 1.5 if access.is_store else 4.0 if is_repeated else 1.0
        if counter in access.irregular and not access.is_store:
            gathered += 2 * weight
        elif counter in access.irregular:
            score -= 2 * weight
        elif counter in access.strides:
            stride = access.strides[counter]
            near = abs(stride) <= costs.accesses.picked_stride
            if access.is_store:
                near = near and gap_axis(kernel, access, stride, target) is not None
            elif not kernel.reductions:
                near = near or _is_transposed(kernel, access, target)
            score += (3 if stride == 1 else 1 if near else -2) * weight
        elif _is_broadcast(counter, kernel, access):
            score += 3 * weight  # a broadcast takes no longer than a vector load
    hidden = kernel.costs.get(counter, 0) / costs.lanes.work_between_gathers
    return score - max(gathered - hidden, 0.0)


def _is_broadcast(counter: UOp, kernel: KernelFacts, load: MemoryAccess) -> bool:
    """Whether a load is broadcast: the reductions for all values of `counter` share it."""
    return (
        kernel.rows is None
        and counter in kernel.outputs
        and any(counter in node.ranges and load in loads for node, loads in kernel.repeated_loads)
    )


def _is_transposed(kernel: KernelFacts, load: MemoryAccess, target: Target) -> bool:
    """Whether a load is contiguous along an output axis long enough for a transposed tile."""
    picked = target.costs.lanes.picked_rows
    return any(load.strides.get(c) == 1 and axis_extent(c) > picked for c in kernel.outputs)
