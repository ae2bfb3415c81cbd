"""Binary operations: the dtypes that they take, and how operands are promoted and broadcast.

Shapes broadcast, and dtypes are promoted as in PyTorch. All operations go through `combine`, which
has a fast path of one node for equal shapes and dtypes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType, Scalar, result_type
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentTypeError, DtypeError
from ogive.tensor import build
from ogive.tensor.core import Core, bring_together, reflected, to_operand, wrap
from ogive.tensor.elementwise.changing_numbers import number_node

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

FLOATS = frozenset(dtype for dtype in dtypes.FLOATS if not dtype.is_storage_only)
INTEGERS = frozenset(dtypes.SIGNED + dtypes.UNSIGNED)
NUMBERS = FLOATS | INTEGERS
ANYTHING = NUMBERS | {dtypes.bool_}


class Operation:
    """A binary operation and its rules for dtypes.

    Operands of one dtype in `direct` are used as they are. Otherwise `adapt` maps the common dtype
    to the dtype to compute in, or raises. `result` is the dtype of the result if it differs.
    """

    __slots__ = ("adapt", "direct", "name", "op", "result")

    def __init__(
        self,
        name: str,
        op: Op,
        direct: frozenset[DType],
        adapt: Callable[[DType, str], DType],
        result: DType | None = None,
    ) -> None:
        self.name = name
        self.op = op
        self.direct = direct
        self.adapt = adapt
        self.result = result


def refuse(dtype: DType, name: str, advice: str) -> DtypeError:
    """The error of an operation that does not support `dtype`."""
    if dtype.is_storage_only:
        advice = "the 8-bit floats are for storage; cast to a wider float first"
    if dtype.is_complex:
        advice = "complex numbers have neither order nor bits; take real, imag or abs() first"
    return DtypeError(f"{name} does not take {dtype.name}: {advice}")


def any_dtype(dtype: DType, name: str) -> DType:
    """All real dtypes except those of storage only."""
    if dtype.is_storage_only or dtype.is_complex:
        raise refuse(dtype, name, "")
    return dtype


def field_dtype(dtype: DType, name: str) -> DType:
    """All real and complex dtypes except those of storage only."""
    return dtype if dtype.is_complex else any_dtype(dtype, name)


def number_dtype(dtype: DType, name: str) -> DType:
    """Integers and floats."""
    if dtype not in NUMBERS:
        raise refuse(dtype, name, "cast to an integer or float dtype first")
    return dtype


def addable_dtype(dtype: DType, name: str) -> DType:
    """Integers, floats and complex numbers."""
    return dtype if dtype.is_complex else number_dtype(dtype, name)


def subtractable_dtype(dtype: DType, name: str) -> DType:
    """Integers and floats, with PyTorch's advice on masks."""
    if dtype not in NUMBERS:
        raise refuse(dtype, name, "to invert a mask use ~ or logical_not()")
    return dtype


def inexact_dtype(dtype: DType, name: str) -> DType:
    """Floats and complex numbers; integers and bool are computed in float32."""
    return dtype if dtype.is_complex else float_dtype(dtype, name)


def float_dtype(dtype: DType, name: str) -> DType:
    """Floats; integers and bool are computed in float32."""
    return any_dtype(dtype, name) if dtype.is_inexact else dtypes.default_float


def bits_dtype(dtype: DType, name: str) -> DType:
    """Integers and bool."""
    if dtype.is_inexact:
        raise refuse(dtype, name, "it works on integers and bool")
    return dtype


def integer_dtype(dtype: DType, name: str) -> DType:
    """Integers."""
    if dtype not in INTEGERS:
        raise refuse(dtype, name, "it works on integers")
    return dtype


_BITS = INTEGERS | {dtypes.bool_}
ADD = Operation("add", Op.ADD, NUMBERS, any_dtype)
SUB = Operation("sub", Op.SUB, NUMBERS, subtractable_dtype)
MUL = Operation("mul", Op.MUL, NUMBERS, any_dtype)
DIV = Operation("div", Op.DIV, FLOATS, float_dtype)
FLOORDIV = Operation("floor_divide", Op.FLOORDIV, NUMBERS, number_dtype)
MOD = Operation("remainder", Op.MOD, NUMBERS, number_dtype)
POW = Operation("pow", Op.POW, NUMBERS, number_dtype)
MAXIMUM = Operation("maximum", Op.MAXIMUM, NUMBERS, any_dtype)
MINIMUM = Operation("minimum", Op.MINIMUM, NUMBERS, any_dtype)
ATAN2 = Operation("atan2", Op.ATAN2, FLOATS, float_dtype)
COPYSIGN = Operation("copysign", Op.COPYSIGN, FLOATS, float_dtype)
AND = Operation("bitwise_and", Op.AND, _BITS, bits_dtype)
OR = Operation("bitwise_or", Op.OR, _BITS, bits_dtype)
XOR = Operation("bitwise_xor", Op.XOR, _BITS, bits_dtype)
SHL = Operation("bitwise_left_shift", Op.SHL, INTEGERS, integer_dtype)
SHR = Operation("bitwise_right_shift", Op.SHR, INTEGERS, integer_dtype)
LT = Operation("lt", Op.CMPLT, ANYTHING, any_dtype, dtypes.bool_)
LE = Operation("le", Op.CMPLE, ANYTHING, any_dtype, dtypes.bool_)
EQ = Operation("eq", Op.CMPEQ, ANYTHING, any_dtype, dtypes.bool_)
NE = Operation("ne", Op.CMPNE, ANYTHING, any_dtype, dtypes.bool_)

_ON_BOOL = {Op.ADD: Op.OR, Op.MUL: Op.AND, Op.MAXIMUM: Op.OR, Op.MINIMUM: Op.AND}
"""The logical operation that arithmetic on bool is."""


def combine(operation: Operation, left: Any, right: Any) -> Tensor:
    """Apply a binary operation to two operands, at least one of them a tensor."""
    with graph_lock:
        if isinstance(left, Core):
            first = left.node
            dtype = first.dtype
            shape = first.shape
            device = left.device
            if dtype in operation.direct:
                if isinstance(right, Core):
                    second = right.node
                    if dtype is second.dtype and device == right.device:
                        if shape != second.shape:
                            first, second = build.broadcast((first, second), operation.name)
                            shape = first.shape or second.shape
                        sources = (first, second)
                        node = make(operation.op, operation.result or dtype, sources, None, shape)
                        return wrap(node, device)
                elif _joins(dtype, right):
                    sources = (first, number_node(dtype, right, shape, device))
                    node = make(operation.op, operation.result or dtype, sources, None, shape)
                    return wrap(node, device)
        else:
            second = right.node
            dtype = second.dtype
            if dtype in operation.direct and _joins(dtype, left):
                device, shape = right.device, second.shape
                sources = (number_node(dtype, left, shape, device), second)
                node = make(operation.op, operation.result or dtype, sources, None, shape)
                return wrap(node, device)
        return _combine_unequal(operation, left, right)


_LIMITS: dict[DType, Any] = {dtype: dtype.limits for dtype in dtypes.SIGNED + dtypes.UNSIGNED}


def _joins(dtype: DType, value: Any) -> bool:
    """Whether `value` is a Python number that fits `dtype` and does not promote it."""
    kind = value.__class__
    if dtype.kind == "float":
        return kind is float or (kind is int and -(1 << 63) <= value < 1 << 63)
    return kind is int and dtype in _LIMITS and _LIMITS[dtype][0] <= value <= _LIMITS[dtype][1]


def _combine_unequal(operation: Operation, left: Any, right: Any) -> Tensor:
    """`combine` for operands whose dtypes, devices or kinds differ."""
    name = operation.name
    try:
        given = (to_operand(left, name), to_operand(right, name))
    except ArgumentTypeError as error:
        return reflected(error, name, left, right)  # type: ignore[no-any-return]
    device, (first, second) = bring_together(given, name)
    operands = (first, second)
    tensors = [value for value in operands if isinstance(value, Core)]
    common = common_dtype(operands)
    if common.is_complex:
        from ogive.tensor.elementwise import complex_numbers

        return complex_numbers.combine(operation, operands, common, device)
    dtype = operation.adapt(common, name)
    if operation.result is not None and dtype.is_integer:
        known = _known_comparison(operation.op, operands, dtype)
        if known is not None:
            return wrap(build.filled(dtypes.bool_, known, tensors[0].node.shape), device)
    op = _ON_BOOL.get(operation.op, operation.op) if dtype.is_bool else operation.op
    nodes = build.broadcast([to_node(value, dtype) for value in operands], name)
    return wrap(make(op, operation.result or dtype, nodes), device)


def common_dtype(operands: Sequence[Any]) -> DType:
    """The dtype that tensors and Python numbers are promoted to."""
    tensors = [(x.dtype, x.ndim) for x in operands if isinstance(x, Core)]
    return result_type(tensors, [x for x in operands if not isinstance(x, Core)])


def to_node(value: Core | Scalar | complex, dtype: DType) -> UOp:
    """An operand as a node of `dtype`."""
    if isinstance(value, Core):
        return build.cast(value.node, dtype)
    return build.constant(dtype, value)


_COMPARE: dict[Op, Callable[[Any, Any], bool]] = {
    Op.CMPLT: operator.lt, Op.CMPLE: operator.le, Op.CMPEQ: operator.eq, Op.CMPNE: operator.ne,
}  # fmt: skip


def _known_comparison(op: Op, operands: tuple[Core | Scalar, ...], dtype: DType) -> bool | None:
    """The result for every element, if a number lies outside the range of `dtype`."""
    least, greatest = dtype.limits
    for value in operands:
        if not isinstance(value, Core) and not least <= value <= greatest:
            return _COMPARE[op](*[least if isinstance(x, Core) else x for x in operands])
    return None


def limit(operation: Operation, x: Core, bound: Any, flat: bool = False) -> Tensor:
    """`maximum` or `minimum` of x and a bound. At the bound the gradient goes to x unless `flat`.

    limit(MAXIMUM, x, 0)   →   WHERE(x < 0, 0, x)
    """
    value = to_operand(bound, operation.name)
    if type(value) is int and x.node.dtype.is_integer:
        least, greatest = x.node.dtype.limits
        value = max(least, min(value, greatest))  # a bound beyond the dtype has no effect
    if isinstance(value, Core) or value != value or not x.node.dtype.is_float:
        return combine(operation, x, value)
    with graph_lock:
        dtype = operation.adapt(common_dtype((x, value)), operation.name)
        node, edge = build.cast(x.node, dtype), build.constant(dtype, value)
        sources = (node, edge) if operation is MAXIMUM else (edge, node)
        beyond = make(Op.CMPLE if flat else Op.CMPLT, dtypes.bool_, sources, None, node.shape)
        return wrap(make(Op.WHERE, dtype, (beyond, edge, node), None, node.shape), x.device)
