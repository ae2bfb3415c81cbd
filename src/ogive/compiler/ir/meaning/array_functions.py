"""The meaning of ops on whole arrays: movement, reductions, scans, gathers, arrangements.

A movement function takes an array and the op's argument with all its lengths filled in. The same
functions also move an array of *places*, the numbers of elements, to find where the target of a
store lies in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.identity import identity_element
from ogive.compiler.ir.meaning.element_functions import COMBINING
from ogive.compiler.ir.meaning.number_formats import Array
from ogive.compiler.ir.ops import Op

# Movement


def pad(x: Array, argument: Any) -> Array:
    """x with (before, after) more elements along each axis, all equal to the fill value."""
    pads, fill = argument
    return numpy.pad(x, pads, constant_values=fill)


def shrink(x: Array, argument: Any) -> Array:
    """The elements from `begin` to `end` along each axis."""
    return x[tuple([slice(begin, end) for begin, end in argument])]


MOVEMENT_FUNCTIONS: dict[Op, Callable[[Array, Any], Array]] = {
    Op.RESHAPE: numpy.reshape,
    Op.PERMUTE: numpy.transpose,
    Op.EXPAND: numpy.broadcast_to,
    Op.PAD: pad,
    Op.SHRINK: shrink,
    Op.FLIP: numpy.flip,
}


def filled(argument: Any, lengths: Sequence[int]) -> Any:
    """The argument of a movement, with the next of `lengths` in place of each None."""
    remaining = iter(lengths)

    def fill(entry: Any) -> Any:
        return next(remaining) if entry is None else entry

    return tuple(
        [
            tuple(map(fill, entry)) if isinstance(entry, tuple) else fill(entry)
            for entry in argument
        ]
    )


def filled_pads(argument: Any, lengths: Sequence[int]) -> Any:
    """The argument of a PAD with its lengths: `((before, after) per axis, fill value)`."""
    return filled(argument[0], lengths), argument[1]


NOWHERE = -1
"""The place of the elements that padding adds."""


def move_places(op: Op, places: Array, argument: Any) -> Array:
    """The places of a movement's elements, given those of its source."""
    if op is Op.PAD:
        argument = (argument[0], NOWHERE)
    return MOVEMENT_FUNCTIONS[op](places, argument)


def count_places(shape: tuple[int, ...]) -> Array:
    """The numbers of the elements of `shape`, in row-major order."""
    return numpy.arange(int(numpy.prod(shape, dtype=numpy.int64))).reshape(shape)


# Whole axes


def reduce_axes(x: Array, op: Op, axes: tuple[int, ...], dtype: DType) -> Array:
    """x reduced over `axes`, which stay with length 1; over no elements, `op`'s identity."""
    start = identity_element(op, dtype)
    return numpy.asarray(
        COMBINING[op].reduce(x, axis=axes, dtype=x.dtype, keepdims=True, initial=start)
    )


def scan(x: Array, initial: Array | None, op: Op, axis: int) -> Array:
    """The running totals of x along an axis, starting from `initial` if there is one."""
    if initial is None:
        return numpy.asarray(COMBINING[op].accumulate(x, axis, dtype=x.dtype))
    start = initial.astype(x.dtype)
    running = COMBINING[op].accumulate(numpy.concatenate([start, x], axis), axis, dtype=x.dtype)
    return numpy.delete(running, 0, axis)


def gather(x: Array, indices: Sequence[Array]) -> Array:
    """The elements of x at positions within it, one array of indices for each axis.

    An x without elements gives zeros.
    """
    if not x.size:
        return numpy.zeros(numpy.broadcast(*indices).shape, x.dtype)
    return numpy.asarray(x[tuple(indices)])


def outside(shape: tuple[int, ...], indices: Sequence[Array]) -> Array:
    """For each position, whether it lies outside `shape`."""
    wrong = [(i < 0) | (i >= length) for i, length in zip(indices, shape, strict=True)]
    return numpy.asarray(numpy.logical_or.reduce(numpy.broadcast_arrays(*wrong)))


def arrange(x: Array, starts: Array, group: Array) -> Array:
    """The elements of x moved to the places of their groups, in the order of x within each group.

    x and `group` are (..., chunks, length). For each chunk, `starts` (..., chunks, groups) has the
    place at which its part of each group begins.
    """
    *lines, chunks, length = x.shape
    rows = chunks * int(numpy.prod(lines, dtype=numpy.int64))
    elements, groups = x.reshape(rows, length), group.reshape(rows, length)
    places = starts.astype(numpy.int64).reshape(rows, -1)
    result = numpy.zeros((rows // max(chunks, 1), chunks * length), x.dtype)
    row = numpy.arange(rows)
    for number in range(length):
        which = groups[:, number].clip(0, places.shape[1] - 1)
        result[row // chunks, places[row, which]] = elements[:, number]
        places[row, which] += 1
    return result.reshape(*lines, chunks * length)
