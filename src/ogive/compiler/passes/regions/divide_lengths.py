"""Gives a step with tiles along symbolic lengths two kernels: one for short lengths, one for long.

    before   y ← f of n rows, 2 ≤ n ≤ 512
    after    y ← f of n rows, 16 ≤ n ≤ 512, if 15 < n;  y ← f of n rows, 2 ≤ n ≤ 15, if not

A register tile of a product has about a dozen rows, a vector about as many elements. If the length
is at least that, the last tile starts earlier, and reads and writes without gates. The kernel for
short lengths has smaller tiles. The launch whose condition does not hold has no tiles, so it takes
almost no time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import move
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.positions import conjoin, index_constant
from ogive.compiler.ir.shape import as_length, movement_argument, split_argument
from ogive.compiler.ir.symbolic.index_arithmetic import less, logical_not, symbolic_rules
from ogive.compiler.passes.regions.cut_regions import Region
from ogive.compiler.passes.regions.number_slots import Schedule, Step
from ogive.compiler.passes.regions.slots import CallStep, CopyStep
from ogive.compiler.targets.target import Target


def divide_lengths(schedule: Schedule, target: Target) -> Schedule:
    """The steps, with two in place of each product or line of symbolic length.

    One is for long lengths, the other for short ones.
    """
    if target.has_grid:
        return schedule
    whole = target.costs.tiles.whole
    steps: list[Step | CopyStep | CallStep] = []
    for step in schedule.steps:
        steps += _divided(step, whole) if isinstance(step, Step) else [step]
    return schedule._replace(steps=tuple(steps))


def _divided(step: Step, whole: int) -> list[Step]:
    nodes = step.region.graph.walk()
    fixed = dict(step.region.fixed)
    lengths = [
        node
        for node in nodes
        if node.op is Op.VARIABLE and node.name not in fixed and node.low < whole <= node.high
    ]
    if not lengths or not (any(map(_is_sum_of_products, nodes)) or _ends_in_variables(step)):
        return [step]
    is_long: UOp | None = None
    for length in lengths:
        is_long = conjoin(is_long, less(index_constant(whole - 1), length))
    assert is_long is not None
    long = {length: _within(length, whole, length.high) for length in lengths}
    short = {length: _within(length, length.low, whole - 1) for length in lengths}
    # With several lengths, the other kernel must serve long ones, too.
    others = short if len(lengths) == 1 else {}
    divided = [
        step._replace(region=_over(step.region, long), when=is_long),
        step._replace(region=_over(step.region, others), when=logical_not(is_long)),
    ]
    # Within the shorter bounds a value may have no elements at all.
    stores = [(each, each.region.graph.src[0].src) for each in divided]
    return [each for each, store in stores if all(0 not in part.shape for part in store)]


def _is_sum_of_products(node: UOp) -> bool:
    if node.op is not Op.REDUCE_AXES:
        return False
    term = node.operand
    while term.op is Op.CAST:
        term = term.operand
    return term.op is Op.MUL


def _ends_in_variables(step: Step) -> bool:
    """Whether a result has several lines of symbolic length, along which the vectors are."""
    shapes = [root.shape for root in step.region.roots]
    return any(len(shape) > 1 and not isinstance(shape[-1], int) for shape in shapes)


def _within(length: UOp, low: int, high: int) -> UOp:
    if low == high:
        return index_constant(low)
    return UOp(Op.VARIABLE, dtypes.index, (), (length.name, low, high))


def _over(region: Region, lengths: dict[UOp, UOp]) -> Region:
    """A region over other nodes for its lengths.

    Everything that depends on lengths is built again, since within other bounds it may be a number.
    """
    done: dict[UOp, UOp] = {}
    for node in region.graph.walk():
        sources = tuple([done[source] for source in node.src])
        if node in lengths:
            done[node] = lengths[node]
        elif sources == node.src:
            done[node] = node
        elif node.dtype is dtypes.index:
            done[node] = symbolic_rules.build(node.op, node.dtype, sources)
        elif node.op is Op.IOTA:
            stop, symbolic = split_argument(as_length(sources[0]))
            done[node] = UOp(Op.IOTA, node.dtype, symbolic, stop, node.tag)
        elif node.op in MOVEMENT and len(sources) > 1:
            argument = _with_lengths(movement_argument(node), done)
            done[node] = move(node.op, sources[0], argument)
        else:
            done[node] = node.with_sources(sources)
    sources_of = {done[node]: source for node, source in region.sources.items() if node in done}
    return dataclasses.replace(region, graph=done[region.graph], sources=sources_of)


def _with_lengths(argument: Any, done: Mapping[UOp, UOp]) -> Any:
    """The argument of a movement with its lengths replaced."""
    if isinstance(argument, tuple):
        return tuple([_with_lengths(part, done) for part in argument])
    return as_length(done[argument]) if isinstance(argument, UOp) else argument
