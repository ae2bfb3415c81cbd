"""Evaluation of a region, one op at a time, which defines the meaning of the language.

    SINK(STORE(RESHAPE(PARAM 0), ADD(RESHAPE(PARAM 1), CONST 1)))

The value of each node is computed from the values of its sources by the tables of `ir/meaning`, and
rounded to its dtype (`number_formats.py` says which arrays hold values). Then all stores write at
once.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy

from ogive.compiler.devices.protocol import KernelFault
from ogive.compiler.devices.reference.wanted_elements import wanted_elements
from ogive.compiler.ir.meaning.array_functions import (
    MOVEMENT_FUNCTIONS,
    arrange,
    count_places,
    filled,
    filled_pads,
    gather,
    move_places,
    outside,
    reduce_axes,
    scan,
)
from ogive.compiler.ir.meaning.element_functions import (
    COMBINING,
    ELEMENT_FUNCTIONS,
    FLOAT_FUNCTIONS,
    INTEGER_FUNCTIONS,
    dot,
)
from ogive.compiler.ir.meaning.number_formats import Array, bitcast, cast, held, rounded
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.passes.graph.fault_checks import can_fault, indices_of


def evaluate_region(
    region: UOp, memory: Mapping[int, Array], variables: Mapping[str, int]
) -> list[tuple[Any, ...]]:
    """Evaluate a region on flat arrays, `memory[slot]` for each `PARAM`.

    Returns the calls of C functions that write the results. Raises `KernelFault` with the number of
    the op that failed, among the ops of the region that can.
    """
    with numpy.errstate(all="ignore"):
        evaluation = _Evaluation(region, memory, variables)
        fault = evaluation.find_fault()
        if fault is not None:
            raise KernelFault(fault)
        return [evaluation.write(store) for store in region.src]


class _Evaluation:
    """The values of a region's nodes, and the elements at which a node went wrong.

    A value that nothing needs any more is dropped, unless it may be needed to explain a fault.
    """

    def __init__(
        self, region: UOp, memory: Mapping[int, Array], variables: Mapping[str, int]
    ) -> None:
        self.region = region
        self.memory = memory
        self.variables = variables
        self.values: dict[UOp, Array] = {}
        self.arguments: dict[UOp, Any] = {}
        self.wrong: dict[UOp, Array] = {}  # at which elements a node divides by zero, or reads
        order = region.walk()
        readers = Counter([source for node in order for source in node.src])
        can_stop = any(can_fault(node) for node in order)
        for node in order:
            if node.op in MOVEMENT:
                self.arguments[node] = self.argument_of(node)
            if node.op not in (Op.SINK, Op.ASSIGN):
                sources = [self.values[source] for source in node.src]
                value = FUNCTIONS[node.op](self, node, sources)
                self.values[node] = rounded(numpy.asarray(value), node.dtype)
                readers.subtract(node.src)
                for source in set(node.src):
                    if not readers[source] and not can_stop:
                        del self.values[source]
            elif can_fault(node):
                self.note_outside(node)

    def argument_of(self, node: UOp) -> Any:
        """The argument of a movement, with the lengths of this run."""
        lengths = [int(self.values[source]) for source in node.src[1:]]
        if node.op is Op.PAD:
            pads, fill = filled_pads(node.arg, lengths)
            return pads, node.dtype.canonical(fill)
        return filled(node.arg, lengths)

    def note_outside(self, node: UOp) -> Array:
        """The elements of a node whose indices are outside the shape of its operand."""
        shape = self.values[node.src[0]].shape
        self.wrong[node] = outside(shape, [self.values[i] for i in indices_of(node)])
        return self.wrong[node]

    def find_fault(self) -> int | None:
        """The number of the first op that failed at an element that a store needs, or None."""
        if not any(wrong.any() for wrong in self.wrong.values()):
            return None
        wanted_masks = wanted_elements(self.region, self.values, self.arguments)
        sites = [node for node in self.region.walk() if can_fault(node)]
        for site, node in enumerate(sites):
            if node.op is Op.ASSIGN:
                failed = self.wrong[node].any()
            else:
                failed = (self.wrong[node] & wanted_masks.get(node, numpy.False_)).any()
            if failed:
                return site
        return None

    def write(self, store: UOp) -> tuple[Any, ...]:
        """The call that writes, or combines, a value into its target, at indices if it has any."""
        memory, places = self.places_of(store.target)
        value, dtype = self.values[store.value], store.value.dtype
        if store.indices:
            places = places[tuple([self.values[index] for index in store.indices])]
        if store.combine is None:
            return operator.setitem, memory, places, value.astype(memory.dtype)
        combined = held(memory, dtype)
        COMBINING[store.combine].at(combined, places, value)
        value = rounded(combined, dtype)[places]
        return operator.setitem, memory, places, value.astype(memory.dtype)

    def places_of(self, target: UOp) -> tuple[Array, Array]:
        """The memory of a store's target, and the place of each of its elements there."""
        moves = []
        while target.op is not Op.PARAM:
            moves.append(target)
            target = target.operand
        memory = self.memory[target.slot]
        places = count_places(memory.shape)
        for node in reversed(moves):
            places = move_places(node.op, places, self.arguments[node])
        return memory, places


Evaluate = Callable[[_Evaluation, UOp, list[Array]], Any]
"""The value of a node, given those of its sources."""


def _variable(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return numpy.int64(run.variables[node.name])


def _parameter(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return held(run.memory[node.slot], node.dtype)


def _constant(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return held(numpy.asarray(node.literal, node.dtype.numpy), node.dtype)


def _iota(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    stop = int(sources[0]) if node.stop is None else node.stop
    return held(numpy.arange(stop), node.dtype)


def _move(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return MOVEMENT_FUNCTIONS[node.op](sources[0], run.arguments[node])


def _elementwise(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return ELEMENT_FUNCTIONS[node.op](*sources)


def _arithmetic(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    """An operation that differs for integers. A zero divisor is recorded, and replaced by 1."""
    if node.dtype.is_float:
        return FLOAT_FUNCTIONS[node.op](*sources)
    x, y = sources
    if can_fault(node):
        run.wrong[node] = y == 0
        y = numpy.where(y == 0, 1, y).astype(y.dtype)
    return INTEGER_FUNCTIONS[node.op](x, y)


def _cast(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return cast(sources[0], node.operand.dtype, node.dtype)


def _bitcast(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return bitcast(sources[0], node.operand.dtype, node.dtype)


def _dot(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return dot(sources[0], sources[1], (node.left_dtype, node.right_dtype))


def _reduce_axes(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return reduce_axes(sources[0], node.combine, node.axes, node.dtype)


def _scan(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    """Running totals, computed in the dtype of the operand and then cast to that of the node."""
    inner = node.operand.dtype
    initial = sources[1] if len(sources) > 1 else None
    running = scan(sources[0], initial, node.combine, node.axis)
    return cast(rounded(running, inner), inner, node.dtype)


def _sort(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return numpy.sort(sources[0], axis=-1)


def _gather(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    """Elements by positions. One that is outside is recorded, and replaced by position 0."""
    x, *indices = sources
    if can_fault(node):
        wrong = run.note_outside(node)
        indices = [numpy.where(wrong, 0, index) for index in indices]
    return gather(x, indices)


def _arrange(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return arrange(*sources)


def _stage(run: _Evaluation, node: UOp, sources: list[Array]) -> Any:
    return sources[0]


FUNCTIONS: dict[Op, Evaluate] = {
    Op.CONST: _constant,
    Op.VARIABLE: _variable,
    Op.PARAM: _parameter,
    Op.IOTA: _iota,
    **dict.fromkeys(MOVEMENT_FUNCTIONS, _move),
    **dict.fromkeys(ELEMENT_FUNCTIONS, _elementwise),
    **dict.fromkeys(FLOAT_FUNCTIONS, _arithmetic),
    Op.CAST: _cast,
    Op.BITCAST: _bitcast,
    Op.DOT: _dot,
    Op.REDUCE_AXES: _reduce_axes,
    Op.SCAN_AXIS: _scan,
    Op.SORT: _sort,
    Op.GATHER: _gather,
    Op.ARRANGE: _arrange,
    Op.STAGE_AXIS: _stage,
}
