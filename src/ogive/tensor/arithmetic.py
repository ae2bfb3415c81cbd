"""Operations of two tensors: arithmetic, comparison, bitwise and logical, with their operators.

Shapes broadcast, dtypes meet as in PyTorch. All of them go through `combine`, which makes one node
at once when shapes and dtypes agree and takes the longer way when they do not.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentError, DivisionByZeroError, DtypeError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType, Scalar, result_type
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.registry import graph_lock, make
from ogive.tensor import build
from ogive.tensor.core import Core, same_device, to_operand, wrap
from ogive.tensor.powers import power

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

FLOATS = frozenset(dtype for dtype in dtypes.FLOATS if not dtype.is_storage_only)
INTEGERS = frozenset(dtypes.SIGNED + dtypes.UNSIGNED)
NUMBERS = FLOATS | INTEGERS
ANYTHING = NUMBERS | {dtypes.bool_}


class Operation:
    """How a binary operation treats dtypes.

    Operands of one dtype in `direct` are taken as they are. `adapt` gives the dtype to compute in
    from the common one, or raises. `result` is the dtype of the result where it is not that one.
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
    """The error of an operation that does not take `dtype`."""
    if dtype.is_storage_only:
        advice = "the 8-bit floats are for storage; cast to a wider float first"
    if dtype.is_complex:
        advice = "complex numbers have neither order nor bits; take real, imag or abs() first"
    return DtypeError(f"{name} does not take {dtype.name}: {advice}")


def any_dtype(dtype: DType, name: str) -> DType:
    """Everything real but storage."""
    if dtype.is_storage_only or dtype.is_complex:
        raise refuse(dtype, name, "")
    return dtype


def field_dtype(dtype: DType, name: str) -> DType:
    """Everything but storage, complex numbers too: what can be added and multiplied."""
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
"""What arithmetic is on truth values."""


def combine(operation: Operation, left: Any, right: Any) -> Tensor:
    """`left operation right`, at least one of them a tensor."""
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
                        made = make(operation.op, operation.result or dtype, sources, None, shape)
                        return wrap(made, device)
                elif _joins(dtype, right):
                    sources = (first, make(Op.CONST, dtype, (), right))
                    made = make(operation.op, operation.result or dtype, sources, None, shape)
                    return wrap(made, device)
        else:
            second = right.node
            dtype = second.dtype
            if dtype in operation.direct and _joins(dtype, left):
                sources = (make(Op.CONST, dtype, (), left), second)
                made = make(operation.op, operation.result or dtype, sources, None, second.shape)
                return wrap(made, right.device)
        return _combine_unequal(operation, left, right)


_LIMITS: dict[DType, Any] = {dtype: dtype.limits for dtype in dtypes.SIGNED + dtypes.UNSIGNED}


def _joins(dtype: DType, value: Any) -> bool:
    """Whether `value` is a Python number that leaves `dtype` as it is and fits it."""
    kind = value.__class__
    if dtype.kind == "float":
        return kind is float or (kind is int and -(1 << 63) <= value < 1 << 63)
    return kind is int and dtype in _LIMITS and _LIMITS[dtype][0] <= value <= _LIMITS[dtype][1]


def _combine_unequal(operation: Operation, left: Any, right: Any) -> Tensor:
    """The same where dtypes, devices or kinds of operands differ."""
    name = operation.name
    operands = (to_operand(left, name), to_operand(right, name))
    tensors = [value for value in operands if isinstance(value, Core)]
    device = same_device(tensors, name)
    common = common_dtype(operands)
    if common.is_complex:
        from ogive.tensor import complex

        return complex.combine(operation, operands, common, device)
    dtype = operation.adapt(common, name)
    if operation.result is not None and dtype.is_integer:
        known = _known_comparison(operation.op, operands, dtype)
        if known is not None:
            return wrap(build.filled(dtypes.bool_, known, tensors[0].node.shape), device)
    op = _ON_BOOL.get(operation.op, operation.op) if dtype.is_bool else operation.op
    nodes = build.broadcast([to_node(value, dtype) for value in operands], name)
    return wrap(make(op, operation.result or dtype, nodes), device)


def common_dtype(operands: Sequence[Any]) -> DType:
    """The dtype in which tensors and Python numbers meet."""
    tensors = [(x.node.dtype, len(x.node.shape)) for x in operands if isinstance(x, Core)]
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
    """The outcome for every element, where a number lies outside all that `dtype` can hold."""
    least, greatest = dtype.limits
    for value in operands:
        if not isinstance(value, Core) and not least <= value <= greatest:
            return _COMPARE[op](*[least if isinstance(x, Core) else x for x in operands])
    return None


def limit(operation: Operation, x: Core, bound: Any, flat: bool = False) -> Tensor:
    """`maximum` or `minimum` of x and a bound. At the bound x gets the gradient, unless `flat`.

    limit(MAXIMUM, x, 0)   →   WHERE(x < 0, 0, x)
    """
    value = to_operand(bound, operation.name)
    if type(value) is int and x.node.dtype.is_integer:
        least, greatest = x.node.dtype.limits
        value = max(least, min(value, greatest))  # a bound beyond the dtype is none
    if isinstance(value, Core) or value != value or not x.node.dtype.is_float:
        return combine(operation, x, value)
    with graph_lock:
        dtype = operation.adapt(common_dtype((x, value)), operation.name)
        node, edge = build.cast(x.node, dtype), build.constant(dtype, value)
        sources = (node, edge) if operation is MAXIMUM else (edge, node)
        beyond = make(Op.CMPLE if flat else Op.CMPLT, dtypes.bool_, sources, None, node.shape)
        return wrap(make(Op.WHERE, dtype, (beyond, edge, node), None, node.shape), x.device)


class Arithmetic(Core):
    """Arithmetic, comparisons, and operations on bits and truth values."""

    __slots__ = ()

    def add(self, other: Any, *, alpha: Scalar = 1) -> Tensor:
        """`self + alpha * other`, elementwise; on bool, logical or.

        Shapes: broadcast, (a, 1) with (b,) → (a, b).

        >>> (Tensor([1, 2]) + 1.5).tolist()
        [2.5, 3.5]
        """
        return combine(ADD, self, other if alpha == 1 else _scaled(self, other, alpha, "add"))

    def sub(self, other: Any, *, alpha: Scalar = 1) -> Tensor:
        """`self - alpha * other`, elementwise. Shapes broadcast.

        >>> (Tensor([5, 7]) - Tensor([1, 2])).tolist()
        [4, 5]

        Raises `DtypeError` for bool, as PyTorch does.
        """
        _refuse_bool(self, other)
        return combine(SUB, self, other if alpha == 1 else _scaled(self, other, alpha, "sub"))

    def mul(self, other: Any) -> Tensor:
        """`self * other`, elementwise; on bool, logical and. Shapes broadcast.

        >>> (Tensor([1, 2]) * 3).tolist()
        [3, 6]
        """
        return combine(MUL, self, other)

    def div(self, other: Any, rounding_mode: str | None = None) -> Tensor:
        """`self / other`, elementwise; integers are divided as float32. Shapes broadcast.

        `rounding_mode` "floor" or "trunc" rounds the quotient, and then integers stay integers.

        >>> (Tensor([7, -7]) / 2).tolist()
        [3.5, -3.5]
        >>> Tensor([7, -7]).div(2, rounding_mode="trunc").tolist()
        [3, -3]
        """
        if rounding_mode is None:
            return combine(DIV, self, other)
        if rounding_mode == "floor":
            return self.floor_divide(other)
        if rounding_mode != "trunc":
            raise ArgumentError(
                f"rounding_mode must be None, 'floor' or 'trunc', got {rounding_mode!r}"
            )
        quotient = self.floor_divide(other)
        if quotient.dtype.is_float:
            return combine(DIV, self, other).trunc()
        inexact = combine(MOD, self, other).ne(0)
        return quotient + (inexact & (quotient < 0)).cast(quotient.dtype)

    def floor_divide(self, other: Any) -> Tensor:
        """`self // other`: the quotient rounded down. Shapes broadcast.

        >>> (Tensor([7, -7]) // 2).tolist()
        [3, -4]

        An integer divided by a zero is an error: here for the number 0, else when it runs.
        """
        _refuse_zero(self, other, "floor_divide")
        return combine(FLOORDIV, self, other)

    def remainder(self, other: Any) -> Tensor:
        """`self % other`, with the sign of the divisor as Python has it. Shapes broadcast.

        >>> (Tensor([7, -7]) % 3).tolist()
        [1, 2]
        """
        _refuse_zero(self, other, "remainder")
        return combine(MOD, self, other)

    def pow(self, exponent: Any) -> Tensor:
        """`self ** exponent`, elementwise. Shapes broadcast.

        >>> (Tensor([1, 2, 3]) ** 2).tolist()
        [1, 4, 9]

        Raises `ArgumentError` for integers to a negative number.
        """
        value = to_operand(exponent, "pow")
        if isinstance(value, Core):
            return combine(POW, self, value)
        if common_dtype((self, value)).is_complex:
            from ogive.tensor import complex

            return complex.power(self, value)
        return _power(self, value)

    def maximum(self, other: Any) -> Tensor:
        """The greater of two, elementwise; NaN if either is. Shapes broadcast.

        >>> Tensor([1, 5]).maximum(3).tolist()
        [3, 5]
        """
        return combine(MAXIMUM, self, other)

    def minimum(self, other: Any) -> Tensor:
        """The smaller of two, elementwise; NaN if either is. Shapes broadcast.

        >>> Tensor([1, 5]).minimum(3).tolist()
        [1, 3]
        """
        return combine(MINIMUM, self, other)

    def atan2(self, other: Any) -> Tensor:
        """The angle of the point (other, self) to the first axis, in (-π, π]. Shapes broadcast.

        >>> Tensor([0.0]).atan2(Tensor([1.0])).tolist()
        [0.0]
        """
        return combine(ATAN2, self, other)

    def copysign(self, other: Any) -> Tensor:
        """The magnitude of this tensor with the signs of `other`. Shapes broadcast.

        >>> Tensor([1.0, 2.0]).copysign(-1).tolist()
        [-1.0, -2.0]
        """
        return combine(COPYSIGN, self, other)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        """Values below `min` become `min`, then those above `max` become `max`; NaN stays.

        >>> Tensor([1, 5, 9]).clamp(2, 8).tolist()
        [2, 5, 8]
        """
        if min is None and max is None:
            raise ArgumentError("clamp needs min, max or both")
        result: Any = self
        if min is not None:
            result = limit(MAXIMUM, result, min)
        return result if max is None else limit(MINIMUM, result, max)

    def clamp_min(self, min: Any) -> Tensor:
        """Values below `min` become `min`; NaN stays. Shapes broadcast.

        >>> Tensor([1, 5]).clamp_min(2).tolist()
        [2, 5]
        """
        return limit(MAXIMUM, self, min)

    def clamp_max(self, max: Any) -> Tensor:
        """Values above `max` become `max`; NaN stays. Shapes broadcast.

        >>> Tensor([1, 5]).clamp_max(2).tolist()
        [1, 2]
        """
        return limit(MINIMUM, self, max)

    def lerp(self, end: Any, weight: Any) -> Tensor:
        """`self + weight * (end - self)`. Shapes broadcast.

        >>> Tensor([0.0, 10.0]).lerp(Tensor([10.0, 20.0]), 0.5).tolist()
        [5.0, 15.0]
        """
        return combine(ADD, self, combine(MUL, combine(SUB, end, self), weight))

    def lt(self, other: Any) -> Tensor:
        """`self < other`, as bool. Shapes broadcast.

        >>> (Tensor([1, 2]) < 2).tolist()
        [True, False]
        """
        return combine(LT, self, other)

    def le(self, other: Any) -> Tensor:
        """`self <= other`, as bool. Shapes broadcast.

        >>> (Tensor([1, 2, 3]) <= 2).tolist()
        [True, True, False]
        """
        return combine(LE, self, other)

    def gt(self, other: Any) -> Tensor:
        """`self > other`, as bool. Shapes broadcast.

        >>> (Tensor([1, 2, 3]) > 2).tolist()
        [False, False, True]
        """
        return combine(LT, other, self)

    def ge(self, other: Any) -> Tensor:
        """`self >= other`, as bool. Shapes broadcast.

        >>> (Tensor([1, 2, 3]) >= 2).tolist()
        [False, True, True]
        """
        return combine(LE, other, self)

    def eq(self, other: Any) -> Tensor:
        """`self == other`, as bool; NaN equals nothing. Shapes broadcast.

        >>> (Tensor([1, 2]) == 2).tolist()
        [False, True]
        """
        return combine(EQ, self, other)

    def ne(self, other: Any) -> Tensor:
        """`self != other`, as bool. Shapes broadcast.

        >>> (Tensor([1, 2]) != 2).tolist()
        [True, False]
        """
        return combine(NE, self, other)

    def bitwise_and(self, other: Any) -> Tensor:
        """`self & other`, on integers and bool. Shapes broadcast.

        >>> (Tensor([6, 5]) & 3).tolist()
        [2, 1]
        """
        return combine(AND, self, other)

    def bitwise_or(self, other: Any) -> Tensor:
        """`self | other`, on integers and bool. Shapes broadcast.

        >>> (Tensor([6, 5]) | 1).tolist()
        [7, 5]
        """
        return combine(OR, self, other)

    def bitwise_xor(self, other: Any) -> Tensor:
        """`self ^ other`, on integers and bool. Shapes broadcast.

        >>> (Tensor([6, 5]) ^ 3).tolist()
        [5, 6]
        """
        return combine(XOR, self, other)

    def bitwise_left_shift(self, other: Any) -> Tensor:
        """`self << other`, on integers. Shapes broadcast.

        >>> (Tensor([1, 3]) << 2).tolist()
        [4, 12]
        """
        return combine(SHL, self, other)

    def bitwise_right_shift(self, other: Any) -> Tensor:
        """`self >> other`, on integers; the sign is kept. Shapes broadcast.

        >>> (Tensor([5, -8]) >> 1).tolist()
        [2, -4]
        """
        return combine(SHR, self, other)

    def logical_and(self, other: Any) -> Tensor:
        """Whether both are other than zero. Shapes broadcast.

        >>> Tensor([0, 2]).logical_and(Tensor([1, 1])).tolist()
        [False, True]
        """
        return combine(AND, _truth(self), _truth(other))

    def logical_or(self, other: Any) -> Tensor:
        """Whether either is other than zero. Shapes broadcast.

        >>> Tensor([0, 2]).logical_or(False).tolist()
        [False, True]
        """
        return combine(OR, _truth(self), _truth(other))

    def logical_xor(self, other: Any) -> Tensor:
        """Whether exactly one is other than zero. Shapes broadcast.

        >>> Tensor([0, 2]).logical_xor(True).tolist()
        [True, False]
        """
        return combine(XOR, _truth(self), _truth(other))

    __add__ = __radd__ = add
    __sub__ = sub
    __mul__ = __rmul__ = mul
    __truediv__ = div
    __floordiv__ = floor_divide
    __mod__ = remainder
    __pow__ = pow
    __lshift__ = bitwise_left_shift
    __rshift__ = bitwise_right_shift
    __and__ = __rand__ = bitwise_and
    __or__ = __ror__ = bitwise_or
    __xor__ = __rxor__ = bitwise_xor
    __lt__ = lt
    __le__ = le
    __gt__ = gt
    __ge__ = ge
    __eq__ = eq  # type: ignore[assignment]
    __ne__ = ne  # type: ignore[assignment]
    __hash__ = object.__hash__

    def __rsub__(self, other: Any) -> Tensor:
        _refuse_bool(self, other)
        return combine(SUB, other, self)

    def __rtruediv__(self, other: Any) -> Tensor:
        return combine(DIV, other, self)

    def __rfloordiv__(self, other: Any) -> Tensor:
        return combine(FLOORDIV, other, self)

    def __rmod__(self, other: Any) -> Tensor:
        return combine(MOD, other, self)

    def __rpow__(self, other: Any) -> Tensor:
        return combine(POW, other, self)

    def __rlshift__(self, other: Any) -> Tensor:
        return combine(SHL, other, self)

    def __rrshift__(self, other: Any) -> Tensor:
        return combine(SHR, other, self)


def _truth(value: Any) -> Core | bool:
    operand = to_operand(value, "a logical operation")
    if not isinstance(operand, Core):
        return bool(operand)
    return operand if operand.dtype.is_bool else combine(NE, operand, 0)


def _scaled(x: Core, other: Any, alpha: Scalar, name: str) -> Any:
    """`alpha * other`, which must leave integers integers."""
    operand = to_operand(other, name)
    if isinstance(alpha, float) and not common_dtype((x, operand)).is_inexact:
        raise DtypeError(f"{name}: alpha is {alpha}, and must be an integer between integers")
    return combine(MUL, operand, alpha) if isinstance(operand, Core) else operand * alpha


def _refuse_bool(left: Core, right: Any) -> None:
    for value in (left, right):
        is_mask = value.node.dtype.is_bool if isinstance(value, Core) else value.__class__ is bool
        if is_mask:
            raise refuse(dtypes.bool_, "sub", "to invert a mask use ~ or logical_not()")


def _refuse_zero(x: Core, divisor: Any, name: str) -> None:
    if divisor.__class__ is int and divisor == 0 and not x.node.dtype.is_float:
        raise DivisionByZeroError(f"{name}: {x.node.dtype.name} is divided by the number 0")


def _power(x: Core, exponent: Scalar) -> Tensor:
    dtype = number_dtype(common_dtype((x, exponent)), "pow")
    with graph_lock:
        return wrap(power(build.cast(x.node, dtype), exponent), x.device)
