"""Custom functions with symbolic shapes.

A step of a plan that calls a Python function has fixed shapes. So the inputs are padded to their
greatest lengths, and the actual lengths are given as further inputs. The function itself gets
arrays of the actual lengths. The result is cut to its actual length after the step.

    before   custom(f, [x of (n, 4)], (n,))
    after    custom(g, [n, x padded to (8, 4)], (8,))[:n]       where n is at most 8
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.shape import Dim, Shape, greatest
from ogive.live.registry import graph_lock
from ogive.tensor import build, lengths
from ogive.tensor.core import DEFAULT_DEVICE, wrap

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def widen(
    function: Callable[..., None], inputs: Sequence[Tensor], outputs: Sequence[tuple[Shape, DType]]
) -> tuple[Callable[..., None], list[Tensor], tuple[tuple[Shape, DType], ...]]:
    """Return a function of fixed shapes for one of symbolic shapes, and its inputs and outputs."""
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
    """Cut a tensor to a symbolic shape."""
    if not lengths.is_symbolic(*shape):
        return tensor
    return tensor[tuple([slice(0, size) for size in shape])]


def _pad(tensor: Tensor) -> Tensor:
    """Pad a tensor with zeros to its greatest lengths."""
    if not lengths.is_symbolic(*tensor.shape):
        return tensor
    amounts = [amount for size in reversed(tensor.shape) for amount in (0, greatest(size) - size)]
    return tensor.pad(tuple(amounts))


def _at_lengths(
    function: Callable[..., None], sizes: Sequence[Dim], shapes: Sequence[Shape], count: int
) -> Callable[..., None]:
    """Return the function that gets the lengths, `count` padded inputs and the padded outputs.

    It calls `function` with arrays of the actual lengths.
    """

    def call(*arrays: Any) -> None:
        values = {size: int(array.flat[0]) for size, array in zip(sizes, arrays, strict=False)}
        parts = [
            array[(..., *[slice(values.get(size, size)) for size in shape])]
            for array, shape in zip(arrays[len(sizes) :], shapes, strict=True)
        ]
        inputs = [numpy.ascontiguousarray(part) for part in parts[:count]]
        results = [numpy.zeros(part.shape, part.dtype) for part in parts[count:]]
        for array in inputs:
            array.flags.writeable = False
        function(*inputs, *results)
        for part, array in zip(parts[count:], results, strict=True):
            part[...] = array

    return call
