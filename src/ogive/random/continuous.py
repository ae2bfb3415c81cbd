"""Draws of floats: uniform, normal, exponential, Gumbel."""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compat.methods.keywords import also
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError
from ogive.random import draw as drawing
from ogive.random.draw import Draw, operation, to_float, wide
from ogive.random.generator import Generator
from ogive.tensor import build
from ogive.tensor.core import Core, memory_device, to_device, to_number, to_operand, to_shape
from ogive.tensor.elementwise.complex_numbers import view_as_complex
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor


@also(size="shape")
def rand(
    *shape: Any,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw uniform numbers of [0, 1), of float32 by default.

    float64 has 53 random bits, float32 24, float16 11, bfloat16 8.

    >>> ogive.rand(2, 3).shape
    (2, 3)

    Both parts of complex numbers are drawn so. Raises `DtypeError` for integers and 8-bit floats.
    """
    sizes, place = to_shape(shape, "rand"), to_device(device)
    if is_complex(dtype):
        parts = rand(*sizes, 2, dtype=to_dtype(dtype).part, device=device, key=key,
                     generator=generator)
        return _complex(parts, requires_grad)
    chosen = to_float(dtype, "rand")
    with graph_lock:
        draw = Draw(sizes, key, generator, "rand")
        result = draw.finish(drawing.uniform(draw.bits(), chosen), chosen, place)
    return result.requires_grad_() if requires_grad else result


def uniform(
    *shape: Any,
    low: float = 0.0,
    high: float = 1.0,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw uniform numbers of [low, high), or `low` itself if both are equal.

    >>> x = ogive.random.uniform(1000, low=-2, high=2)
    >>> bool((x >= -2).all()), bool((x < 2).all())
    (True, True)

    Raises `ArgumentError` if `low` is greater than `high`, or if either is not finite.
    """
    sizes, place = to_shape(shape, "uniform"), to_device(device)
    if is_complex(dtype):
        part = to_dtype(dtype).part
        return _complex(uniform(*sizes, 2, low=low, high=high, dtype=part, device=device, key=key,
                                generator=generator))
    chosen = to_float(dtype, "uniform")
    first, end = bounds(low, high, chosen)
    with graph_lock:
        draw = Draw(sizes, key, generator, "uniform")
        return _between(draw, chosen, place, end - first, first, last_below(first, end, chosen))


def uniform_by_data(shape: Shape, low: float, high: float, dtype: DType) -> Tensor:
    """Draw the numbers of `uniform` by a kernel that reads the bounds from memory.

    So the many bounds of the layers of a network share one kernel.
    """
    chosen = to_float(dtype, "uniform")
    first, end = bounds(low, high, chosen)
    numbers = [
        Tensor(numpy.array([value], kind.numpy), device=DEFAULT_DEVICE)  # where the key is
        for value, kind in (
            (end - first, wide(chosen)),
            (first, wide(chosen)),
            (last_below(first, end, chosen), chosen),
        )
    ]
    with graph_lock:
        draw = Draw(shape, None, None, "uniform")
        span, start, last = [build.expand(each.node, (draw.length,)) for each in numbers]
        return _between(draw, chosen, to_device(None), span, start, last)


def _between(
    draw: Draw,
    dtype: DType,
    device: str,
    span: UOp | float,
    first: UOp | float,
    last: UOp | float,
) -> Tensor:
    """Draw numbers from `first` on, none greater than `last`. `graph_lock` is held."""
    value = operation(Op.MUL, drawing.uniform(draw.bits(), dtype), span)
    value = build.cast(operation(Op.ADD, value, first), dtype)
    # Rounding may reach the upper bound, which is excluded.
    return draw.finish(operation(Op.MINIMUM, value, last), dtype, device)


def bounds(low: Any, high: Any, dtype: DType) -> tuple[float, float]:
    """Return the bounds of `uniform` as numbers of a dtype. Raises `ArgumentError`."""
    first, end = [dtype.canonical(float(to_number(value, "uniform"))) for value in (low, high)]
    if not math.isfinite(first) or not math.isfinite(dtype.canonical(end - first)):
        raise ArgumentError(f"uniform: {dtype.name} cannot hold the bounds {low} and {high}")
    if first > end:
        raise ArgumentError(f"uniform: low is {low}, which is greater than high, {high}")
    return float(first), float(end)


def last_below(first: float, end: float, dtype: DType) -> float:
    """Return the number of a dtype next to `end`, towards `first`."""
    kind = dtype.numpy.type
    return float(numpy.nextafter(kind(end), kind(first)))


@also(size="shape")
def randn(
    *shape: Any,
    dtype: Any = None,
    device: str | None = None,
    requires_grad: bool = False,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw numbers of the normal distribution with mean 0 and deviation 1.

    >>> ogive.randn(2, 3, dtype="float64").dtype
    ogive.float64

    The parts of complex numbers have the variance 1/2, so that the numbers have 1. Raises
    `DtypeError` for integers and 8-bit floats.
    """
    sizes, place = to_shape(shape, "randn"), to_device(device)
    if is_complex(dtype):
        parts = randn(*sizes, 2, dtype=to_dtype(dtype).part, device=device, key=key,
                      generator=generator)
        return _complex(parts * math.sqrt(0.5), requires_grad)
    chosen = to_float(dtype, "randn")
    with graph_lock:
        draw = Draw(sizes, key, generator, "randn")
        result = draw.finish(drawing.normal(draw, chosen), chosen, place)
    return result.requires_grad_() if requires_grad else result


def normal(
    mean: Any = 0.0,
    std: Any = 1.0,
    size: Any = None,
    *,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw numbers of the normal distribution with these means and deviations.

    Shapes: `size`; or if `mean` or `std` is a tensor, the shape that both broadcast to. The dtype
    is that of the tensor.

    >>> ogive.normal(2.0, 0.5, (3,)).shape
    (3,)
    >>> ogive.normal(Tensor([0.0, 100.0]), Tensor([[1.0], [2.0]])).shape
    (2, 2)

    Raises `ArgumentError` for a negative deviation, and for numbers without a size.
    """
    centre, deviation = to_operand(mean, "normal"), to_operand(std, "normal")
    tensors = [value for value in (centre, deviation) if isinstance(value, Tensor)]
    if not isinstance(deviation, Core) and not deviation >= 0:
        raise ArgumentError(f"normal: std is {std}, and cannot be negative")
    shape: Shape = ()
    if tensors:
        if size is not None:
            raise ArgumentError("normal: the size is that of the tensors; leave it out")
        for tensor in tensors:
            shape = build.broadcast_shapes(shape, tensor.shape, "normal")
        chosen = _inexact(tensors[0].dtype if dtype is None else dtype)
        place: str | None = memory_device(tensors[0])
    else:
        if size is None:
            raise ArgumentError("normal: two numbers need a size, such as size=(2, 3)")
        shape, chosen, place = to_shape((size,), "normal"), _inexact(dtype), device
    z = created(randn, *shape, dtype=chosen, device=place, key=key, generator=generator)
    return z * deviation + centre


def _inexact(dtype: Any) -> DType:
    """The float or complex dtype that `normal` draws."""
    return to_dtype(dtype) if is_complex(dtype) else to_float(dtype, "normal")


def is_complex(dtype: Any) -> bool:
    """Whether complex numbers are to be drawn, whose parts are drawn one by one."""
    return dtype is not None and to_dtype(dtype).is_complex


def _complex(parts: Tensor, requires_grad: bool = False) -> Tensor:
    """Complex numbers of parts along the last axis, in memory of their own."""
    made = view_as_complex(parts) + 0
    return made.requires_grad_() if requires_grad else made


def exponential(
    *shape: Any,
    rate: float = 1.0,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw numbers of the exponential distribution: density rate * exp(-rate * x), all positive.

    >>> bool((ogive.random.exponential(100) > 0).all())
    True

    Raises `ArgumentError` unless the rate is positive.
    """
    sizes, place = to_shape(shape, "exponential"), to_device(device)
    chosen = to_float(dtype, "exponential")
    number = float(to_number(rate, "exponential: the rate"))
    if not number > 0:
        raise ArgumentError(f"exponential: the rate is {rate}, and must be positive")
    with graph_lock:
        draw = Draw(sizes, key, generator, "exponential")
        value = drawing.exponential(draw.bits(), chosen)
        if number != 1:
            value = operation(Op.MUL, value, 1 / number)
        return draw.finish(value, chosen, place)


def gumbel(
    *shape: Any,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw numbers of the Gumbel distribution: -log(-log(u)) for uniform u.

    `(logits + gumbel(*logits.shape)).argmax(-1)` draws from the distribution softmax(logits).

    >>> ogive.random.gumbel(4).shape
    (4,)
    """
    sizes, chosen, place = to_shape(shape, "gumbel"), to_float(dtype, "gumbel"), to_device(device)
    with graph_lock:
        draw = Draw(sizes, key, generator, "gumbel")
        value = make(Op.LOG, wide(chosen), (drawing.exponential(draw.bits(), chosen),))
        return draw.finish(make(Op.NEG, value.dtype, (value,)), chosen, place)


@also(input="tensor")
def rand_like(
    tensor: Tensor,
    *,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw the numbers of `rand`, with the shape, dtype and device of `tensor`.

    >>> ogive.rand_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    kind = tensor.dtype if dtype is None else dtype
    place = memory_device(tensor) if device is None else device
    return rand(*tensor.shape, dtype=kind, device=place, key=key, generator=generator)


@also(input="tensor")
def randn_like(
    tensor: Tensor,
    *,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw the numbers of `randn`, with the shape, dtype and device of `tensor`.

    >>> ogive.randn_like(Tensor([[1.0, 2.0]])).shape
    (1, 2)
    """
    kind = tensor.dtype if dtype is None else dtype
    place = memory_device(tensor) if device is None else device
    return randn(*tensor.shape, dtype=kind, device=place, key=key, generator=generator)
