"""Custom functions of symbolic shapes, which are called with arrays of the present lengths.

A step in Python has fixed shapes. So it gets the values padded to their greatest lengths, and the
lengths as numbers. The function gets the fronts of these arrays, and the fronts of the outputs that
it fills are the result.

    before   custom(f, [x of (n, 4)], (n,))
    after    custom(g, [n, x padded to (8, 4)], (8,))[:n]       where n is at most 8
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.shape import Dim, Shape, greatest
from ogive.compiler.live.registry import graph_lock
from ogive.tensor import build, lengths
from ogive.tensor.core import DEFAULT_DEVICE, wrap

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def widen(
    function: Callable[..., None], inputs: Sequence[Tensor], outputs: Sequence[tuple[Shape, DType]]
) -> tuple[Callable[..., None], list[Tensor], tuple[tuple[Shape, DType], ...]]:
    """The function of fixed shapes, the inputs and the outputs for a function of symbolic ones."""
    shapes = [*[tensor.shape for tensor in inputs], *[shape for shape, _ in outputs]]
    sizes = list(dict.fromkeys([n for shape in shapes for n in shape if lengths.is_symbolic(n)]))
    fixed = tuple([(tuple([greatest(size) for size in shape]), kind) for shape, kind in outputs])
    if not sizes:
        return function, list(inputs), fixed
    with graph_lock:
        numbers = [
            wrap(build.cast(build.index_value(size), dtypes.int64), DEFAULT_DEVICE)
            for size in sizes
        ]
    call = _at_lengths(function, sizes, shapes, len(inputs))
    return call, [*numbers, *[_pad(tensor) for tensor in inputs]], fixed


def narrow(tensor: Tensor, shape: Shape) -> Tensor:
    """The front of a tensor, of symbolic `shape`."""
    if not lengths.is_symbolic(*shape):
        return tensor
    return tensor[tuple([slice(0, size) for size in shape])]


def _pad(tensor: Tensor) -> Tensor:
    """A tensor padded with zeros to its greatest lengths."""
    if not lengths.is_symbolic(*tensor.shape):
        return tensor
    amounts = [amount for size in reversed(tensor.shape) for amount in (0, greatest(size) - size)]
    return tensor.pad(tuple(amounts))


def _at_lengths(
    function: Callable[..., None], sizes: Sequence[Dim], shapes: Sequence[Shape], count: int
) -> Callable[..., None]:
    """`function`, called with the lengths, `count` inputs and the outputs, in longer arrays."""

    def call(*arrays: Any) -> None:
        values = {size: int(array.flat[0]) for size, array in zip(sizes, arrays, strict=False)}
        parts = [
            array[(..., *[slice(values.get(size, size)) for size in shape])]
            for array, shape in zip(arrays[len(sizes) :], shapes, strict=True)
        ]
        given = [numpy.ascontiguousarray(part) for part in parts[:count]]
        results = [numpy.zeros(part.shape, part.dtype) for part in parts[count:]]
        for array in given:
            array.flags.writeable = False
        function(*given, *results)
        for part, array in zip(parts[count:], results, strict=True):
            part[...] = array

    return call
