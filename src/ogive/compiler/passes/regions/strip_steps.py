"""Steps that pass large values to each other do so one strip at a time.

In a chain, each step is the only reader of the value before. If strips of values are computed from
strips, only one strip of each value has to be in memory:

    before   p ← f(x);  q ← g(p);  y ← h(q)                             p and q as large as y
    after    p ← f(x)[0]; q ← g(p); y[0] ← h(q); p ← f(x)[1]; …         p and q a strip each

The pass that keeps a value says that it has strips along its first axis (`STRIPS`). The last value
of a chain is computed from them (`STRIPPED`); each of its strips is a number of its rows, counted
through all images. All strips share the kernels, which are launched with the number of the strip.

The parts of a strip, along its second axis, are padded by a cache line if they would otherwise map
to few sets of a cache, because one kernel writes all of them at once.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import STRIPPED, STRIPS, shaped, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import move, reshape, shrink_axis
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, as_length
from ogive.compiler.ir.symbolic.variable import OWN
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.passes.regions.cut_regions import Region
from ogive.compiler.passes.regions.number_slots import Schedule, Step
from ogive.compiler.passes.regions.slots import CallStep, CopyStep
from ogive.compiler.targets.target import CACHE_LINE, Target

AnyStep = Step | CopyStep | CallStep

NUMBER = f"{OWN}0"
"""The number of the strip, a variable of the compiler's own."""


def strip_steps(schedule: Schedule, target: Target) -> Schedule:
    """The steps, with those of a chain repeated strip after strip."""
    if not any(_hints(step) == STRIPS for step in schedule.steps):
        return schedule
    readers: dict[int, list[AnyStep]] = {}
    for step in schedule.steps:
        for slot in step.read:
            readers.setdefault(slot, []).append(step)
    slots = list(schedule.slots)
    turns: dict[int, list[Step]] = {}
    for step in schedule.steps:
        chain = [] if id(step) in turns else _chain_from(step, readers)
        interleaved = _take_turns(chain, target)
        if interleaved is None:
            continue
        turns |= {id(each): [] for each in chain[:-1]} | {id(chain[-1]): interleaved}
        for each in chain[:-1]:
            (slot,) = each.written
            parts, distance = _parts_of_strip(each.region.roots[0], target)
            slots[slot] = slots[slot]._replace(count=parts * distance)
    steps = [each for step in schedule.steps for each in turns.get(id(step), [step])]
    return schedule._replace(steps=tuple(steps), slots=tuple(slots))


def _hints(step: AnyStep) -> object:
    """The hints of the only value that a kernel computes."""
    roots = step.region.roots if isinstance(step, Step) else ()
    return roots[0].arg if len(roots) == 1 and roots[0].op is Op.CONTIGUOUS else None


def _chain_from(first: AnyStep, readers: dict[int, list[AnyStep]]) -> list[Step]:
    """The chain from a step to a `STRIPPED` value; empty if there is none."""
    chain: list[Step] = []
    step: AnyStep | None = first
    while isinstance(step, Step) and _hints(step) == STRIPS:
        chain.append(step)
        following = readers.get(step.slots[0], [])
        step = following[0] if len(following) == 1 else None
    if not chain or not isinstance(step, Step) or _hints(step) != STRIPPED:
        return []
    return [*chain, step]


def _take_turns(chain: Sequence[Step], target: Target) -> list[Step] | None:
    """The steps of a chain, strip after strip; None if one of them cannot be cut into strips."""
    if not chain:
        return None
    inside = {step.slots[0] for step in chain[:-1]}
    count = chain[0].region.roots[0].shape[0]
    strip: list[Step] = []
    for step in chain:
        region = _one_strip(step, count, inside, target)
        if region is None:
            return None
        strip.append(step._replace(region=region))
    return [
        step._replace(region=dataclasses.replace(step.region, fixed=((NUMBER, number),)))
        for number in range(count)
        for step in strip
    ]


def _one_strip(step: Step, count: int, inside: set[int], processor: Target) -> Region | None:
    """A region that computes one strip of its value, from strips of the chain's values."""
    region = step.region
    (root,) = region.roots
    (store,) = region.graph.src
    shape = root.shape
    if store.target is not _memory(0, root, shape) or region.fixed:
        return None
    number = UOp(Op.VARIABLE, dtypes.index, (), (NUMBER, 0, count - 1))
    target = _strip_of(_in_strips(store.target, count), number)
    replacements: dict[UOp, UOp] = {}
    for slot, value in enumerate(region.values):
        if step.slots[slot] not in inside:
            continue
        strip = _strip_memory(slot, value, processor)
        if value is root:
            target = strip
        else:
            around = number, as_length(count - 1 - number)
            widths = (around, *[(0, 0)] * (len(strip.shape) - 1))
            whole = move(Op.PAD, strip, (widths, value.dtype.canonical(0)))
            replacements[_memory(slot, value, value.shape)] = whole
    (value,) = substitute((store.src[1],), replacements)
    value = _strip_of(_in_strips(value, count), number)
    assignment = UOp(Op.ASSIGN, store.dtype, (target, value), store.arg, store.tag)
    graph = UOp(Op.SINK, dtypes.void, (assignment,))
    return dataclasses.replace(region, graph=graph, sources=region.sources | {assignment: root})


def _memory(slot: int, value: UOp, shape: Shape) -> UOp:
    """The view of a slot that stands for a value, or for a strip of it, in a region's graph."""
    return shaped(UOp(Op.PARAM, value.dtype, (), (slot, upper_count(shape))), shape)


def _strip_memory(slot: int, value: UOp, target: Target) -> UOp:
    """The view of a slot that holds a strip, in the shape of the strip."""
    parts, distance = _parts_of_strip(value, target)
    memory = _memory(slot, value, (parts, distance))
    length = math.prod(value.shape[2:])
    return reshape(shrink_axis(memory, 1, length), (1, *value.shape[1:]))


def _parts_of_strip(value: UOp, target: Target) -> tuple[int, int]:
    """The number of parts of a strip, and the distance of parts in elements."""
    _, parts, *rest = value.shape
    length, itemsize = math.prod(rest), value.dtype.itemsize
    is_apart = length * itemsize % target.costs.memory.few_sets_bytes
    return parts, length if is_apart else length + CACHE_LINE // itemsize


def _in_strips(value: UOp, count: int) -> UOp:
    """A value with its strips along the first axis."""
    first, second, *rest = value.shape
    return value if first == count else reshape(value, (count, first * second // count, *rest))


def _strip_of(value: UOp, number: UOp) -> UOp:
    first: tuple[Dim, Dim] = (number, as_length(number + 1))
    return move(Op.SHRINK, value, (first, *[(0, length) for length in value.shape[1:]]))
