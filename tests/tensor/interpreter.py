"""Tensor graphs evaluated node by node with NumPy: what a graph means, without the compiler.

Elementwise functions are computed in float64 and rounded once, so this is also a reference for the
kernels' results.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ogive import Tensor
from ogive.compiler.ir.calls import Expansions
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import movement_argument
from ogive.compiler.live import registry

Array = NDArray[Any]


def evaluate(tensor: Tensor) -> Array:
    """The values of a tensor."""
    result = evaluate_node(tensor.node, {})
    assert result.shape == tensor.shape
    assert result.dtype == tensor.dtype.numpy
    return result


WAYS: dict[str, Callable[[Tensor], Array]] = {"interpreted": evaluate, "compiled": Tensor.numpy}
"""How to read a tensor: is the graph right, and are the kernels right?"""


def evaluate_node(root: UOp, known: dict[UOp, Array]) -> Array:
    """The values of a node, some nodes' values being `known`."""
    values = dict(known)
    expansions = Expansions()
    stack = [root]
    while stack:
        node = stack[-1]
        inputs = [expansions.of(node)] if node.op is Op.CALL else _inputs(node)
        missing = [source for source in inputs if source not in values]
        if node in values or not missing:
            stack.pop()
            if node not in values:
                with np.errstate(all="ignore"):
                    is_call = node.op is Op.CALL
                    values[node] = values[inputs[0]] if is_call else _evaluate_one(node, values)
        stack.extend(missing if node not in values else ())
    return values[root]


def _inputs(node: UOp) -> list[UOp]:
    """The nodes whose values are needed. A store's target is a place, not a value."""
    if node.op is Op.AFTER:
        return [node.src[0], *[effect.src[1] for effect in node.src[1:]]]
    return [source for source in node.src if source.op is not Op.UNIQUE]


def _evaluate_one(node: UOp, values: dict[UOp, Array]) -> Array:
    op, dtype = node.op, node.dtype
    if op is Op.CONST:
        return np.array(node.arg, dtype.numpy)
    if op is Op.IOTA:
        return np.arange(node.arg, dtype=dtype.numpy)
    if op is Op.BUFFER:
        array: Array = registry.buffer_of(node).as_numpy(dtype.numpy, (node.arg[1],))
        return array.copy()
    first = values[node.src[0]]
    if op in _MOVEMENT:
        return _MOVEMENT[op](first, movement_argument(node))
    if op is Op.REDUCE_AXES:
        combining, axes = node.arg
        reduced: Array = np.asarray(_REDUCTIONS[combining](first, axis=axes, keepdims=True))
        return reduced.astype(first.dtype)
    if op is Op.GATHER:
        indices = np.broadcast_arrays(*[values[index] for index in node.src[1:]])
        return np.asarray(first[tuple(indices)])
    if op is Op.SCATTER:
        return _scatter(first, [values[source] for source in node.src[1:]], node.arg)
    if op is Op.SCAN_AXIS:
        combining, axis = node.arg
        scanned: Array = _COMBINATIONS[combining].accumulate(_widen(first), axis)
        return scanned.astype(dtype.numpy)
    if op is Op.SORT:
        return np.sort(first, axis=-1)
    if op in (Op.CONTIGUOUS, Op.DETACH, Op.GRADIENT):
        return first
    if op is Op.AFTER:
        for effect in node.src[1:]:
            target, value = effect.src
            place = np.arange(first.size).reshape(first.shape)
            where = evaluate_node(target, {node.src[0]: place})
            first = first.copy()
            first.reshape(-1)[where] = values[value]
        return first
    operands = [values[source] for source in node.src]
    if op is Op.CAST:
        return cast(operands[0], dtype)
    if op is Op.BITCAST:
        return operands[0].view(dtype.numpy)
    assert len({o.dtype for o in operands if o.dtype != bool}) <= 1, "operands agree in dtype"
    result = np.asarray(_FUNCTIONS[op](*[_widen(operand) for operand in operands]))
    return result.astype(dtype.numpy)


def _scatter(base: Array, sources: list[Array], op: Op | None) -> Array:
    value, *indices = np.broadcast_arrays(*sources)
    result = base.copy()
    if op is None:
        result[tuple(indices)] = value
    else:
        _COMBINATIONS[op].at(result, tuple(indices), value)
    return result


def cast(array: Array, dtype: DType) -> Array:
    """A conversion, as PyTorch does it on the CPU."""
    if array.dtype == dtype.numpy:
        return array
    return array.astype(dtype.numpy)


def _widen(array: Array) -> Array:
    is_float = array.dtype.kind in "fV"
    return array.astype(np.float64) if is_float else array


def _torch(function: Callable[..., Any]) -> Callable[..., Array]:
    return lambda *arrays: np.asarray(function(*[torch.from_numpy(np.array(a)) for a in arrays]))


def _flip(array: Array, axes: tuple[int, ...]) -> Array:
    return np.flip(array, axes)


def _pad(array: Array, argument: Any) -> Array:
    pads, fill = argument
    return np.pad(array, pads, constant_values=fill)


def _shrink(array: Array, pairs: Any) -> Array:
    return array[tuple([slice(begin, end) for begin, end in pairs])]


_MOVEMENT: dict[Op, Callable[[Array, Any], Array]] = {
    Op.RESHAPE: lambda array, shape: array.reshape(shape),
    Op.PERMUTE: lambda array, order: array.transpose(order),
    Op.EXPAND: lambda array, shape: np.broadcast_to(array, shape),
    Op.PAD: _pad,
    Op.SHRINK: _shrink,
    Op.FLIP: _flip,
}

_COMBINATIONS: dict[Op, np.ufunc] = {
    Op.ADD: np.add, Op.MUL: np.multiply, Op.MAXIMUM: np.maximum, Op.MINIMUM: np.minimum,
}  # fmt: skip

_REDUCTIONS: dict[Op, Any] = {
    Op.ADD: lambda a, **k: np.sum(_widen(a), **k),
    Op.MUL: lambda a, **k: np.prod(_widen(a), **k),
    Op.MAXIMUM: np.max, Op.MINIMUM: np.min, Op.AND: np.all, Op.OR: np.any,
}  # fmt: skip

_FUNCTIONS: dict[Op, Callable[..., Any]] = {
    Op.NEG: np.negative, Op.NOT: np.invert, Op.ABS: np.abs, Op.FLOOR: np.floor, Op.CEIL: np.ceil,
    Op.ROUND: np.round, Op.TRUNC: np.trunc, Op.RECIPROCAL: lambda a: 1 / a, Op.SQRT: np.sqrt,
    Op.RSQRT: _torch(torch.rsqrt), Op.EXP: np.exp, Op.EXP2: np.exp2, Op.EXPM1: np.expm1,
    Op.LOG: np.log, Op.LOG2: np.log2, Op.LOG10: np.log10, Op.LOG1P: np.log1p, Op.SIN: np.sin,
    Op.COS: np.cos, Op.TAN: np.tan, Op.ASIN: np.arcsin, Op.ACOS: np.arccos, Op.ATAN: np.arctan,
    Op.SINH: np.sinh, Op.COSH: np.cosh, Op.TANH: np.tanh, Op.ASINH: np.arcsinh,
    Op.ACOSH: np.arccosh, Op.ATANH: np.arctanh, Op.ERF: _torch(torch.erf),
    Op.ERFC: _torch(torch.erfc), Op.ADD: np.add, Op.SUB: np.subtract, Op.MUL: np.multiply,
    Op.DIV: np.divide, Op.FLOORDIV: _torch(torch.floor_divide), Op.MOD: _torch(torch.remainder),
    Op.MAXIMUM: np.maximum, Op.MINIMUM: np.minimum, Op.POW: _torch(torch.pow),
    Op.ATAN2: np.arctan2, Op.COPYSIGN: np.copysign, Op.AND: np.bitwise_and, Op.OR: np.bitwise_or,
    Op.XOR: np.bitwise_xor, Op.SHL: _torch(torch.bitwise_left_shift),
    Op.SHR: _torch(torch.bitwise_right_shift), Op.CMPLT: np.less, Op.CMPLE: np.less_equal,
    Op.CMPEQ: np.equal, Op.CMPNE: np.not_equal, Op.WHERE: np.where,
}  # fmt: skip
