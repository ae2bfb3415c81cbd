"""Gradient rules of reading and writing at computed positions, and of scans.

    GATHER(x, i)       x gets upstream, added up at the positions i
    SCATTER(x, v, i)   v gets upstream at the positions i, x gets it elsewhere
    SCAN(x)            x gets upstream, scanned from the other end
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.autograd.rules.formulas import (
    add,
    choose,
    compare,
    divide,
    multiply,
    ones_like,
    shift,
    subtract,
    zeros_like,
)
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import greatest
from ogive.compiler.live.registry import make
from ogive.tensor import build


def gathered(node: UOp, upstream: UOp) -> UOp:
    """The gradient of the source of a `GATHER`."""
    x, indices = node.operand, node.indices
    return build.scatter(zeros_like(x), upstream, indices, Op.ADD)


# Scatter


def scattered_base(node: UOp, upstream: UOp) -> UOp:
    """The gradient of the memory that a `SCATTER` writes to."""
    base, value, *indices = node.src
    if node.arg is Op.ADD:
        return upstream
    if node.arg is None:
        return build.scatter(upstream, _zero(node), indices)
    if node.arg is Op.MUL:
        return multiply(upstream, build.scatter(ones_like(base), value, indices, Op.MUL))
    return multiply(_share(node, upstream), _is_extreme(base, node))


def scattered_value(node: UOp, upstream: UOp) -> UOp:
    """The gradient of the values that a `SCATTER` writes."""
    value, indices = node.value, node.indices
    if node.arg is Op.ADD:
        return build.gather(upstream, indices)
    if node.arg is None:
        return choose(_is_last(node), build.gather(upstream, indices), 0.0)
    if node.arg is Op.MUL:
        return multiply(build.gather(upstream, indices), _product_of_others(node))
    share = build.gather(_share(node, upstream), indices)
    return multiply(share, _is_extreme(value, build.gather(node, indices)))


def _zero(node: UOp) -> UOp:
    return build.constant(node.dtype, 0)


def _is_last(node: UOp) -> UOp:
    """Whether each value is the last one written to its position, which stayed there."""
    base, value, *indices = node.src
    count = 1
    for size in value.shape:
        count = count * size
    numbers = build.reshape(build.count(count), value.shape)
    stayed = build.scatter(build.filled(dtypes.int64, -1, base.shape), numbers, indices)
    return compare(Op.CMPEQ, build.gather(stayed, indices), numbers)


def _product_of_others(node: UOp) -> UOp:
    """For each value, the product of all others at its position, which may be zero."""
    base, value, *indices = node.src
    is_zero = compare(Op.CMPEQ, value, 0.0)
    base_is_zero = compare(Op.CMPEQ, base, 0.0)
    factor = choose(is_zero, 1.0, value)
    products = build.scatter(choose(base_is_zero, 1.0, base), factor, indices, Op.MUL)
    zeros = build.scatter(
        build.cast(base_is_zero, base.dtype), build.cast(is_zero, base.dtype), indices, Op.ADD
    )
    others = subtract(build.gather(zeros, indices), build.cast(is_zero, base.dtype))
    product = divide(build.gather(products, indices), factor)
    return choose(compare(Op.CMPEQ, others, 0.0), product, 0.0)


def _is_extreme(x: UOp, extreme: UOp) -> UOp:
    return build.cast(compare(Op.CMPEQ, x, extreme), x.dtype)


def _share(node: UOp, upstream: UOp) -> UOp:
    """Upstream divided by the number of elements equal to the extreme at each position."""
    base, value, *indices = node.src
    reached = _is_extreme(value, build.gather(node, indices))
    count = build.scatter(_is_extreme(base, node), reached, indices, Op.ADD)
    return divide(upstream, count)


# Scan


def scanned(node: UOp, upstream: UOp) -> UOp:
    """The gradient of the source of a `SCAN`, which may have a wider dtype than the result."""
    op, axis = node.arg
    (source,) = node.src
    if op is Op.ADD:
        return build.cast(_from_the_end(upstream, axis), source.dtype)
    if op is Op.MUL:
        dtype = source.dtype if node.dtype in build.WIDENED else node.dtype
        x, reached = build.cast(source, dtype), build.cast(upstream, dtype)
        return build.cast(_scanned_product(x, reached, axis), source.dtype)
    return _scanned_extreme(node, upstream, axis)


def _from_the_end(x: UOp, axis: int) -> UOp:
    return build.flip(build.scan(build.flip(x, (axis,)), Op.ADD, axis), (axis,))


def _scanned_product(x: UOp, upstream: UOp, axis: int) -> UOp:
    """L·s, where L is the product before each element and sₖ = upstreamₖ + xₖ₊₁ · sₖ₊₁.

    The recurrence is solved by doubling: each step doubles the distance that an element covers.
    Unlike a quotient by x, this is right where x is zero.
    """
    before = shift(build.scan(x, Op.MUL, axis), axis, 1, 1)
    factor = shift(build.flip(x, (axis,)), axis, 1, 0)
    sums = build.flip(upstream, (axis,))
    distance = 1
    while distance < greatest(x.shape[axis]):
        sums = _kept(add(sums, multiply(factor, shift(sums, axis, distance, 0))))
        factor = _kept(multiply(factor, shift(factor, axis, distance, 0)))
        distance *= 2
    return multiply(before, build.flip(sums, (axis,)))


def _kept(x: UOp) -> UOp:
    # If the steps were fused, each would recompute all those before it for every element.
    return make(Op.CONTIGUOUS, x.dtype, (x,), ())


def _scanned_extreme(node: UOp, upstream: UOp, axis: int) -> UOp:
    """Each element gets the sum of upstream over the positions at which it is the extreme."""
    x = node.operand
    along: Sequence[UOp] = [build.count_along(each, x.shape) for each in range(len(x.shape))]
    is_new = compare(Op.CMPEQ, x, node)
    zero = build.constant(dtypes.int64, 0)
    places = make(Op.WHERE, dtypes.int64, (is_new, along[axis], zero), None, x.shape)
    latest = build.scan(places, Op.MAXIMUM, axis)
    indices = [latest if each == axis else line for each, line in enumerate(along)]
    return build.scatter(zeros_like(x), upstream, indices, Op.ADD)
