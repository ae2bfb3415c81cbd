"""The table of gradient rules: for each op, the gradients of its sources.

A rule has a function for each source: from the node and the upstream gradient (with the node's
shape and dtype) to the gradient of that source (with the source's). None means that no gradient
flows.

    MUL(a, b)    a gets upstream · b, b gets upstream · a
    EXPAND(x)    x gets upstream, summed over the repeated axes

The formulas are nodes themselves, so that gradients can be differentiated again. Conventions are
those of PyTorch, for ties, poles, and complex numbers: the gradient of a real loss is
∂/∂x + i·∂/∂y, and factors of products are conjugated.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ogive.autograd.rules.formulas import (
    add,
    apply,
    choose,
    compare,
    conjugate,
    divide,
    multiply,
    negate,
    power,
    products_of_others,
    sign,
    square,
    subtract,
    unmove,
    zeros_like,
)
from ogive.autograd.rules.indexed import gathered, scanned, scattered_base, scattered_value
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, is_group
from ogive.compiler.ir.memory import computing_devices
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import COMPARISON, MOVEMENT, Op
from ogive.compiler.live.registry import make
from ogive.tensor import build

Formula = Callable[[UOp, UOp], UOp]
Rule = tuple[Formula | None, ...]


# One source: upstream times the derivative of the result with respect to x


def _derivative(function: Callable[[UOp, UOp], UOp]) -> Rule:
    """The rule of a unary op, from its derivative `function(x, result)`."""
    return (lambda node, upstream: multiply(upstream, function(node.operand, node)),)


def _zero(node: UOp, upstream: UOp) -> UOp:
    return zeros_like(node)


def _bell(x: UOp, factor: float) -> UOp:
    return multiply(apply(Op.EXP, negate(square(x))), factor)


FUNCTIONS: dict[Op, Rule] = {
    Op.NEG: (lambda node, upstream: negate(upstream),),
    Op.ABS: _derivative(lambda x, y: sign(x)),
    Op.RECIPROCAL: _derivative(lambda x, y: negate(square(y))),
    Op.SQRT: (lambda node, upstream: divide(upstream, multiply(node, 2.0)),),
    Op.RSQRT: _derivative(lambda x, y: multiply(multiply(square(y), y), -0.5)),
    Op.EXP: _derivative(lambda x, y: y),
    Op.EXP2: _derivative(lambda x, y: multiply(y, math.log(2))),
    Op.EXPM1: _derivative(lambda x, y: add(y, 1.0)),
    Op.LOG: (lambda node, upstream: divide(upstream, node.operand),),
    Op.LOG2: (lambda node, upstream: divide(upstream, multiply(node.operand, math.log(2))),),
    Op.LOG10: (lambda node, upstream: divide(upstream, multiply(node.operand, math.log(10))),),
    Op.LOG1P: (lambda node, upstream: divide(upstream, add(node.operand, 1.0)),),
    Op.SIN: _derivative(lambda x, y: apply(Op.COS, x)),
    Op.COS: _derivative(lambda x, y: negate(apply(Op.SIN, x))),
    Op.TAN: _derivative(lambda x, y: add(square(y), 1.0)),
    Op.ASIN: _derivative(lambda x, y: apply(Op.RSQRT, subtract(1.0, square(x)))),
    Op.ACOS: _derivative(lambda x, y: negate(apply(Op.RSQRT, subtract(1.0, square(x))))),
    Op.ATAN: (lambda node, upstream: divide(upstream, add(square(node.operand), 1.0)),),
    Op.SINH: _derivative(lambda x, y: apply(Op.COSH, x)),
    Op.COSH: _derivative(lambda x, y: apply(Op.SINH, x)),
    Op.TANH: _derivative(lambda x, y: subtract(1.0, square(y))),
    Op.ASINH: _derivative(lambda x, y: apply(Op.RSQRT, add(square(x), 1.0))),
    Op.ACOSH: _derivative(lambda x, y: apply(Op.RSQRT, subtract(square(x), 1.0))),
    Op.ATANH: (lambda node, upstream: divide(upstream, subtract(1.0, square(node.operand))),),
    Op.ERF: _derivative(lambda x, y: _bell(x, 2 / math.sqrt(math.pi))),
    Op.ERFC: _derivative(lambda x, y: _bell(x, -2 / math.sqrt(math.pi))),
    # Step functions have the derivative zero wherever they have one.
    **dict.fromkeys([Op.FLOOR, Op.CEIL, Op.ROUND, Op.TRUNC], (_zero,)),
}


# Two sources and more


def _pow_base(node: UOp, upstream: UOp) -> UOp:
    """b · aᵇ⁻¹; zero for b = 0, where a⁻¹ may be infinite."""
    base, exponent = node.src
    if exponent.op is Op.CONST:
        slope = multiply(power(base, exponent.arg - 1), exponent.arg)
        return multiply(upstream, slope) if exponent.arg else zeros_like(node)
    slope = multiply(exponent, power(base, subtract(exponent, 1.0)))
    return choose(compare(Op.CMPEQ, exponent, 0.0), 0.0, multiply(upstream, slope))


def _pow_exponent(node: UOp, upstream: UOp) -> UOp:
    """aᵇ · ln a; zero for a = 0 and b ≥ 0, where ln a is infinite."""
    base, exponent = _like(node.left, node), node.right
    tests = (compare(Op.CMPEQ, base, 0.0), compare(Op.CMPLE, 0.0, exponent))
    flat = make(Op.AND, dtypes.bool_, tests, None, node.shape)
    slope = multiply(node, apply(Op.LOG, base))
    return choose(flat, 0.0, multiply(upstream, slope))


def _like(node: UOp, shaped: UOp) -> UOp:
    """`node` in the shape of `shaped`, expanded if it is a scalar."""
    return build.expand_to(node, shaped.shape)


def _extreme(position: int) -> Formula:
    """The chosen operand gets upstream; equal operands share it."""

    def formula(node: UOp, upstream: UOp) -> UOp:
        own, other = node.src[position], node.src[1 - position]
        less = (own, other) if node.op is Op.MAXIMUM else (other, own)
        kept = choose(compare(Op.CMPLT, *less), 0.0, upstream)
        return choose(compare(Op.CMPEQ, own, other), multiply(upstream, 0.5), kept)

    return formula


def _divisor(node: UOp, upstream: UOp) -> UOp:
    product = multiply(upstream, conjugate(node))
    return negate(divide(product, conjugate(node.right)))


def _mod_divisor(node: UOp, upstream: UOp) -> UOp:
    quotient = make(Op.FLOORDIV, node.dtype, node.src, None, node.shape)
    return negate(multiply(upstream, quotient))


def _inverse_norm(node: UOp) -> UOp:
    """1 / (y² + x²), and 0 at the origin."""
    y, x = _like(node.left, node), _like(node.right, node)
    norm = add(square(y), square(x))
    return choose(compare(Op.CMPEQ, norm, 0.0), 0.0, apply(Op.RECIPROCAL, norm))


def _copysign(node: UOp, upstream: UOp) -> UOp:
    """The factor by which the sign of the magnitude was changed; 0 at 0."""
    magnitude = node.left
    ratio = divide(node, magnitude)
    return multiply(upstream, choose(compare(Op.CMPEQ, magnitude, 0.0), 0.0, ratio))


def _complex(real: UOp | float, imaginary: UOp | float) -> UOp:
    """A complex gradient from its parts, one of which is a node."""
    like = real if isinstance(real, UOp) else imaginary
    assert isinstance(like, UOp), "one part is a node"
    parts = [x if isinstance(x, UOp) else build.constant(like.dtype, x) for x in (real, imaginary)]
    return make(Op.COMPLEX, dtypes.promote(like.dtype, dtypes.complex64), tuple(parts))


def _part_of(op: Op) -> Formula:
    return lambda node, upstream: make(op, node.dtype.part, (upstream,), None, node.shape)


PAIRS: dict[Op, Rule] = {
    Op.ADD: (lambda node, upstream: upstream, lambda node, upstream: upstream),
    Op.SUB: (lambda node, upstream: upstream, lambda node, upstream: negate(upstream)),
    Op.MUL: (
        lambda node, upstream: multiply(upstream, conjugate(node.right)),
        lambda node, upstream: multiply(upstream, conjugate(node.left)),
    ),
    Op.DIV: (
        lambda node, upstream: divide(upstream, conjugate(node.right)),
        _divisor,
    ),
    Op.POW: (_pow_base, _pow_exponent),
    Op.MAXIMUM: (_extreme(0), _extreme(1)),
    Op.MINIMUM: (_extreme(0), _extreme(1)),
    Op.MOD: (lambda node, upstream: upstream, _mod_divisor),
    Op.FLOORDIV: (_zero, _zero),
    Op.ATAN2: (
        lambda node, upstream: multiply(upstream, multiply(node.right, _inverse_norm(node))),
        lambda node, upstream: negate(
            multiply(upstream, multiply(node.left, _inverse_norm(node)))
        ),
    ),
    Op.COPYSIGN: (_copysign, _zero),
    Op.REAL: (lambda node, upstream: _complex(upstream, 0.0),),
    Op.IMAGINARY: (lambda node, upstream: _complex(0.0, upstream),),
    Op.COMPLEX: (_part_of(Op.REAL), _part_of(Op.IMAGINARY)),
    Op.WHERE: (
        None,
        lambda node, upstream: choose(_like(node.condition, node), upstream, 0.0),
        lambda node, upstream: choose(_like(node.condition, node), 0.0, upstream),
    ),
}


# Values over axes


def _reduced(node: UOp, upstream: UOp) -> UOp:
    op, axes, x = node.combine, node.axes, node.operand
    wide = build.expand(upstream, x.shape)
    if op is Op.ADD:
        return wide
    if op is Op.MUL:
        return multiply(wide, products_of_others(x, axes))
    # Elements equal to the extreme share upstream evenly.
    chosen = build.cast(compare(Op.CMPEQ, x, build.expand(node, x.shape)), x.dtype)
    number = build.expand(build.reduce(chosen, Op.ADD, axes), x.shape)
    return multiply(wide, divide(chosen, number))


def _copied_back(node: UOp, upstream: UOp) -> UOp:
    return make(Op.COPY, node.dtype, (upstream,), _device_of(node.operand))


def _laid_out_back(node: UOp, upstream: UOp) -> UOp:
    """The gradient on the devices of the operand. Its uses determine its layout there."""
    device = _device_of(node.operand)
    return upstream if is_group(device) else make(Op.COPY, node.dtype, (upstream,), device)


def _device_of(node: UOp) -> str:
    """The device of a value, by the first memory under it."""
    return computing_devices(node.walk())[node] or DEFAULT_DEVICE


def _passed_on(node: UOp, upstream: UOp) -> UOp:
    return upstream


RULES: dict[Op, Rule] = {
    **FUNCTIONS,
    **PAIRS,
    **dict.fromkeys(MOVEMENT, (unmove,)),
    Op.CAST: (lambda node, upstream: build.cast(upstream, node.operand.dtype),),
    Op.REDUCE_AXES: (_reduced,),
    Op.GATHER: (gathered,),
    Op.SCATTER: (scattered_base, scattered_value),
    Op.SCAN_AXIS: (scanned,),
    Op.CONTIGUOUS: (_passed_on,),
    Op.COPY: (_copied_back,),
    Op.SHARD: (_laid_out_back,),
}

FLAT = COMPARISON | {Op.DETACH, Op.BITCAST, Op.MSELECT}
"""Ops through which no gradient flows, although their sources are floats."""
