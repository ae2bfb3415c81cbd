"""The time of a schedule by the target's cost model: the sum over its kernels.

    time of a kernel = the longer of work and memory + a share of the shorter + the launch

- Work counts an element as often as it is computed. Below `EXPAND`, that is as often as it is read,
  and once for each loop of the kernel that reads it.
- Memory counts each value once that the kernel reads or writes, at the speed of the cache level
  that holds it.
- A value that follows from inputs alone is kept until they change. It costs the check whether they
  have changed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.named import NamedTuple
from ogive.search.graph.leaves import element_count
from ogive.targets.estimates import memory_level, operation_time
from ogive.targets.target import Target

_LOOPS = frozenset({Op.REDUCE_AXES, Op.STAGE_AXIS, Op.SORT, Op.SCAN_AXIS})
"""Ops that go through their operand in a loop of their own, before their readers are computed."""

BESIDE = 0.35
"""The share of the shorter one of work and memory that counts. The rest is hidden by the longer."""


class CutGraph(NamedTuple):
    """The kernels that a graph becomes, each as a graph.

    `kept` counts the values that kernels outside the schedule compute, once for many runs.
    """

    kernels: tuple[UOp, ...]
    kept: int


def schedule_time(cut: CutGraph, target: Target, known: dict[UOp, float]) -> float:
    """The nanoseconds that the kernels take on one thread, one after the other.

    `known` holds the times of kernels seen before, and is added to.
    """
    total = cut.kept * target.costs.packing.checked
    for kernel in cut.kernels:
        time = known.get(kernel)
        if time is None:
            time = known[kernel] = kernel_time(kernel, target)
        total += time
    return total


def kernel_time(kernel: UOp, target: Target) -> float:
    """The nanoseconds that a kernel takes on one thread."""
    work = kernel_work(kernel, target)
    memory = _memory(kernel, target)
    longer, shorter = max(work, memory), min(work, memory)
    return longer + BESIDE * shorter + target.costs.memory.launch


def kernel_work(kernel: UOp, target: Target) -> float:
    """The nanoseconds of a kernel's arithmetic. Each loop computes the values that it reads."""
    order = kernel.walk()
    sums = _values_of_sums(order)
    loops = _number_loops(order)
    # For each node: how many of its elements are computed, by loop.
    requests: dict[UOp, dict[int, int]] = {}
    total = 0.0
    for node in reversed(order):
        if node.op is Op.SINK:
            continue
        if node.op is Op.ASSIGN:
            _request(requests, node.value, {0: element_count(node.value)})
            continue
        counts = requests.get(node, {})
        if node in loops:
            counts = {loops[node]: max(counts.values(), default=0)}
        total += _node_time(node, sum(counts.values()), target)
        for number, source in enumerate(node.src):
            needed = {
                loop: _elements_needed(node, number, count, sums) for loop, count in counts.items()
            }
            _request(requests, source, needed)
    return total


def _number_loops(order: Sequence[UOp]) -> dict[UOp, int]:
    """The number of the loop that computes each value of `_LOOPS`, counted from 1.

    Values that follow from the same number of earlier loops share one. Loop 0 is the outer one,
    which stores the results.
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


def _request(requests: dict[UOp, dict[int, int]], node: UOp, needed: dict[int, int]) -> None:
    counts = requests.setdefault(node, {})
    for loop, count in needed.items():
        counts[loop] = max(counts.get(loop, 0), count)


def _elements_needed(node: UOp, number: int, count: int, sums: set[UOp]) -> int:
    """The number of elements of source `number` that `count` elements of a node need."""
    source = node.src[number]
    own = element_count(source)
    if node.op is Op.REDUCE_AXES:
        return count * (own // max(element_count(node), 1))
    if node.op is Op.STAGE_AXIS or node.op in (Op.SORT, Op.SCAN_AXIS):
        return own
    if node.op is Op.EXPAND:
        # A sum is computed once and held; other values are computed again at each read.
        return own if source in sums else count
    if node.op in MOVEMENT and number:
        return 0
    return min(count, own) if node.op is Op.PAD else count


def _values_of_sums(order: Sequence[UOp]) -> set[UOp]:
    """The sums of a kernel, and the values that it computes from them."""
    values: set[UOp] = set()
    for node in order:
        is_inside = node.op in ELEMENTWISE or node.op in MOVEMENT
        is_sum = node.op in (Op.REDUCE_AXES, Op.STAGE_AXIS)
        if is_sum or (is_inside and any(source in values for source in node.src)):
            values.add(node)
    return values


def _node_time(node: UOp, count: int, target: Target) -> float:
    """The nanoseconds to compute `count` elements of a node."""
    size = node.dtype.itemsize
    operations = target.costs.operations
    if node.op in ELEMENTWISE:
        return count * size / target.vector_bytes * operation_time(node, target)
    if node.op is Op.GATHER:
        return count * operation_time(node, target)
    if node.op is Op.REDUCE_AXES:
        terms = count * (element_count(node.operand) // max(element_count(node), 1))
        simple = operations.simple * operations.hidden_share * operations.cycle_nanoseconds
        return terms * size / target.vector_bytes * simple
    return 0.0


def _memory(kernel: UOp, target: Target) -> float:
    """The nanoseconds to read and write a kernel's buffers once."""
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

