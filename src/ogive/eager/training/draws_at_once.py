"""Random draws in arrays: the same numbers that `ogive.random` draws lazily under the same keys.

The words are those of `random/draw.py`. A key is taken after all arguments are checked, so that a
call that is refused here draws the same numbers there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy

from ogive.compiler.ir.dtype import to_dtype
from ogive.eager.forms import NOT_DONE, Form, Refused, dispatching, instead, is_captured
from ogive.eager.tensors import FLOATS
from ogive.eager.training.new_tensors import making, to_kind, to_sizes
from ogive.eager.writing import may_write, replace
from ogive.errors import OgiveError
from ogive.random import continuous
from ogive.random.cipher import FIRST, SECOND, encipher_on_host
from ogive.random.continuous import bounds, last_below
from ogive.random.generator import Generator, default_generator
from ogive.tensor.core import Core
from ogive.tensor.creation import sampling
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor

_FLOAT = numpy.dtype("float32")
_DOUBLE = numpy.dtype("float64")
_WHOLE = numpy.dtype("int64")
_HALF = numpy.uint64(32)
_PRECISION = {_FLOAT: 24, _DOUBLE: 53}


class Draw:
    """The words of one draw, under the next key of a generator."""

    __slots__ = ("shape", "source")

    def __init__(self, shape: tuple[int, ...], generator: Any) -> None:
        source = default_generator if generator is None else generator
        if not isinstance(source, Generator) or source.deferring() is not None:
            raise Refused
        self.shape = shape
        self.source = source

    def words(self) -> Any:
        """64 bits for each element."""
        return self.source.take_words(math.prod(self.shape)).reshape(self.shape)

    def more_words(self) -> tuple[Any, Any]:
        """Two words of 64 bits for each element."""
        counters = numpy.arange(math.prod(self.shape), dtype=numpy.uint64)
        key = self.source.take()
        pair = [encipher_on_host(counters | numpy.uint64(each), key) for each in (FIRST, SECOND)]
        return pair[0].reshape(self.shape), pair[1].reshape(self.shape)

    def uniform(self, kind: Any) -> Any:
        """Multiples of 2^-p in [0, 1), where p is the precision of the dtype."""
        precision = _PRECISION[kind]
        return _top_bits(self.words(), precision, kind) * kind.type(2.0**-precision)

    def exponential(self, kind: Any) -> Any:
        """-log(u)."""
        precision = _PRECISION[kind] - 1
        halves = _top_bits(self.words(), precision, kind) + kind.type(0.5)
        return -numpy.log(halves * kind.type(2.0**-precision))

    def normal(self, kind: Any) -> Any:
        """sqrt(-2 log u) cos(2 pi v)."""
        if kind == _DOUBLE:
            radius, turns = [_top_bits(words, 53, kind) for words in self.more_words()]
            precision = 53
        else:
            words = self.words()
            radius, turns = (words >> _HALF).astype(kind), words.astype(numpy.uint32).astype(kind)
            precision = 32
        u = (radius + kind.type(0.5)) * kind.type(2.0**-precision)
        squared = numpy.log(u) * kind.type(-2)
        return numpy.sqrt(squared) * numpy.cos(turns * kind.type(2 * math.pi * 2.0**-precision))

    def chance(self, probability: float) -> Any:
        """True with a probability, rounded to a multiple of 2^-32."""
        bound = round(probability * 2.0**32)
        words = self.words()
        if bound >> 32:
            return numpy.ones(self.shape, bool)
        return (words >> _HALF) < numpy.uint64(bound)


def _top_bits(words: Any, count: int, kind: Any) -> Any:
    """The highest `count` bits of each word as numbers."""
    return (words >> numpy.uint64(64 - count)).astype(kind)


def _to_float(dtype: Any) -> Any:
    kind = to_kind(dtype)
    if kind.kind != "f":
        raise Refused
    return kind


# New tensors


def rand(
    *sizes: Any, size: Any = None, dtype: Any = None, generator: Any = None, key: Any = None
) -> Any:
    """Uniform draws from [0, 1)."""
    if key is not None:
        raise Refused
    shape, kind = to_sizes(sizes if size is None else (size,)), _to_float(dtype)
    return Draw(shape, generator).uniform(kind)


def randn(
    *sizes: Any, size: Any = None, dtype: Any = None, generator: Any = None, key: Any = None
) -> Any:
    """Draws from the normal distribution."""
    if key is not None:
        raise Refused
    shape, kind = to_sizes(sizes if size is None else (size,)), _to_float(dtype)
    return Draw(shape, generator).normal(kind)


def exponential(*sizes: Any, dtype: Any = None, generator: Any = None, key: Any = None) -> Any:
    """Draws from the exponential distribution of rate 1."""
    if key is not None:
        raise Refused
    shape, kind = to_sizes(sizes), _to_float(dtype)
    return Draw(shape, generator).exponential(kind)


def gumbel(*sizes: Any, dtype: Any = None, generator: Any = None, key: Any = None) -> Any:
    """Draws from the Gumbel distribution."""
    return -numpy.log(exponential(*sizes, dtype=dtype, generator=generator, key=key))


def rand_like(tensor: Any, *, dtype: Any = None, generator: Any = None) -> Any:
    """`rand` in the shape and dtype of an eager tensor."""
    kind = _to_float(tensor.dtype if dtype is None else dtype)
    return Draw(_small(tensor), generator).uniform(kind)


def randn_like(tensor: Any, *, dtype: Any = None, generator: Any = None) -> Any:
    """`randn` in the shape and dtype of an eager tensor."""
    kind = _to_float(tensor.dtype if dtype is None else dtype)
    return Draw(_small(tensor), generator).normal(kind)


def _small(tensor: Any) -> tuple[int, ...]:
    if (
        not isinstance(tensor, Core)
        or not tensor.is_eager
        or allowance.is_beyond(tensor.value.size)
    ):
        raise Refused
    return tuple(tensor.value.shape)


def uniform(shape: Any, low: Any, high: Any, dtype: Any, generator: Any = None) -> Any:
    """Uniform draws from [low, high)."""
    sizes, kind = to_sizes((shape,)), _to_float(dtype)
    first, end = bounds(low, high, to_dtype(kind))
    value = Draw(sizes, generator).uniform(kind) * kind.type(end - first) + kind.type(first)
    return numpy.minimum(value, kind.type(last_below(first, end, to_dtype(kind))))


def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, dtype: Any = None, generator: Any = None
) -> Any:
    """Draws from the normal distribution with one mean and one deviation."""
    kind = _to_float(dtype)
    if {mean.__class__, std.__class__} - {int, float} or not std >= 0 or size is None:
        raise Refused
    sizes = to_sizes((size,))
    return Draw(sizes, generator).normal(kind) * kind.type(std) + kind.type(mean)


def randint(*given: Any, dtype: Any = None, generator: Any = None, **named: Any) -> Any:
    """Uniform draws of integers from [low, high)."""
    if named:
        size = named.pop("size", None)
        high = named.pop("high", None)
        given = (*given, *([] if high is None else [high]), *([] if size is None else [size]))
        given = (named.pop("low"), *given) if "low" in named else given
    if named or len(given) not in (2, 3):
        raise Refused
    low, high, size = (0, *given) if len(given) == 2 else given
    return _integers(to_sizes((size,)), low, high, to_kind(dtype, _WHOLE), generator)


def randint_like(tensor: Any, *given: Any, dtype: Any = None, generator: Any = None) -> Any:
    """`randint` in the shape and dtype of an eager tensor."""
    shape = _small(tensor)
    low, high = (0, *given) if len(given) == 1 else given
    return _integers(shape, low, high, to_kind(dtype, tensor.value.dtype), generator)


def _integers(shape: tuple[int, ...], low: Any, high: Any, kind: Any, generator: Any) -> Any:
    if low.__class__ is not int or high.__class__ is not int or low >= high or kind.kind == "b":
        raise Refused
    least, greatest = to_dtype(kind).limits
    if not (least <= low and high - 1 <= greatest) or high - low >= 1 << 64:
        raise Refused
    words = Draw(shape, generator).words() % numpy.uint64(high - low)
    if low:
        words = words + numpy.uint64(low % (1 << 64))
    return (words.view(_WHOLE) if low < 0 else words).astype(kind)


def randperm(n: Any, *, dtype: Any = None, generator: Any = None) -> Any:
    """The integers from 0 to n - 1 in random order."""
    kind = to_kind(dtype, _WHOLE)
    if kind != _WHOLE:
        raise Refused
    return numpy.argsort(Draw(to_sizes((n,)), generator).words())


# Draws into existing tensors


def uniform_(
    self: Tensor, low: Any = 0.0, high: Any = 1.0, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Fill with uniform draws from [low, high)."""

    def draw(shape: Any, kind: Any) -> Any:
        return uniform(shape, low, high, kind, generator)

    if _fill(self, draw, key):
        return self
    return sampling.uniform_(self, low, high, key=key, generator=generator)


def normal_(
    self: Tensor, mean: Any = 0.0, std: Any = 1.0, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Fill with draws from the normal distribution."""

    def draw(shape: Any, kind: Any) -> Any:
        return normal(mean, std, shape, dtype=kind, generator=generator)

    if _fill(self, draw, key):
        return self
    return sampling.normal_(self, mean, std, key=key, generator=generator)


def exponential_(
    self: Tensor, rate: Any = 1.0, *, key: Any = None, generator: Any = None, lambd: Any = None
) -> Tensor:
    """Fill with draws from the exponential distribution."""
    rate = rate if lambd is None else lambd

    def draw(shape: Any, kind: Any) -> Any:
        if rate.__class__ not in (int, float) or not rate > 0:
            raise Refused
        value = Draw(shape, generator).exponential(kind)
        return value if rate == 1 else value * kind.type(1 / rate)

    if _fill(self, draw, key):
        return self
    return sampling.exponential_(self, rate, key=key, generator=generator)


def _fill(tensor: Tensor, draw: Any, key: Any) -> bool:
    """Write draws to a tensor of floats. Returns False if that cannot be done at once."""
    own = tensor.value
    if key is not None or own.dtype.kind != "f" or allowance.is_beyond(own.size):
        return False
    if is_captured() or not may_write(tensor, []):
        return False
    try:
        values = draw(own.shape, own.dtype)
    except (*NOT_DONE, OgiveError):
        return False
    replace(tensor, values)
    return True


def bernoulli(self: Tensor, p: Any = None, *, key: Any = None, generator: Any = None) -> Tensor:
    """1 with the probability given by each element, or with probability `p`; else 0."""
    try:
        own = self.value
        if (
            key is not None
            or is_captured()
            or allowance.is_beyond(own.size)
            or self.record is not None
        ):
            raise Refused
        if p is None:
            if own.dtype.kind != "f":
                raise Refused
            drawn = Draw(own.shape, generator).uniform(own.dtype) < own
        else:
            drawn = Draw(own.shape, generator).chance(_to_probability(p))
        return self.new_tensor(drawn)
    except NOT_DONE as refusal:
        return instead(refusal, sampling.bernoulli, self, p, key=key, generator=generator)


def bernoulli_(self: Tensor, p: Any = 0.5, *, key: Any = None, generator: Any = None) -> Tensor:
    """Fill with 1 with probability `p`, else with 0."""
    try:
        own = self.value
        if (
            key is not None
            or is_captured()
            or allowance.is_beyond(own.size)
            or not may_write(self, [])
        ):
            raise Refused
        probability = _to_probability(p)
        replace(self, Draw(own.shape, generator).chance(probability).astype(own.dtype))
    except NOT_DONE as refusal:
        return instead(refusal, sampling.bernoulli_, self, p, key=key, generator=generator)
    return self


def _to_probability(p: Any) -> float:
    if p.__class__ not in (int, float) or not 0 <= p <= 1:
        raise Refused
    return float(p)


# Dropout


class Mask:
    """The elements that dropout keeps, and their factor. It is drawn once, and a recomputation uses
    the same mask."""

    __slots__ = ("factors", "kept", "scale")

    def __init__(self, kept: Any, scale: float, kind: Any) -> None:
        self.kept = kept
        self.scale = scale
        self.factors = kept * kind.type(scale)


def _drop_plain(x: Tensor, mask: Mask) -> Tensor:
    return where(Tensor(mask.kept), x * mask.scale, 0)


def _drop(x: Any, mask: Mask) -> Any:
    if not numpy.isfinite(x).all():
        return numpy.where(mask.kept, x * x.dtype.type(mask.scale), x.dtype.type(0))
    return x * mask.factors + x.dtype.type(0)


def _drop_gradient(given: Any, out: Any, x: Any, mask: Mask) -> Any:
    return (numpy.where(mask.kept, given * given.dtype.type(mask.scale), given.dtype.type(0)),)


_DROP = Form(_drop_plain, _drop, False, False)
_DROP.gradient = _drop_gradient
_dropped = dispatching(_DROP)


def dropout(
    self: Tensor, p: Any = 0.5, training: bool = True, *, key: Any = None, generator: Any = None
) -> Tensor:
    """0 with probability `p`, else x / (1 - p); the tensor itself unless training."""
    mask = _mask(self, p, training, key, generator, None)
    if mask is None:
        return sampling.dropout(self, p, training, key=key, generator=generator)
    dropped: Tensor = _dropped(self, mask)
    return dropped


def dropout2d(
    self: Tensor, p: Any = 0.5, training: bool = True, *, key: Any = None, generator: Any = None
) -> Tensor:
    """Dropout of whole channels."""
    mask = _mask(self, p, training, key, generator, 4)
    if mask is None:
        return sampling.dropout2d(self, p, training, key=key, generator=generator)
    dropped: Tensor = _dropped(self, mask)
    return dropped


def _mask(x: Tensor, p: Any, training: Any, key: Any, generator: Any, rank: int | None) -> Any:
    own = x.value
    if p.__class__ not in (int, float) or not 0 <= p <= 1 or own.dtype.kind not in FLOATS:
        return None
    if not training or p == 0 or key is not None or is_captured() or allowance.is_beyond(own.size):
        return None
    if rank is not None and own.ndim != rank:
        return None
    shape = own.shape if rank is None else (*own.shape[:2], *[1] * (rank - 2))
    try:
        kept = Draw(shape, generator).chance(1 - p)
    except Refused:
        return None
    return Mask(kept, 1 / (1 - p) if p < 1 else 0.0, own.dtype)


METHODS = {
    "uniform_": uniform_, "normal_": normal_, "exponential_": exponential_,
    "bernoulli": bernoulli, "bernoulli_": bernoulli_, "dropout": dropout, "dropout2d": dropout2d,
}  # fmt: skip
"""The methods that eager tensors override."""

CALLS = {
    continuous.rand: making(rand), continuous.exponential: making(exponential),
    continuous.gumbel: making(gumbel), continuous.randn: making(randn),
    continuous.uniform_by_data: making(uniform),
    sampling.dropout: dropout, sampling.dropout2d: dropout2d, sampling.bernoulli: bernoulli,
}  # fmt: skip
"""The eager versions of functions. Layers make their initial values with some of them."""
