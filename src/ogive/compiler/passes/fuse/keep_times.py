"""The time of a value that is kept in memory, and of one that each of its readers computes.

In goes a value with all its reads; each distinct one computes it anew, if it is not kept:

    a = tanh(x);  y[i] = a[i] + a[i + 1] + a[i + 2]

    again   3 hyperbolic tangents an element; x is read three times, twice from a near cache
    kept    1 of them; x is read and `a` written by one more kernel, and `a` is read as x was

Reads are distinct that differ in kernel, loops or place (`axis_relations.View`). Kernels of the
same elements which read a value at the place of each are one in the end (`merge_regions`), and
count as one. Where a read goes across the rows of memory, every value that it reads takes longer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, TRANSCENDENTAL, Op
from ogive.compiler.ir.shape import greatest
from ogive.compiler.passes.fuse.choice_round import Round
from ogive.compiler.passes.fuse.reads.axis_relations import View
from ogive.compiler.passes.fuse.reads.bit_sets import (
    NO_LOOP,
    Loops,
    all_below,
    greatest_member,
    is_single,
    members,
    reaches,
    single,
)
from ogive.compiler.passes.fuse.reads.kernel_drafts import KernelDraft, Read
from ogive.compiler.targets.estimates import memory_level, operation_time
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

MOST_NODES = 64
"""How many nodes are looked at of what a value is computed from: more are dear in any case."""


class InPlaceWork(NamedTuple):
    """The work of computing a value where it is read: nanoseconds a vector of elementary functions
    and of all else, and the values in memory that are read for it."""

    functions: float
    others: float
    leaves: tuple[UOp, ...]


def describe_in_place(node: UOp, this: Round) -> InPlaceWork:
    """The work of a value that is computed from what is kept or staged, each node once. Nodes that
    are read wherever this one is read are there in any case, and take nothing."""
    reads, assumed, target = this.reads, this.assumed, this.target
    count = max(_count(node), 1)
    times = {True: 0.0, False: 0.0}
    leaves: list[UOp] = []
    pending, seen = [(node, True)], {node}
    while pending and len(seen) <= MOST_NODES:
        each, is_read_alike = pending.pop()
        is_own = each is node
        if is_read_alike and not is_own and reads[each].includes(reads[node]):
            continue
        is_inside = is_own or not assumed.is_at_hand(each)
        if is_inside and (each.op in ELEMENTWISE or each.op in (*MOVEMENT, Op.GATHER)):
            if each.op not in MOVEMENT:
                share = min(_count(each) / count, 1)  # less of what is spread afterwards
                times[each.op in TRANSCENDENTAL] += share * operation_time(each, target)
            is_read_alike &= each.op in ELEMENTWISE
            below = [source for source in each.src if source not in seen]
            seen.update(below)
            pending.extend([(source, is_read_alike) for source in below])
        elif each in assumed.kept_set or each.op in (Op.PARAM, Op.CONTIGUOUS, Op.AFTER):
            leaves.append(each)
    return InPlaceWork(times[True], times[False], tuple(leaves))


def is_computed_again(node: UOp, views: Sequence[Read]) -> bool:
    """Whether some element of a value is asked for twice: by several reads, by windows that
    overlap, or in vain, by a kernel that pads it."""
    (kernel, view), *others = views
    if others:
        return True
    is_plain = view.bare == all_below(len(view.loops))
    return not is_plain and kernel.iterations(view.used) > _count(node)


def _asked_for(node: UOp, kernel: KernelDraft, view: View) -> int:
    """How many elements a read asks for, one that it asks for twice being two. What is padded is
    not asked for."""
    lengths = {loop: kernel.extents[loop] for loop in members(view.used)}
    for loops, size in zip(view.loops, node.shape, strict=True):
        if is_single(loops):
            loop = greatest_member(loops)
            lengths[loop] = min(lengths[loop], greatest(size))
    return math.prod(lengths.values())


def pays_to_keep(
    node: UOp, views: Sequence[Read], in_place: InPlaceWork, target: Target
) -> bool:
    """Whether a value that is read by `views` takes less time if it is kept in memory.

    A pass over memory, and the step that makes it, are certain; what is saved may be hidden behind
    other work. So it must be more than it seems by a share of what the passes take."""
    memory, fusion = target.costs.memory, target.costs.fusion
    size = node.dtype.itemsize
    count = max(_count(node), 1)
    lanes = target.vector_bytes / size
    sizes = [_count(leaf) * leaf.dtype.itemsize for leaf in in_place.leaves]
    # It shares a cache with what it is computed from, and with what its reader writes.
    own = memory_level(2 * count * size + sum(sizes), target)
    far = max([own, *[memory_level(nbytes, target) for nbytes in sizes]])
    read = sum([min(_count(leaf) / count, 1) * leaf.dtype.itemsize for leaf in in_place.leaves])
    passes = size / memory.kept_write[own] + size / memory.kept_read[own]
    once = (in_place.functions + in_place.others) / lanes + read / memory.kept_read[far]
    again, kept = 0.0, count * (once + size / memory.kept_write[own])
    for each in _distinct(node, views):
        transposed = memory.mixed_element if each.is_mixed else memory.transposed_element
        across = transposed if each.is_across else 0.0
        slower = memory.mixed_functions if each.is_mixed else 1.0
        level = 0 if each.is_near else far
        # Gates keep from loading what is padded, and not from computing functions of it.
        again += each.iterations * slower * in_place.functions / lanes
        again += each.asked * (in_place.others / lanes + read / memory.kept_read[level])
        again += each.asked * across * read / size
        level = 0 if each.is_near else own
        kept += each.asked * (size / memory.kept_read[level] + across)
    return again - kept > fusion.keep_gain * count * passes + memory.launch


class _Read(NamedTuple):
    """How many elements are `asked` for by one of several reads, in how many iterations; whether
    another one just before has brought their surroundings into a near cache; whether it goes across
    the rows of memory, and whether its kernel reads elements in both ways."""

    asked: int
    iterations: int
    is_near: bool
    is_across: bool
    is_mixed: bool


def _distinct(node: UOp, views: Sequence[Read]) -> list[_Read]:
    """The reads of different elements."""
    merged = _find_merged(views)
    unlike = {
        (merged[id(kernel)], view.loops, view.places): (kernel, view) for kernel, view in views
    }
    across: dict[int, set[bool]] = {}
    for kernel, view in unlike.values():
        across.setdefault(merged[id(kernel)], set()).add(is_transposed(kernel, view))
    distinct = []
    before: set[tuple[int, Loops]] = set()
    for kernel, view in unlike.values():
        # What goes through the outermost axis alike is near.
        rows = (merged[id(kernel)], next((loops for loops in view.loops if loops), NO_LOOP))
        is_across, is_mixed = is_transposed(kernel, view), len(across[merged[id(kernel)]]) > 1
        asked, iterations = _asked_for(node, kernel, view), kernel.iterations(view.used)
        distinct.append(_Read(asked, iterations, rows in before, is_across, is_mixed))
        before.add(rows)
    return distinct


def _find_merged(views: Sequence[Read]) -> dict[int, int]:
    """For each kernel that reads a value, by identity, the first of those that are merged with it:
    their elements are the same, and each of these reads the value at its own place.

        s = sum(x - d, 1);   q = sum((x - d)², 1)      one kernel, and d[i] is computed once
    """
    merged = {id(kernel): id(kernel) for kernel, _ in views}
    first: dict[tuple[int, ...], int] = {}
    for kernel, view in views:
        extents = kernel.extents[: kernel.output_count]
        own = [single(loop) for loop, extent in enumerate(extents) if extent != 1]
        if [loops for loops in view.loops if loops] == own and not any(view.places):
            # Row programs are merged with others of their kind.
            alike = (len(kernel.extents) > kernel.output_count, *extents)
            merged[id(kernel)] = first.setdefault(alike, id(kernel))
    return merged


def is_transposed(kernel: KernelDraft, view: View) -> bool:
    """Whether a read goes across the rows of a value: its last axis is gone through by an output
    loop that is not the innermost one."""
    along = next((loops for loops in reversed(view.loops) if loops), NO_LOOP)
    outputs = view.used & kernel.output_loops
    return bool(along and outputs) and not reaches(along, greatest_member(outputs))


def _count(node: UOp) -> int:
    return math.prod([greatest(length) for length in node.shape])

