"""Tensors from a shape or a range. They take no memory until they are realized, unless they have
`requires_grad` (see `Tensor.requires_grad_`)."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar, to_dtype
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, as_length
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, ShapeError, needing_memory
from ogive.tensor import build
from ogive.tensor.core import (
    memory_device,
    one_element,
    to_device,
    to_dim,
    to_integer,
    to_number,
    to_operand,
    to_shape,
    wrap,
)
from ogive.tensor.lengths import at_most, is_symbolic
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

PYTHON_KINDS: dict[str, type] = {
    "bool": bool, "int": int, "uint": int, "float": float, "complex": complex,
}  # fmt: skip
"""The Python type of an element, by the kind of dtype."""


@also(size="shape")
def full(
    shape: Any,
    fill_value: Scalar | complex | Tensor,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor filled with `fill_value`, of float32, int64, bool or complex64 by default.

    It may be a tensor of one element, whose value counts as a number.

    >>> full((2, 3), 7).dtype
    ogive.int64
    """
    number = to_operand(fill_value, "full")
    kind = PYTHON_KINDS[number.dtype.kind] if isinstance(number, Tensor) else type(number)
    chosen = to_dtype(kind if dtype is None else dtype)
    return _wanted(_filled(to_shape((shape,), "full"), number, chosen, device), requires_grad)


def scalar_tensor(
    value: Any, *, dtype: Any = None, device: str | None = None, requires_grad: bool = False
) -> Tensor:
    """A tensor without axes, of float32 by default. Shapes: ().

    >>> ogive.scalar_tensor(7)
    Tensor(7., shape=(), dtype=float32, device=CPU)
    """
    return full((), value, dtype=_or_float(dtype), device=device, requires_grad=requires_grad)


@also(size="shape")
def zeros(
    shape: Any = (),
    *sizes: Any,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of zeros, of float32 by default.

    >>> zeros(2, 3).shape
    (2, 3)
    """
    result = _filled(to_shape((shape, *sizes), "zeros"), 0, _or_float(dtype), device)
    return _wanted(result, requires_grad)


@also(size="shape")
def ones(
    shape: Any = (),
    *sizes: Any,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor of ones, of float32 by default.

    >>> ones((2, 3), dtype="int8").dtype
    ogive.int8
    """
    result = _filled(to_shape((shape, *sizes), "ones"), 1, _or_float(dtype), device)
    return _wanted(result, requires_grad)


@open_to_eager
@also(input="tensor")
def full_like(
    tensor: Tensor,
    fill_value: Scalar | complex | Tensor,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor filled with `fill_value`, with the shape, dtype and device of `tensor`.

    >>> full_like(Tensor([[1, 2]]), 7).shape
    (1, 2)
    """
    chosen = tensor.dtype if dtype is None else to_dtype(dtype)
    number = to_operand(fill_value, "full_like")
    result = _filled(tensor.shape, number, chosen, device or memory_device(tensor))
    return _wanted(result, requires_grad)


@open_to_eager
@also(input="tensor")
def zeros_like(
    tensor: Tensor,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros, with the shape, dtype and device of `tensor`.

    >>> zeros_like(Tensor([[1, 2]])).dtype
    ogive.int64
    """
    return full_like(tensor, 0, dtype, device, requires_grad)


@open_to_eager
@also(input="tensor")
def ones_like(
    tensor: Tensor,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Ones, with the shape, dtype and device of `tensor`.

    >>> ones_like(Tensor([1.5])).dtype
    ogive.float32
    """
    return full_like(tensor, 1, dtype, device, requires_grad)


@also(end="stop")
def arange(
    start: float | UOp,
    stop: float | UOp | None = None,
    step: float = 1,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`start`, `start + step`, ... up to, but not including, `stop`; one number means `stop`.

    Shapes: (⌈(stop - start) / step⌉,). int64 if all are integers, else float32. `start` and `stop`
    may be symbolic.

    >>> arange(1, 10, 4).shape
    (3,)

    A step that leads away from `stop` gives no elements. Raises `ArgumentError` for a step of 0.
    """
    if stop is None:
        start, stop = 0, start
    place = to_device(device)
    if is_symbolic(start, stop, step):
        return _wanted(_symbolic_arange(start, stop, step, dtype, place), requires_grad)
    numbers = [to_number(value, "arange") for value in (start, stop, step)]
    first, end, stride = numbers
    whole = all(isinstance(value, int) for value in numbers)
    if stride == 0 or not (whole or _has_length(*numbers)):
        raise ArgumentError(f"arange: from {first} to {end} by {stride} is not a finite range")
    chosen = to_dtype(dtype) if dtype is not None else dtypes.int64 if whole else dtypes.float32
    compute = dtypes.int64 if whole else dtypes.float64
    # Integers stay exact, however large they are.
    length = -((first - end) // stride) if whole else math.ceil((end - first) / stride)
    with graph_lock:
        node = build.cast(build.count(max(int(length), 0)), compute)
        node = _scaled(node, stride, first)
        result = wrap(build.cast(node, chosen), place)
    return _wanted(result, requires_grad)


def _has_length(first: float, end: float, stride: float) -> bool:
    """Whether the bounds of a range are numbers and its length is finite."""
    try:
        numbers = [float(first), float(end), float(stride), (end - first) / stride]
    except OverflowError:
        return False
    return all(map(math.isfinite, numbers))


def _symbolic_arange(start: Any, stop: Any, step: Any, dtype: Any, device: str) -> Tensor:
    """`arange` with symbolic bounds; all its arguments are integers."""
    first, end = [to_dim(value, "arange: a bound") for value in (start, stop)]
    stride = to_integer(step, "arange: the step")
    distance = as_length(end - first if stride > 0 else first - end)
    if stride == 0 or not at_most(0, distance):
        raise ArgumentError(
            f"arange: a step of {stride} does not, for every value of the variables, lead from "
            f"{first} to {end}"
        )
    chosen = dtypes.int64 if dtype is None else to_dtype(dtype)
    with graph_lock:
        node = build.count(as_length((distance + (abs(stride) - 1)) // abs(stride)))
        node = _scaled(node, stride, 0)
        if first != 0:
            offset = build.expand_to(build.index_value(first), node.shape)
            node = _binary(Op.ADD, node, offset)
        return wrap(build.cast(node, chosen), device)


@also(end="stop", steps="num")
def linspace(
    start: complex | Tensor,
    stop: complex | Tensor,
    num: int,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    endpoint: bool = True,
) -> Tensor:
    """`num` evenly spaced numbers from `start` to `stop`, both included.

    `start` and `stop` may be tensors of one element; the result is on their device, unless another
    is given.

    Shapes: (num,). float32, or complex64 between complex numbers, unless another dtype is given.
    Without `endpoint` the last number is a step before `stop`.

    >>> linspace(0, 1, 5).shape
    (5,)
    """
    device = device or next(
        (memory_device(each) for each in (start, stop) if isinstance(each, Tensor)), None
    )
    if _is_complex(start) or _is_complex(stop):
        result = _complex_linspace(start, stop, num, endpoint, dtype, device)
        return _wanted(result, requires_grad)
    first, last = _bound(start), _bound(stop)
    number = to_integer(num, "linspace: num")
    if number < 0:
        raise ArgumentError(f"linspace: num is {number}, and cannot be negative")
    steps = number - 1 if endpoint else number
    distance = (last - first) / max(steps, 1)
    position = arange(number, dtype=dtypes.float64, device=device)
    result = position * distance + first
    if steps > 0:
        # Each is computed from the nearer end, so that both ends are exact.
        falling = last - (steps - position) * distance
        result = where(position < (steps + 1) / 2, result, falling)
    return _wanted(result.cast(_or_float(dtype)), requires_grad)


def _is_complex(value: Any) -> bool:
    return isinstance(value, complex) or (isinstance(value, Tensor) and value.dtype.is_complex)


def _bound(value: Any) -> Tensor | float:
    """An end of a `linspace`, in float64."""
    if not isinstance(value, Tensor):
        return float(to_number(value, "linspace"))
    if value.numel() != 1:
        raise ShapeError(f"linspace: a bound has the shape {value.shape}; expected one element")
    return value.reshape(()).cast(dtypes.float64)


def _complex_linspace(
    start: Any, stop: Any, steps: int, endpoint: bool, dtype: Any, device: str | None
) -> Tensor:
    """`linspace` of each part."""
    chosen = dtypes.complex64 if dtype is None else to_dtype(dtype)
    start, stop = [
        each.cast(dtypes.complex128) if isinstance(each, Tensor) else each for each in (start, stop)
    ]
    ends = ((start.real, stop.real), (start.imag, stop.imag))
    parts = [linspace(*pair, steps, chosen.part, device, endpoint=endpoint).node for pair in ends]
    with graph_lock:
        node = make(Op.COMPLEX, dtypes.promote(chosen.part, dtypes.complex64), tuple(parts))
        return wrap(build.cast(node, chosen), to_device(device))


_BEYOND = 1 << 62


@also(n="rows", m="columns")
def eye(
    rows: int,
    columns: int | None = None,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    k: int = 0,
) -> Tensor:
    """Ones on the `k`-th diagonal, counted upwards, zeros elsewhere; float32 by default.

    Shapes: (rows, columns), square by default.

    >>> eye(2, 3).shape
    (2, 3)
    """
    shape = to_shape((rows, rows if columns is None else columns), "eye")
    chosen = _or_float(dtype)
    place = to_device(device)
    with graph_lock:
        row = build.expand(build.reshape(build.count(shape[0]), (shape[0], 1)), shape)
        column = build.expand_to(build.count(shape[1]), shape)
        offset = to_integer(k, "eye: k")
        if offset:
            # No axis is longer, and further out there is no diagonal.
            held = max(-_BEYOND, min(offset, _BEYOND))
            row = _binary(Op.ADD, row, build.constant(dtypes.int64, held))
        node = make(Op.CMPEQ, dtypes.bool_, (row, column))
        result = wrap(build.cast(node, chosen), place)
    return _wanted(result, requires_grad)


@also(end="stop")
def logspace(
    start: float | Tensor,
    stop: float | Tensor,
    steps: int,
    base: float = 10.0,
    dtype: Any = None,
    device: str | None = None,
) -> Tensor:
    """`base` to the powers that `linspace` gives.

    Shapes: (steps,). float32 unless another dtype is given.

    >>> logspace(0, 2, 3).round().tolist()
    [1.0, 10.0, 100.0]
    """
    chosen = _or_float(dtype)
    exponents = linspace(start, stop, steps, dtypes.float64, device)
    return (float(base) ** exponents).cast(chosen)


@also(size="shape")
def empty(
    shape: Any = (),
    *sizes: Any,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor to be assigned to, of float32 by default.

    Until then it holds zeros, which take no memory. Nothing is uninitialized.

    >>> empty(2, 3).shape
    (2, 3)
    """
    result = _filled(to_shape((shape, *sizes), "empty"), 0, _or_float(dtype), device)
    return _wanted(result, requires_grad)


@open_to_eager
@also(input="tensor")
def empty_like(
    tensor: Tensor,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """`empty`, with the shape, dtype and device of `tensor`.

    >>> empty_like(Tensor([[1, 2]])).dtype
    ogive.int64
    """
    return full_like(tensor, 0, dtype, device, requires_grad)


def tril_indices(
    row: int, col: int, offset: int = 0, dtype: Any = dtypes.int64, device: str | None = None
) -> Tensor:
    """The positions of the lower triangle of a matrix, row by row.

    Shapes: (2, number of positions): their rows, and their columns.

    >>> tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    rows, columns = to_shape((row, col), "tril_indices")
    build.check_size((rows, columns, dtypes.int64.itemsize))
    with needing_memory("tril_indices"):
        positions = numpy.stack(numpy.tril_indices(rows, offset, columns))
    return Tensor(positions, dtype, device)


def triu_indices(
    row: int, col: int, offset: int = 0, dtype: Any = dtypes.int64, device: str | None = None
) -> Tensor:
    """The positions of the upper triangle of a matrix, row by row.

    Shapes: (2, number of positions): their rows, and their columns.

    >>> triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    rows, columns = to_shape((row, col), "triu_indices")
    build.check_size((rows, columns, dtypes.int64.itemsize))
    with needing_memory("triu_indices"):
        positions = numpy.stack(numpy.triu_indices(rows, offset, columns))
    return Tensor(positions, dtype, device)


def _wanted(result: Tensor, requires_grad: bool) -> Tensor:
    """A new tensor, which requires gradients or not."""
    return result.requires_grad_() if requires_grad else result


def _filled(shape: Shape, value: Any, dtype: DType, device: str | None) -> Tensor:
    place = to_device(device)
    if isinstance(value, Tensor):
        return one_element(value, "full").cast(dtype).expand(shape).clone()
    with graph_lock:
        return wrap(build.expand_to(build.fitting(dtype, value), shape), place)


def _or_float(dtype: Any) -> DType:
    return dtypes.default_float if dtype is None else to_dtype(dtype)


def _binary(op: Op, left: UOp, right: UOp) -> UOp:
    return make(op, left.dtype, (left, right))


def _scaled(node: UOp, factor: float, offset: float) -> UOp:
    if factor != 1:
        node = _binary(Op.MUL, node, build.constant(node.dtype, factor))
    return node if offset == 0 else _binary(Op.ADD, node, build.constant(node.dtype, offset))
