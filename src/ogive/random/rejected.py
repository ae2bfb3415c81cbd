"""Draws by rejection sampling, on the host: gamma, Poisson, binomial, von Mises.

The number of tries is not known in advance, so NumPy makes these draws, as a step between kernels.
Its seed is drawn from the key, so the numbers are functions of the key as well.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import NDArray

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.live.registry import graph_lock
from ogive.errors import ArgumentTypeError, DtypeError
from ogive.random.draw import Draw
from ogive.random.generator import Generator
from ogive.tensor.core import memory_device
from ogive.tensor.movement.stacking import broadcast_tensors
from ogive.tensor.tensor import Tensor
from ogive.tensor.values.custom_function import custom

Array = NDArray[Any]

SERIES_UP_TO = 200.0
"""Above this shape parameter, a gamma number is the cube of a normal one, within 10⁻⁴."""

FAR = 6.0
"""The number of deviations from which on the series cancels. One draw in a billion is there."""


def standard_gamma(
    concentration: Tensor, *, key: Tensor | None = None, generator: Generator | None = None
) -> Tensor:
    """Draw numbers of the gamma distribution with rate 1. Shapes and dtype: as `concentration`.

    >>> bool((ogive.random.standard_gamma(ogive.full((100,), 2.0)) > 0).all())
    True

    They have no gradients; see `gamma_slope`.
    """
    _checked("standard_gamma", concentration)

    def draw(source: numpy.random.Generator, shape: Array) -> Array:
        smallest = numpy.finfo(numpy.float32).tiny
        return numpy.maximum(source.standard_gamma(shape.astype(numpy.float64)), smallest)

    return _drawn("standard_gamma", draw, [concentration], key, generator)


def poisson(
    rate: Tensor, generator: Generator | None = None, *, key: Tensor | None = None
) -> Tensor:
    """Draw numbers of the Poisson distribution with mean `rate`. Shapes: as `rate`.

    >>> ogive.random.poisson(ogive.zeros(3)).tolist()
    [0.0, 0.0, 0.0]
    """
    _checked("poisson", rate)

    def draw(source: numpy.random.Generator, rate: Array) -> Any:
        return source.poisson(rate.astype(numpy.float64))

    return _drawn("poisson", draw, [rate], key, generator)


def binomial(
    count: Tensor, prob: Tensor, generator: Generator | None = None, *, key: Tensor | None = None
) -> Tensor:
    """Draw numbers of the binomial distribution: successes in `count` trials. Shapes broadcast.

    Each trial succeeds with probability `prob`.

    >>> ogive.random.binomial(ogive.full((2,), 5.0), ogive.ones(2)).tolist()
    [5.0, 5.0]
    """
    both = broadcast_tensors(_checked("binomial", count), _checked("binomial", prob))

    def draw(source: numpy.random.Generator, count: Array, prob: Array) -> Any:
        return source.binomial(count.astype(numpy.int64), prob.astype(numpy.float64))

    return _drawn("binomial", draw, list(both), key, generator)


def von_mises(
    concentration: Tensor, *, key: Tensor | None = None, generator: Generator | None = None
) -> Tensor:
    """Draw angles of the von Mises distribution around 0. Shapes: as `concentration`."""
    _checked("von_mises", concentration)

    def draw(source: numpy.random.Generator, concentration: Array) -> Any:
        return source.vonmises(0.0, concentration.astype(numpy.float64))

    return _drawn("von_mises", draw, [concentration], key, generator)


def gamma_slope(concentration: Tensor, sample: Tensor) -> Tensor:
    """Return the derivative of a gamma number by its shape parameter, at a fixed quantile.

    It is -(∂P/∂a) / p for the distribution function P and the density p. Shapes: all equal.
    """

    def slope(shape: Array, value: Array, result: Array) -> None:
        result[...] = _slope(shape.astype(numpy.float64), value.astype(numpy.float64))

    slopes: Tensor = custom(
        slope, [concentration, sample], (sample.shape, sample.dtype), name="gamma_slope"
    )
    return slopes


def _slope(a: Array, x: Array) -> Array:
    """P(a, x) = Σ pₙ with pₙ = xᵃ⁺ⁿ e⁻ˣ / Γ(a+n+1), and ∂pₙ/∂a = pₙ · (log x - ψ(a+n+1)).

    All terms are divided by the density xᵃ⁻¹ e⁻ˣ / Γ(a), so that p₀ is x / a.
    """
    centre = 1 - 1 / (9 * a)
    root = numpy.cbrt(x / a)  # nearly normal: centre + z / (3 √a)
    is_series = (a <= SERIES_UP_TO) & ((root - centre) * 3 * numpy.sqrt(a) < FAR)
    by_cube = root**3 + 3 * a * root**2 * (1 / (9 * a**2) - (root - centre) / (2 * a))
    a, x = numpy.where(is_series, a, 1.0), numpy.where(is_series, x, 1.0)
    term = x / a
    log_ratio = numpy.log(x) - _digamma(a + 1)
    total = term * log_ratio
    terms = int(numpy.max(8 * numpy.sqrt(a) + numpy.maximum(x - a, 0) + 64, initial=0))
    for n in range(1, terms):
        term = term * (x / (a + n))
        log_ratio = log_ratio - 1 / (a + n)
        total = total + term * log_ratio
    return numpy.asarray(numpy.where(is_series, -total, by_cube))


def _digamma(x: Array) -> Array:
    """Return the logarithmic derivative of Γ for positive numbers: a recurrence, then a series."""
    below = numpy.zeros_like(x)
    for _ in range(8):
        is_small = x < 8
        below = below + numpy.where(is_small, 1 / x, 0)
        x = numpy.where(is_small, x + 1, x)
    square = 1 / (x * x)
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    return numpy.asarray(numpy.log(x) - 0.5 / x - series - below)


def _checked(name: str, given: Any) -> Tensor:
    if not isinstance(given, Tensor):
        raise ArgumentTypeError(f"{name} takes tensors, not {type(given).__name__}")
    if not given.dtype.is_float:
        raise DtypeError(f"{name} takes floats, not {given.dtype.name}")
    return given


def _drawn(
    name: str,
    draw: Callable[..., Any],
    given: list[Tensor],
    key: Tensor | None,
    generator: Generator | None,
) -> Tensor:
    place = memory_device(given[0])
    with graph_lock:
        words = Draw((2,), key, generator, name)
        seed = words.finish(words.bits(), dtypes.uint64, place)

    def on_host(seed: Array, *arrays: Array) -> None:
        *inputs, result = arrays
        source = numpy.random.Generator(numpy.random.Philox(seed.tolist()))
        result[...] = draw(source, *inputs)

    drawn: Tensor = custom(on_host, [seed, *given], (given[0].shape, given[0].dtype), name=name)
    return drawn
