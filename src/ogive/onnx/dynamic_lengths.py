"""Lengths that may change: dynamic axes as variables, while a graph is walked.

A known value of integers is an int64 array. Where one of them is an expression of variables, the
array is one of objects, and NumPy's own arithmetic on these is what `Shape`, `Gather`, `Concat`,
`Mul` and the like need: what depends on shapes only leaves the graph for variables, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ogive.compiler.ir.node import UOp
from ogive.errors import ShapeError
from ogive.tensor.creation.constructors import arange
from ogive.tensor.movement.joining import stack
from ogive.tensor.tensor import Tensor

Length = Any
"""An integer, or an expression of variables."""


def is_fixed(*lengths: Length) -> bool:
    """Whether all lengths are plain numbers."""
    return not any(isinstance(each, UOp) for each in lengths)


def has_variables(value: Any) -> bool:
    """Whether a value is an array of integers of which some are expressions."""
    if not isinstance(value, numpy.ndarray) or value.dtype != object:
        return False
    return any(isinstance(each, UOp) for each in value.flat)


def to_array(lengths: Sequence[Length]) -> Any:
    """Lengths as a known value."""
    if is_fixed(*lengths):
        return numpy.array(lengths, numpy.int64)
    array = numpy.empty(len(lengths), object)
    array[:] = lengths
    return array


def settle(value: Any) -> Any:
    """An array of objects as one of integers or flags, if that is what its elements are."""
    if not isinstance(value, numpy.ndarray) or value.dtype != object or not value.size:
        return value
    if all(isinstance(each, bool | numpy.bool_) for each in value.flat):
        return value.astype(bool)
    if all(isinstance(each, int | numpy.integer) for each in value.flat):
        return value.astype(numpy.int64)
    return value


def to_values(array: Any) -> Tensor:
    """An array of lengths as a tensor of what they are."""
    each = [
        arange(int(size.vmax) + 1)[size] if isinstance(size, UOp) else Tensor(int(size))
        for size in array.flat
    ]
    return stack(each).reshape(*array.shape).cast("int64")


def missing_length(old: Sequence[Length], given: Sequence[Length]) -> Length:
    """The length that -1 stands for in a reshape: the rest of the elements."""
    left = list(old)
    divisor = 1
    for length in given:
        if is_fixed(length):
            if length != -1:
                divisor = divisor * length
            continue
        same = [place for place, each in enumerate(left) if each is length]
        if same:
            del left[same[0]]
        else:
            divisor = divisor * length
    total: Length = 1
    for length in left:
        total = total * length
    if is_fixed(divisor) and divisor == 0:
        return 0
    return total // divisor


def broadcast(left: Sequence[Length], right: Sequence[Length]) -> tuple[Length, ...]:
    """The shape that both shapes are expanded to. Raises `ShapeError`."""
    rank = max(len(left), len(right))
    shape = []
    for one, other in zip(_filled(left, rank), _filled(right, rank), strict=True):
        if is_fixed(one) and one == 1:
            shape.append(other)
        elif one is other or (is_fixed(one, other) and (other in (1, one))) or _is_one(other):
            shape.append(one)
        else:
            raise ShapeError(f"shapes {tuple(left)} and {tuple(right)} do not broadcast")
    return tuple(shape)


def _filled(shape: Sequence[Length], rank: int) -> list[Length]:
    return [1] * (rank - len(shape)) + list(shape)


def _is_one(length: Length) -> bool:
    return is_fixed(length) and length == 1
