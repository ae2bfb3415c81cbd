"""Draws of integers, and choices among positions."""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, to_dtype
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.random import draw as drawing
from ogive.random.continuous import exponential, rand
from ogive.random.draw import PRECISION, Draw, operation, to_float
from ogive.random.generator import Generator
from ogive.tensor import build
from ogive.tensor.core import memory_device, to_device, to_integer, to_number, to_shape
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor
from ogive.tensor.values.custom_function import custom


def randint(
    *bounds_and_size: Any,
    low: Any = None,
    high: Any = None,
    size: Any = None,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw uniform integers of [low, high): `randint(high, size)` or `randint(low, high, size)`.

    Shapes: `size`. It and the bounds may be given by name. The default dtype is int64. The
    probabilities of two integers differ by at most the share (high - low) / 2^64.

    >>> x = ogive.randint(1, 7, (100,))
    >>> x.dtype, bool(((x >= 1) & (x < 7)).all())
    (ogive.int64, True)

    Raises `ArgumentError` if there is no integer to draw, or if one does not fit the dtype.
    """
    by_place = list(bounds_and_size)
    size = by_place.pop() if size is None and by_place else size
    high = by_place.pop() if high is None and by_place else high
    low = by_place.pop() if low is None and by_place else low or 0
    if by_place or size is None or high is None:
        raise ArgumentTypeError("randint takes (high, size) or (low, high, size)")
    first, end = [to_integer(bound, "randint: a bound") for bound in (low, high)]
    chosen = dtypes.default_int if dtype is None else to_dtype(dtype)
    place = to_device(device)
    sizes = to_shape((size,), "randint")
    with graph_lock:
        draw = Draw(sizes, key, generator, "randint")
        return draw.finish(_integers(draw.bits(), first, end, chosen), chosen, place)


def _integers(bits: UOp, low: int, high: int, dtype: DType) -> UOp:
    """Return integers of [low, high), one for each word of 64 bits."""
    if low >= high:
        raise ArgumentError(f"randint: there is no integer in [{low}, {high})")
    least, greatest = dtype.limits
    if not (least <= low and high - 1 <= greatest) or high - low > 1 << 64:
        raise ArgumentError(f"randint: {dtype.name} cannot hold {low} to {high - 1}")
    if high - low < 1 << 64:
        bits = operation(Op.MOD, bits, high - low)
    if low:
        bits = operation(Op.ADD, bits, low % (1 << 64))
    return build.cast(bits, dtypes.int64) if low < 0 else bits


@also(input="tensor")
def randint_like(
    tensor: Tensor,
    *bounds: int,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw the integers of `randint`, with the shape, dtype and device of `tensor`.

    >>> ogive.randint_like(Tensor([[1, 2]]), 10).shape
    (1, 2)
    """
    kind = tensor.dtype if dtype is None else dtype
    place = memory_device(tensor) if device is None else device
    return randint(*bounds, tensor.shape, dtype=kind, device=place, key=key, generator=generator)


def integers_for(
    tensor: Tensor, bounds: tuple[int, ...], key: Tensor | None, generator: Generator | None
) -> Tensor:
    """Draw the integers of `Tensor.random_`, whose upper bound is optional.

    By default they go up to the greatest integer of the dtype; for a float dtype, to the greatest
    up to which it holds all integers.
    """
    dtype = tensor.dtype
    if not bounds:
        whole = 1 << PRECISION[to_float(dtype, "random_")] if dtype.is_float else dtype.limits[1]
        bounds = (int(whole) + 1,)
    return randint_like(tensor, *bounds, key=key, generator=generator)


@also(input="probability")
def bernoulli(
    probability: Tensor, *, key: Tensor | None = None, generator: Generator | None = None
) -> Tensor:
    """Draw 1 with the given probability, else 0, for each element.

    Shapes and dtype: those of `probability`, a tensor of floats between 0 and 1.

    >>> ogive.bernoulli(Tensor([0.0, 1.0])).tolist()
    [0.0, 1.0]

    Raises `DtypeError` for integers.
    """
    if not isinstance(probability, Tensor):
        raise ArgumentTypeError(
            f"bernoulli takes a tensor of probabilities, got {probability!r}; "
            "tensor.bernoulli(p) takes a number"
        )
    dtype = to_float(probability.dtype, "bernoulli")
    # In float32 at least, because a small probability would be rounded to a step of a narrow u.
    u = rand(
        *probability.shape, dtype=drawing.wide(dtype), device=memory_device(probability),
        key=key, generator=generator,
    )  # fmt: skip
    return (u < probability).cast(dtype)


def chances(
    tensor: Tensor,
    probability: float,
    shape: Any = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw True with one probability for all elements, with the shape and device of `tensor`."""
    number = to_probability(probability)
    with graph_lock:
        draw = Draw(tensor.shape if shape is None else shape, key, generator, "bernoulli")
        drawn = drawing.chance(draw.bits(), number)
        return draw.finish(drawn, dtypes.bool_, memory_device(tensor))


def to_probability(given: Any) -> float:
    """Return an argument as a number between 0 and 1. Raises `ArgumentError`."""
    number = float(to_number(given, "a probability"))
    if not 0 <= number <= 1:
        raise ArgumentError(f"a probability is between 0 and 1, not {given}")
    return number


def randperm(
    n: int,
    *,
    dtype: Any = None,
    device: str | None = None,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Return the integers from 0 to n - 1 in random order, as int64 by default. Shapes: (n,).

    Each element gets 64 random bits, no two the same. The order is that of the sorted bits.

    >>> sorted(ogive.randperm(5).tolist())
    [0, 1, 2, 3, 4]
    """
    length = to_integer(n, "randperm: n")
    if length < 0:
        raise ArgumentError(f"randperm: n is {length}, and cannot be negative")
    chosen = dtypes.default_int if dtype is None else to_dtype(dtype)
    if chosen.is_bool or (chosen.is_integer and length - 1 > chosen.limits[1]):
        raise ArgumentError(f"randperm: {chosen.name} cannot hold 0 to {length - 1}")
    place = to_device(device)
    with graph_lock:
        draw = Draw((length,), key, generator, "randperm")
        words = draw.finish(draw.bits(), dtypes.uint64, place)
    return words.argsort().cast(chosen)


def multinomial(
    weights: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    key: Tensor | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw positions with probabilities in proportion to `weights`, as int64.

    Shapes: (n,) → (num_samples,), (rows, n) → (rows, num_samples). Without replacement, positions
    are drawn one after the other from those that are left.

    >>> ogive.multinomial(Tensor([0.0, 0.0, 3.0]), 2, replacement=True).tolist()
    [2, 2]
    >>> sorted(ogive.multinomial(Tensor([1.0, 0.0, 3.0]), 2).tolist())
    [0, 2]

    Raises `ArgumentError` for more samples than positions without replacement. Weights must not be
    negative, and without replacement, at least `num_samples` of them must be positive.
    """
    samples = to_integer(num_samples, "multinomial: num_samples")
    if not isinstance(weights, Tensor) or weights.ndim not in (1, 2):
        shape = getattr(weights, "shape", weights)
        raise ShapeError(f"multinomial takes weights of shape (n,) or (rows, n), not {shape}")
    if not weights.dtype.is_float:
        raise DtypeError(f"multinomial takes weights of floats, not {weights.dtype.name}")
    length = to_integer(weights.shape[-1], "multinomial: the number of weights")
    if samples <= 0:
        raise ArgumentError(f"multinomial: num_samples is {samples}, and must be positive")
    if length == 0 or (samples > length and not replacement):
        raise ArgumentError(
            f"multinomial: {samples} samples without replacement from {length} positions"
        )
    kind = drawing.wide(to_float(weights.dtype, "multinomial"))
    shape = (*weights.shape[:-1], samples if replacement else length)
    place = memory_device(weights)
    weights = weights.cast(kind)
    if replacement:
        u = created(rand, *shape, dtype=kind, device=place, key=key, generator=generator)
        return _on_host(_search, [weights, u], shape)
    times = created(exponential, *shape, dtype=kind, device=place, key=key, generator=generator)
    return _on_host(_race, [weights, times], (*shape[:-1], samples))


# Choices by weights are computed by NumPy, as a step between kernels.


def _race(weights: NDArray[Any], times: NDArray[Any], result: NDArray[Any]) -> None:
    """Choose the first positions to arrive, if position i takes an exponential time of rate wᵢ."""
    samples = result.shape[-1]
    _check_weights(weights, samples)
    with numpy.errstate(divide="ignore"):
        times = times / weights
    result[...] = numpy.argsort(times, axis=-1, kind="stable")[..., :samples]


def _search(weights: NDArray[Any], u: NDArray[Any], result: NDArray[Any]) -> None:
    """Choose the position where the running sum of weights reaches the share `u` of the total."""
    _check_weights(weights, 1)
    sums = weights.astype(numpy.float64).cumsum(axis=-1)
    rows = zip(*[array.reshape(-1, array.shape[-1]) for array in (sums, u, result)], strict=True)
    for row, shares, places in rows:
        places[...] = numpy.searchsorted(row, shares * row[-1], side="right")


def _check_weights(weights: NDArray[Any], positive: int) -> None:
    if not (numpy.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite and not negative")
    if ((weights > 0).sum(axis=-1) < positive).any():
        raise ValueError(f"{positive} of the weights must be positive")


def _on_host(function: Any, inputs: list[Tensor], shape: Any) -> Tensor:
    drawn: Tensor = custom(function, inputs, (shape, dtypes.int64), name="multinomial")
    return drawn
