"""Subgraphs: `If`, `Loop` and `Scan`; sequences and optionals."""

from __future__ import annotations

from typing import Any

import numpy

from ogive.onnx.call import Call, to_tensor
from ogive.onnx.operators.shapes.movement import known_or_tensor, movable, shape_of
from ogive.onnx.table import Value, operator
from ogive.tensor.movement.joining import cat, stack
from ogive.tensor.tensor import Tensor


@operator("If")
def choose_branch(c: Call) -> Value:
    branch = "then_branch" if bool(c.number(0)) else "else_branch"
    return tuple(c.walk.run_inside(c.graph(branch), []))


@operator("Loop")
def loop(c: Call) -> Value:
    body = c.graph("body")
    limit = int(c.number(0)) if c.has(0) else None
    goes_on = bool(c.number(1)) if c.has(1) else True
    carried = list(c.values[2:])
    scanned: list[list[Value]] = [[] for _ in body.outputs[1 + len(carried) :]]
    step = 0
    while goes_on and (limit is None or step < limit):
        results = c.walk.run_inside(
            body, [numpy.array(step, numpy.int64), numpy.array(goes_on), *carried]
        )
        goes_on = bool(_elements(results[0]).reshape(-1)[0])
        carried = results[1 : 1 + len(carried)]
        for column, value in zip(scanned, results[1 + len(carried) :], strict=True):
            column.append(value)
        step += 1
    columns = [
        _stack_scanned(column, info)
        for column, info in zip(scanned, body.outputs[1 + len(carried) :], strict=True)
    ]
    return (*carried, *columns)


def _stack_scanned(column: list[Value], info: Any) -> Value:
    if column:
        return stack_values(column, 0)
    lengths = [size if isinstance(size, int) else 0 for size in info.shape or ()]
    return numpy.zeros([0, *lengths], info.dtype)


def _elements(value: Value) -> numpy.ndarray[Any, Any]:
    return value if isinstance(value, numpy.ndarray) else to_tensor(value).numpy()


def stack_values(values: list[Value], axis: int) -> Value:
    """Values one after the other along a new axis."""
    if all(isinstance(value, numpy.ndarray) for value in values):
        return numpy.stack(values, axis)
    return stack([to_tensor(value) for value in values], axis)


@operator("Scan", since=9)
def scan(c: Call) -> Value:
    body, count = c.graph("body"), c.get("num_scan_inputs")
    states = list(c.values[: len(c) - count])
    given = list(c.values[len(c) - count :])
    axes = c.get("scan_input_axes") or [0] * count
    turned = c.get("scan_input_directions") or [0] * count
    length = shape_of(given[0])[axes[0]]
    makes = len(body.outputs) - len(states)
    columns: list[list[Value]] = [[] for _ in range(makes)]
    for step in range(length):
        parts = [
            _part(value, axis, length - 1 - step if back else step)
            for value, axis, back in zip(given, axes, turned, strict=True)
        ]
        results = c.walk.run_inside(body, [*states, *parts])
        states = results[: len(states)]
        for column, value in zip(columns, results[len(states) :], strict=True):
            column.append(value)
    out_axes = c.get("scan_output_axes") or [0] * makes
    backward = c.get("scan_output_directions") or [0] * makes
    stacked = [
        stack_values(column[::-1] if back else column, axis)
        for column, axis, back in zip(columns, out_axes, backward, strict=True)
    ]
    return (*states, *stacked)


@operator("Scan", until=9)
def scan_in_batches(c: Call) -> Value:
    """The first form of Scan: over axis 1, a batch at a time."""
    body, count = c.graph("body"), c.get("num_scan_inputs")
    states, given = c.values[1 : len(c) - count], c.values[len(c) - count :]
    batches = []
    for batch in range(shape_of(given[0])[0]):
        own = [_part(value, 0, batch) for value in states]
        rows: list[list[Value]] = [[] for _ in body.outputs[len(own) :]]
        for step in range(shape_of(given[0])[1]):
            parts = [_part(_part(value, 0, batch), 0, step) for value in given]
            results = c.walk.run_inside(body, [*own, *parts])
            own = results[: len(own)]
            for row, value in zip(rows, results[len(own) :], strict=True):
                row.append(value)
        batches.append([*own, *[stack_values(row, 0) for row in rows]])
    return tuple(stack_values(list(column), 0) for column in zip(*batches, strict=True))


def _part(value: Value, axis: int, index: int) -> Value:
    if isinstance(value, numpy.ndarray):
        return numpy.take(value, index, axis)
    return to_tensor(value).select(axis, index)


# Sequences


@operator("SequenceEmpty")
def empty_sequence(c: Call) -> Value:
    return []


@operator("SequenceConstruct")
def make_sequence(c: Call) -> Value:
    return [known_or_tensor(value) for value in c.values]


@operator("SequenceAt")
def element_of_sequence(c: Call) -> Value:
    return c.values[0][int(c.number(1))]


@operator("SequenceLength")
def length_of_sequence(c: Call) -> Value:
    return numpy.array(len(c.values[0]), numpy.int64)


@operator("SequenceInsert")
def insert_into_sequence(c: Call) -> Value:
    sequence = list(c.values[0])
    sequence.insert(int(c.number(2)) if c.has(2) else len(sequence), known_or_tensor(c.values[1]))
    return sequence


@operator("SequenceErase")
def erase_from_sequence(c: Call) -> Value:
    sequence = list(c.values[0])
    del sequence[int(c.number(1)) if c.has(1) else -1]
    return sequence


@operator("SequenceMap")
def map_sequence(c: Call) -> Value:
    body = c.graph("body")
    rows = []
    for index, _ in enumerate(c.values[0]):
        given = [each[index] if isinstance(each, list) else each for each in c.values]
        rows.append(c.walk.run_inside(body, given))
    return tuple([list(column) for column in zip(*rows, strict=True)])


@operator("SplitToSequence")
def split_to_sequence(c: Call) -> Value:
    value, axis = movable(c), c.get("axis", 0)
    length = shape_of(value)[axis]
    if not c.has(1):
        parts = [_narrow(value, axis, place, 1) for place in range(length)]
        if c.flag("keepdims", 1):
            return parts
        return [_part(part, axis, 0) for part in parts]
    sizes = c.integers(1)
    if c.array(1).ndim == 0:
        sizes = [min(sizes[0], length - start) for start in range(0, length, sizes[0])]
    starts = [sum(sizes[:place]) for place in range(len(sizes))]
    return [_narrow(value, axis, start, size) for start, size in zip(starts, sizes, strict=True)]


def _narrow(value: Any, axis: int, start: int, size: int) -> Value:
    if isinstance(value, Tensor):
        return value.narrow(axis, start, size)
    return numpy.take(value, numpy.arange(start, start + size), axis)


@operator("ConcatFromSequence")
def concat_from_sequence(c: Call) -> Value:
    axis, parts = c.get("axis"), list(c.values[0])
    if c.flag("new_axis"):
        return stack_values(parts, axis)
    if all(isinstance(part, numpy.ndarray) for part in parts):
        return numpy.concatenate(parts, axis)
    return cat([to_tensor(part) for part in parts], axis)


# Optionals: a value, or None.


@operator("Optional")
def make_optional(c: Call) -> Value:
    return c.values[0] if len(c) else None


@operator("OptionalHasElement")
def optional_has_element(c: Call) -> Value:
    return numpy.array(c.has(0))


@operator("OptionalGetElement")
def element_of_optional(c: Call) -> Value:
    if not c.has(0):
        raise c.refuse("the optional has no value")
    return c.values[0]
