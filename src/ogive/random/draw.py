"""A draw: random words for each element of a shape, and the numbers made from them.

The functions return nodes of shape (elements,), and are called with `graph_lock` held. Floats of 16
bits are drawn in float32 and rounded when the draw is finished.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar, to_dtype
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape, element_count
from ogive.compiler.live.registry import make
from ogive.errors import DtypeError
from ogive.random.cipher import FIRST, SECOND, enciphered
from ogive.random.keys import key_of_draw
from ogive.tensor import build
from ogive.tensor.core import wrap

if TYPE_CHECKING:
    from ogive.random.generator import Generator
    from ogive.tensor.tensor import Tensor

PRECISION = {dtypes.float64: 53, dtypes.float32: 24, dtypes.float16: 11, dtypes.bfloat16: 8}
"""The bits of a uniform number: the precision of the dtype."""


class Draw:
    """A source of the random words of one draw, under a key of its own."""

    __slots__ = ("key", "length", "shape")

    def __init__(
        self, shape: Shape, key: Tensor | None, generator: Generator | None, name: str
    ) -> None:
        self.shape = shape
        self.length = element_count(shape)
        self.key = key_of_draw(key, generator, name)

    def bits(self, purpose: int = FIRST) -> UOp:
        """Return 64 bits for each element."""
        return enciphered(self.key, self.length, purpose)

    def finish(self, node: UOp, dtype: DType, device: str) -> Tensor:
        """Return the tensor of the draw. `node` holds its elements in row-major order."""
        return wrap(build.reshape(build.cast(node, dtype), self.shape), device)


def to_float(dtype: Any, name: str) -> DType:
    """Return the float dtype to draw, by default float32. Raises `DtypeError`."""
    chosen = dtypes.default_float if dtype is None else to_dtype(dtype)
    if chosen not in PRECISION:
        known = ", ".join([each.name for each in PRECISION])
        raise DtypeError(f"{name} draws {known}, not {chosen.name}; cast afterwards")
    return chosen


def wide(dtype: DType) -> DType:
    """Return the dtype in which numbers of `dtype` are computed."""
    return dtypes.float64 if dtype is dtypes.float64 else dtypes.float32


def operation(op: Op, left: UOp, right: UOp | Scalar) -> UOp:
    """Apply an op to two nodes, or to a node and a number of its dtype."""
    if not isinstance(right, UOp):
        right = build.constant(left.dtype, right)
    return make(op, left.dtype, (left, right), None, left.shape)


def top_bits(bits: UOp, count: int, dtype: DType) -> UOp:
    """Return the highest bits of each word as numbers of `dtype`."""
    integer = dtypes.int32 if count < 32 else dtypes.int64
    return build.cast(build.cast(operation(Op.SHR, bits, 64 - count), integer), dtype)


def uniform(bits: UOp, dtype: DType) -> UOp:
    """Return uniform multiples of 2^-p in [0, 1), where p is the precision of `dtype`."""
    precision = PRECISION[dtype]
    return operation(Op.MUL, top_bits(bits, precision, wide(dtype)), 2.0**-precision)


def open_uniform(bits: UOp, dtype: DType) -> UOp:
    """Return uniform odd multiples of 2^-p in (0, 1), whose logarithms are finite."""
    kind = wide(dtype)
    precision = PRECISION[kind]
    halves = operation(Op.ADD, top_bits(bits, precision - 1, kind), 0.5)
    return operation(Op.MUL, halves, 2.0 ** (1 - precision))


def exponential(bits: UOp, dtype: DType) -> UOp:
    """Return exponential numbers of rate 1: -log(u) for uniform u."""
    logarithm = make(Op.LOG, wide(dtype), (open_uniform(bits, dtype),))
    return make(Op.NEG, logarithm.dtype, (logarithm,))


def normal(draw: Draw, dtype: DType) -> UOp:
    """Return normal numbers: sqrt(-2 log u) cos(2 pi v) for uniform u and v.

    u and v are the halves of a word, of 32 bits each; for float64, two words, of 53 bits each.
    """
    kind = wide(dtype)
    bits = draw.bits()
    if kind is dtypes.float64:
        radius, angle, precision = top_bits(bits, 53, kind), draw.bits(SECOND), 53
        turns = top_bits(angle, 53, kind)
    else:
        words = build.cast(operation(Op.SHR, bits, 32), dtypes.uint32)
        radius, precision = build.cast(words, kind), 32
        turns = build.cast(build.cast(bits, dtypes.uint32), kind)
    u = operation(Op.MUL, operation(Op.ADD, radius, 0.5), 2.0**-precision)
    squared = operation(Op.MUL, make(Op.LOG, kind, (u,)), -2.0)
    cosine = make(Op.COS, kind, (operation(Op.MUL, turns, 2 * math.pi * 2.0**-precision),))
    return operation(Op.MUL, make(Op.SQRT, kind, (squared,)), cosine)


def chance(bits: UOp, probability: float) -> UOp:
    """Return True with a probability, which is rounded to a multiple of 2^-32."""
    bound = round(probability * 2.0**32)
    if bound >> 32:
        return build.filled(dtypes.bool_, True, bits.shape)
    words = build.cast(operation(Op.SHR, bits, 32), dtypes.uint32)
    limit = build.constant(dtypes.uint32, bound)
    return make(Op.CMPLT, dtypes.bool_, (words, limit))
