"""Elementwise operations as LLVM instructions, with PyTorch's meaning.

There is one method for each family of ops. It writes text for any lane count and returns the name
of the result. 16- and 8-bit floats are widened to `float` for every operation and rounded after it.
"""

from __future__ import annotations

import math

from ogive.compiler.devices.llvm.ir_text import Vectors
from ogive.compiler.devices.llvm.kernel_writer import Writer
from ogive.compiler.devices.llvm.llvm_types import code_of, constant, register_type
from ogive.compiler.devices.llvm.vectors import conversions
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.ops import COMPARISON, TRANSCENDENTAL, Op
from ogive.compiler.targets.target import Target
from ogive.errors import EmitError

_FLOAT_BINARY = {Op.ADD: "fadd", Op.SUB: "fsub", Op.MUL: "fmul", Op.DIV: "fdiv"}
_INTEGER_BINARY = {
    Op.ADD: "add", Op.SUB: "sub", Op.MUL: "mul", Op.AND: "and", Op.OR: "or", Op.XOR: "xor",
}  # fmt: skip
_BOOL_BINARY = {
    Op.ADD: "or", Op.MUL: "and", Op.MAXIMUM: "or", Op.MINIMUM: "and", Op.AND: "and", Op.OR: "or",
    Op.XOR: "xor",
}  # fmt: skip
_FLOAT_INTRINSICS = {
    Op.SQRT: "sqrt", Op.FLOOR: "floor", Op.CEIL: "ceil", Op.TRUNC: "trunc",
    Op.ROUND: "roundeven", Op.ABS: "fabs", Op.COPYSIGN: "copysign",
}  # fmt: skip
_FLOAT_COMPARE = {Op.CMPLT: "olt", Op.CMPLE: "ole", Op.CMPEQ: "oeq", Op.CMPNE: "une"}
_INTEGER_COMPARE = {Op.CMPLT: "lt", Op.CMPLE: "le", Op.CMPEQ: "eq", Op.CMPNE: "ne"}


class Instructions:
    """Writes the instructions of elementwise nodes through a `Writer`."""

    def __init__(self, writer: Writer, target: Target) -> None:
        self.writer = writer
        self.target = target

    def elementwise(
        self, op: Op, dtype: DType, operand_dtype: DType, operands: list[str], lanes: int
    ) -> str:
        """One operation; `operand_dtype` is the dtype of the first source (of the second for
        WHERE), `operands` are names or constants of matching lane counts."""
        if op is Op.CAST:
            return self.cast(operands[0], operand_dtype, dtype, lanes)
        if op is Op.BITCAST:
            return self.bitcast(operands[0], operand_dtype, dtype, lanes)
        if op is Op.WHERE:
            return self.writer.of(dtype, lanes).select(*operands)
        if operand_dtype.is_float and operand_dtype.bits < 32:
            wide = [self.cast(x, operand_dtype, dtypes.float32, lanes) for x in operands]
            result = dtype if op in COMPARISON else dtypes.float32
            value = self.elementwise(op, result, dtypes.float32, wide, lanes)
            return value if op in COMPARISON else self.cast(value, dtypes.float32, dtype, lanes)
        if op in COMPARISON:
            return self.compare(op, operand_dtype, operands, lanes)
        if operand_dtype.is_float:
            return self.float_operation(op, dtype, operands, lanes)
        if operand_dtype.is_bool:
            return self.bool_operation(op, operands, lanes)
        return self.integer_operation(op, dtype, operands, lanes)

    def compare(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        vectors = self.writer.of(dtype, lanes)
        if dtype.is_float:
            return vectors.fcmp(_FLOAT_COMPARE[op], *operands)
        predicate = _INTEGER_COMPARE[op]
        if op in (Op.CMPLT, Op.CMPLE):
            predicate = ("s" if dtype.is_signed else "u") + predicate
        return vectors.icmp(predicate, *operands)

    def bool_operation(self, op: Op, operands: list[str], lanes: int) -> str:
        masks = self.writer.of(dtypes.bool_, lanes)
        if op is Op.NOT:
            return masks.xor(operands[0], constant(dtypes.bool_, True, lanes))
        if op not in _BOOL_BINARY:
            raise EmitError(f"{op.name} has no meaning for bool")
        return masks.binary(_BOOL_BINARY[op], *operands)

    def float_operation(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        floats = self.writer.of(dtype, lanes)
        if op in _FLOAT_BINARY:
            return floats.binary(_FLOAT_BINARY[op], *operands)
        if op is Op.NEG:
            return floats.fneg(operands[0])
        if op in _FLOAT_INTRINSICS:
            return floats.intrinsic(_FLOAT_INTRINSICS[op], *operands)
        if op is Op.RECIPROCAL:
            return floats.fdiv(1.0, operands[0])
        if op in (Op.MAXIMUM, Op.MINIMUM):
            return _float_extreme(floats, op, *operands)
        if op in (Op.FLOORDIV, Op.MOD):
            return _float_division(floats, op, *operands)
        if op in TRANSCENDENTAL:
            return self.function(op.name.lower(), dtype, operands, lanes)
        raise EmitError(f"{op.name} has no meaning for {dtype.name}")

    def function(self, name: str, dtype: DType, operands: list[str], lanes: int) -> str:
        """One of our own elementary functions."""
        from ogive.compiler.devices.llvm.math import define  # 4 ms that most kernels do without

        definition = define(name, code_of(dtype), lanes, self.target.scalings)
        return self.writer.call(definition, register_type(dtype, lanes), operands)

    def integer_operation(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        integers = self.writer.of(dtype, lanes)
        if op in _INTEGER_BINARY:
            return integers.binary(_INTEGER_BINARY[op], *operands)
        if op is Op.NEG:
            return integers.sub(0, operands[0])
        if op is Op.NOT:
            return integers.xor(operands[0], -1)
        if op is Op.ABS:
            return _absolute(integers, operands[0]) if dtype.is_signed else operands[0]
        if op in (Op.MAXIMUM, Op.MINIMUM):
            order = ("s" if dtype.is_signed else "u") + ("gt" if op is Op.MAXIMUM else "lt")
            return integers.select(integers.icmp(order, *operands), *operands)
        if op in (Op.FLOORDIV, Op.MOD):
            return self.integer_division(op, dtype, operands, lanes)
        if op in (Op.SHL, Op.SHR):
            return _shift(integers, op, dtype, *operands)
        if op is Op.POW:
            from ogive.compiler.devices.llvm.math import define_integer_power

            definition = define_integer_power(dtype.bits, lanes, dtype.is_signed)
            return self.writer.call(definition, integers.type, operands)
        if op is Op.THREEFRY:
            from ogive.compiler.devices.llvm.math import define_threefry

            return self.writer.call(define_threefry(lanes), integers.type, operands)
        raise EmitError(f"{op.name} has no meaning for {dtype.name}")

    def integer_division(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        """Floor division or its remainder. Divisors are not zero."""
        integers = self.writer.of(dtype, lanes)
        if dtype.is_signed:
            return _signed_division(integers, op, *operands)
        return integers.binary("udiv" if op is Op.FLOORDIV else "urem", *operands)

    def bitcast(self, operand: str, source: DType, target: DType, lanes: int) -> str:
        before, after = self.writer.of(source, lanes), self.writer.of(target, lanes)
        if source.is_bool and not target.is_bool:
            return after.zext(operand, before)
        if target.is_bool and not source.is_bool:
            return before.icmp("ne", operand, 0)
        return operand if before is after else after.bitcast(operand, before)

    def cast(self, operand: str, source: DType, target: DType, lanes: int) -> str:
        return conversions.cast(self.writer, operand, source, target, lanes)

    def dot(
        self, elements: tuple[str, str], dtype: DType, operands: list[str], lanes: int
    ) -> str:
        """A sum plus the dot product of the elements in two words: `[sum, word, word]`."""
        dot = self.target.find_dot(*elements)
        width = self.target.vector_bytes // 4
        if lanes != width:
            return self.dot_of_other_width(elements, dtype, operands, lanes, width)
        write = self.writer
        kind, words = register_type(dtype, lanes), register_type(dtypes.uint32, lanes)
        total, *factors = operands
        vectors = [write.instruction(f"bitcast {words} {x} to {dot.operand}") for x in factors]
        types = [dot.operand, dot.operand]
        if dot.adds:
            return write.intrinsic(kind, dot.intrinsic, [kind, *types], [total, *vectors])
        products = write.intrinsic(kind, dot.intrinsic, types, vectors)
        return write.instruction(f"add {kind} {total}, {products}")

    def dot_of_other_width(
        self, elements: tuple[str, str], dtype: DType, operands: list[str], lanes: int, width: int
    ) -> str:
        """The same instruction for fewer lanes than it has, or for a multiple of them."""
        kinds = [dtype, dtypes.uint32, dtypes.uint32]
        parts = []
        for first in range(0, lanes, width):
            filled = [
                self.writer.pick(operand, kind, lanes, range(first, first + width))
                for operand, kind in zip(operands, kinds, strict=True)
            ]
            parts.append(self.dot(elements, dtype, filled, width))
        return self.writer.join(parts, dtype, width, lanes)

    def combine(self, op: Op, dtype: DType, left: str, right: str, lanes: int) -> str:
        """One step of a reduction."""
        return self.elementwise(op, dtype, dtype, [left, right], lanes)


def _float_extreme(f: Vectors, op: Op, left: str, right: str) -> str:
    """The greater or lesser of two, or NaN if either is NaN. Of two zeros it is the right one, or
    the one that is no constant.

    The comparison loses a NaN only on the left: a number goes there, and `vmaxps` is all there is.
    Otherwise the second select restores it. It selects a constant: with `left` again, LLVM would
    join the conditions of both selects, which takes longer than `vmaxps` and a blend.
    """
    order = "ogt" if op is Op.MAXIMUM else "olt"
    not_a_number = f.constant(math.nan)
    for number, other in ((left, right), (right, left)):
        if not number.startswith("%") and number != not_a_number:
            return f.select(f.fcmp(order, number, other), number, other)
    wins = f.fcmp(order, left, right)
    chosen = f.select(wins, left, right)
    return f.select(f.fcmp("uno", left, left), math.nan, chosen)


def _float_division(f: Vectors, op: Op, left: str, right: str) -> str:
    """The remainder with the sign of the divisor, or the quotient consistent with it."""
    remainder = f.binary("frem", left, right)
    nonzero = f.fcmp("une", remainder, 0.0)
    differ = f.masks.xor(f.fcmp("olt", right, 0.0), f.fcmp("olt", remainder, 0.0))
    adjust = f.masks.and_(nonzero, differ)
    if op is Op.MOD:
        return f.select(adjust, f.fadd(remainder, right), remainder)
    quotient = f.fdiv(f.fsub(left, remainder), right)
    quotient = f.select(adjust, f.fsub(quotient, 1.0), quotient)
    floor = f.floor(quotient)
    rounds_up = f.fcmp("ogt", f.fsub(quotient, floor), 0.5)
    floor = f.select(rounds_up, f.fadd(floor, 1.0), floor)
    ratio = f.fdiv(left, right)
    signed_zero = f.copysign(0.0, ratio)
    floor = f.select(f.fcmp("oeq", quotient, 0.0), signed_zero, floor)
    return f.select(f.fcmp("oeq", right, 0.0), ratio, floor)


def _absolute(n: Vectors, value: str) -> str:
    negated = n.sub(0, value)
    return n.select(n.icmp("slt", value, 0), negated, value)


def _signed_division(n: Vectors, op: Op, left: str, right: str) -> str:
    """Floor division or its remainder.

    A divisor of -1 never reaches the divide instruction, which traps if it divides the least
    integer by -1.
    """
    is_minus_one = n.icmp("eq", right, -1)
    safe = n.select(is_minus_one, 1, right)
    remainder = n.binary("srem", left, safe)
    nonzero = n.icmp("ne", remainder, 0)
    differ = n.icmp("slt", n.xor(remainder, safe), 0)
    adjust = n.masks.and_(nonzero, differ)
    if op is Op.MOD:
        return n.select(adjust, n.add(remainder, safe), remainder)
    quotient = n.binary("sdiv", left, safe)
    quotient = n.select(adjust, n.sub(quotient, 1), quotient)
    return n.select(is_minus_one, n.sub(0, left), quotient)


def _shift(n: Vectors, op: Op, dtype: DType, left: str, right: str) -> str:
    """Shifts by any amount. An amount past the width shifts out all bits."""
    last = dtype.bits - 1
    inside = n.icmp("ule", right, last)
    amount = n.select(inside, right, last)
    if op is Op.SHR and dtype.is_signed:
        return n.ashr(left, amount)
    shifted = n.shl(left, amount) if op is Op.SHL else n.lshr(left, amount)
    return n.select(inside, shifted, 0)
