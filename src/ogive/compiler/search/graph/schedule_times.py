"""The time of a schedule by the target's cost model: the sum of the times of its kernels.

    a kernel   the longer of its work and its memory time, a share of the other, and the launch

Work counts an element as often as it is computed: below `EXPAND` as often as it is read, and once
for each loop of the kernel that reads it. Sums whose terms are in lanes, and what follows from
them, are computed one by one. Memory time counts each value that a kernel reads or writes once, at
the speed of the level that holds it. A kept value of inputs alone costs only the check that they
have not changed.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.ir.shape import greatest
from ogive.compiler.search.graph.leaves import element_count
from ogive.compiler.search.graph.rules.labelled import (
    Labelled,
    below_movement,
    find_product,
    name_axes,
)
from ogive.compiler.targets.estimates import DIVIDING, addition_time, memory_level, work_time
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

_LOOPS = frozenset({Op.REDUCE_AXES, Op.STAGE_AXIS, Op.SORT, Op.SCAN_AXIS})
"""Ops that need a whole loop over their operand before their result is available."""

_SUMMED = "terms"
"""The mark of the names of summed axes."""

BESIDE = 0.35
"""The share of the shorter one of work and memory time that counts, or of divisions and other work.
The rest is hidden."""


class CutGraph(NamedTuple):
    """The kernels of each run of a graph, and the number of values that are kept for many runs."""

    kernels: tuple[UOp, ...]
    kept: int


def schedule_time(cut: CutGraph, target: Target, known: dict[UOp, float]) -> float:
    """The nanoseconds of the kernels in sequence, on one thread.

    `known` caches the times of kernels.
    """
    total = cut.kept * target.costs.packing.checked
    for kernel in cut.kernels:
        time = known.get(kernel)
        if time is None:
            time = known[kernel] = kernel_time(kernel, target)
        total += time
    return total


def kernel_time(kernel: UOp, target: Target) -> float:
    """The nanoseconds of a kernel on one thread."""
    time = _beside(kernel_work(kernel, target), _memory(kernel, target))
    return time + target.costs.memory.launch


def kernel_work(kernel: UOp, target: Target) -> float:
    """The nanoseconds of arithmetic. A value is computed once in each loop that reads it.

    The divider works beside all else.
    """
    order = kernel.walk()
    sums = _hold_sums(order)
    loops = _find_loops(order)
    singles = _hold_singles(order, target)
    asked: dict[UOp, dict[int, int]] = {}
    times = {True: 0.0, False: 0.0}
    for node in reversed(order):
        if node.op is Op.SINK:
            continue
        if node.op is Op.ASSIGN:
            _ask(asked, node.value, {0: element_count(node.value)})
            continue
        counts = asked.get(node, {})
        if node in loops:
            counts = {loops[node]: max(counts.values(), default=0)}
        lanes = 1 if node in singles else target.vector_bytes // max(node.dtype.itemsize, 1)
        times[node.op in DIVIDING] += _node_time(node, sum(counts.values()), lanes, target)
        for number, source in enumerate(node.src):
            wanted = {
                loop: _asked_of(node, number, count, sums) for loop, count in counts.items()
            }
            _ask(asked, source, wanted)
    return _beside(*times.values())


def _beside(one: float, other: float) -> float:
    """The time of two things that are done at the same time."""
    return max(one, other) + BESIDE * min(one, other)


def _find_loops(order: Sequence[UOp]) -> dict[UOp, int]:
    """The number of the loop of each value that has one, which values of equal depth share.

    The depth is the number of such values below. Stored values are computed in loop 0.
    """
    depths: dict[UOp, int] = {}
    loops: dict[UOp, int] = {}
    for node in order:
        depth = max([depths[source] for source in node.src], default=0)
        if node.op in _LOOPS:
            depth += 1
            loops[node] = depth
        depths[node] = depth
    return loops


def _ask(asked: dict[UOp, dict[int, int]], node: UOp, wanted: dict[int, int]) -> None:
    counts = asked.setdefault(node, {})
    for loop, count in wanted.items():
        counts[loop] = max(counts.get(loop, 0), count)


def _asked_of(node: UOp, number: int, count: int, sums: set[UOp]) -> int:
    """The number of elements of a source that are computed for `count` elements of a node."""
    source = node.src[number]
    own = element_count(source)
    if node.op is Op.REDUCE_AXES:
        return count * (own // max(element_count(node), 1))
    if node.op is Op.STAGE_AXIS or node.op in (Op.SORT, Op.SCAN_AXIS):
        return own
    if node.op is Op.EXPAND:
        # Sums are computed once; other values are recomputed where they are read.
        return own if source in sums else count
    if node.op in MOVEMENT and number:
        return 0
    return min(count, own) if node.op is Op.PAD else count


def _hold_sums(order: Sequence[UOp]) -> set[UOp]:
    """The values computed from results of reductions in the same kernel."""
    values: set[UOp] = set()
    for node in order:
        is_inside = node.op in ELEMENTWISE or node.op in MOVEMENT
        is_sum = node.op in (Op.REDUCE_AXES, Op.STAGE_AXIS)
        if is_sum or (is_inside and any(source in values for source in node.src)):
            values.add(node)
    return values


def _hold_singles(order: Sequence[UOp], target: Target) -> set[UOp]:
    """The values that a kernel computes one by one: those that follow from sums whose terms are in
    lanes, until they are expanded. The sums themselves are among them."""
    found: set[UOp] = set()
    following = (ELEMENTWISE | MOVEMENT) - {Op.EXPAND}
    for node in order:
        if node.op is Op.REDUCE_AXES:
            is_single = _has_terms_in_lanes(node, target)
        else:
            is_single = node.op in following and any(source in found for source in node.src)
        if is_single:
            found.add(node)
    return found


def _node_time(node: UOp, count: int, lanes: int, target: Target) -> float:
    """The nanoseconds of so many elements of a node, computed `lanes` at a time."""
    if node.op in ELEMENTWISE:
        return count / lanes * work_time(node, target)
    if node.op is Op.GATHER:
        return count * work_time(node, target)
    if node.op is Op.REDUCE_AXES:
        terms = count * (element_count(node.operand) // max(element_count(node), 1))
        added = terms * node.dtype.itemsize / target.vector_bytes * addition_time(target)
        operations = target.costs.operations
        waiting = operations.waiting_lanes * operations.cycle_nanoseconds
        return added + count * waiting * (lanes == 1)
    if node.op is Op.STAGE_AXIS:
        memory = target.costs.memory
        return count * node.dtype.itemsize * (1 / memory.kept_write[0] + 1 / memory.kept_read[0])
    return 0.0


def _has_terms_in_lanes(node: UOp, target: Target) -> bool:
    """Whether the lanes of a reduction are along its terms, and have to be added up in the end: no
    operand lies in memory along results that fill a vector."""
    product = find_product(name_axes(node), _SUMMED)
    if product is not None:
        operands, summed = [product.left, product.right], product.summed
    else:
        operands = [name_axes(node.operand)]
        summed = frozenset(node.axes)
    for operand in operands:
        name = _contiguous_name(below_movement(operand))
        size = operand.lengths.get(name, 1) * node.dtype.itemsize
        if name not in summed and size >= target.vector_bytes:
            return False
    return True


def _contiguous_name(value: Labelled) -> Hashable | None:
    """The name of the axis along which a value lies in memory; of a panel, the merged one."""
    node, names = value
    inner = 1
    if node.op is Op.RESHAPE and node.operand.op is Op.PERMUTE:
        moved = node.operand
        place = moved.order.index(len(moved.order) - 1)
        inner = math.prod([greatest(length) for length in moved.shape[place + 1 :]])
    for name, length in zip(reversed(names), reversed(node.shape), strict=True):
        if inner < greatest(length):
            return name
        inner //= greatest(length)
    return None


def _memory(kernel: UOp, target: Target) -> float:
    memory = target.costs.memory
    written = {_slot(store.target) for store in kernel.src}
    total = 0.0
    for node in kernel.walk():
        if node.op is not Op.PARAM:
            continue
        nbytes = node.size * node.dtype.itemsize
        rates = memory.kept_write if node.slot in written else memory.kept_read
        total += nbytes / rates[memory_level(nbytes, target)]
    return total


def _slot(target: UOp) -> int:
    while target.op is not Op.PARAM:
        target = target.src[0]
    return int(target.slot)

