"""Elementwise operations as LLVM instructions, with PyTorch's meaning.

One method per family; each writes text for any lane count and returns the name of the result. The
16- and 8-bit floats are widened to `float` for every operation and rounded back after it.
"""

from __future__ import annotations

import math

from ogive.codegen import conversions
from ogive.codegen.writer import Writer, constant, register_type
from ogive.device.target import Target
from ogive.errors import EmitError
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.ops import COMPARISON, TRANSCENDENTAL, Op

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
            kind = register_type(dtype, lanes)
            return self.writer.instruction(
                f"select {register_type(dtypes.bool_, lanes)} {operands[0]}, "
                f"{kind} {operands[1]}, {kind} {operands[2]}"
            )
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
        left, right = operands
        kind = register_type(dtype, lanes)
        if dtype.is_float:
            return self.writer.instruction(f"fcmp {_FLOAT_COMPARE[op]} {kind} {left}, {right}")
        predicate = _INTEGER_COMPARE[op]
        if op in (Op.CMPLT, Op.CMPLE):
            predicate = ("s" if dtype.is_signed else "u") + predicate
        return self.writer.instruction(f"icmp {predicate} {kind} {left}, {right}")

    def bool_operation(self, op: Op, operands: list[str], lanes: int) -> str:
        kind = register_type(dtypes.bool_, lanes)
        if op is Op.NOT:
            true = constant(dtypes.bool_, True, lanes)
            return self.writer.instruction(f"xor {kind} {operands[0]}, {true}")
        if op not in _BOOL_BINARY:
            raise EmitError(f"{op.name} has no meaning for bool")
        return self.writer.instruction(f"{_BOOL_BINARY[op]} {kind} {operands[0]}, {operands[1]}")

    def float_operation(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        write = self.writer.instruction
        kind = register_type(dtype, lanes)
        if op in _FLOAT_BINARY:
            return write(f"{_FLOAT_BINARY[op]} {kind} {operands[0]}, {operands[1]}")
        if op is Op.NEG:
            return write(f"fneg {kind} {operands[0]}")
        if op in _FLOAT_INTRINSICS:
            return self.writer.intrinsic(_FLOAT_INTRINSICS[op], dtype, operands, lanes)
        if op is Op.RECIPROCAL:
            return write(f"fdiv {kind} {constant(dtype, 1.0, lanes)}, {operands[0]}")
        if op in (Op.MAXIMUM, Op.MINIMUM):
            return self.float_extreme(op, dtype, operands, lanes)
        if op in (Op.FLOORDIV, Op.MOD):
            return self.float_division(op, dtype, operands, lanes)
        if op in TRANSCENDENTAL:
            return self.function(op.name.lower(), dtype, operands, lanes)
        raise EmitError(f"{op.name} has no meaning for {dtype.name}")

    def function(self, name: str, dtype: DType, operands: list[str], lanes: int) -> str:
        """One of our own elementary functions."""
        from ogive.codegen.math import define  # 4 ms that most kernels do without

        precision = "f32" if dtype is dtypes.float32 else "f64"
        definition = define(name, precision, lanes, self.target.scalings)
        return self.writer.call(definition, register_type(dtype, lanes), operands)

    def float_extreme(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        """The greater or lesser of two, NaN if either is: the comparison drops a NaN on the
        left only, which the second select puts back. As a constant: if it chose `left` again, LLVM
        would join the conditions of both, which takes longer than `vmaxps` and a blend."""
        left, right = operands
        write = self.writer.instruction
        kind = register_type(dtype, lanes)
        mask = register_type(dtypes.bool_, lanes)
        order = "ogt" if op is Op.MAXIMUM else "olt"
        wins = write(f"fcmp {order} {kind} {left}, {right}")
        chosen = write(f"select {mask} {wins}, {kind} {left}, {kind} {right}")
        missing = write(f"fcmp uno {kind} {left}, {left}")
        nan = constant(dtype, math.nan, lanes)
        return write(f"select {mask} {missing}, {kind} {nan}, {kind} {chosen}")

    def float_division(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        """Remainder with the sign of the divisor, and the quotient that goes with it."""
        left, right = operands
        write = self.writer.instruction
        kind = register_type(dtype, lanes)
        mask = register_type(dtypes.bool_, lanes)
        zero = constant(dtype, 0.0, lanes)
        remainder = write(f"frem {kind} {left}, {right}")
        nonzero = write(f"fcmp une {kind} {remainder}, {zero}")
        right_negative = write(f"fcmp olt {kind} {right}, {zero}")
        negative = write(f"fcmp olt {kind} {remainder}, {zero}")
        differ = write(f"xor {mask} {right_negative}, {negative}")
        adjust = write(f"and {mask} {nonzero}, {differ}")
        if op is Op.MOD:
            moved = write(f"fadd {kind} {remainder}, {right}")
            return write(f"select {mask} {adjust}, {kind} {moved}, {kind} {remainder}")
        exact = write(f"fsub {kind} {left}, {remainder}")
        quotient = write(f"fdiv {kind} {exact}, {right}")
        one = constant(dtype, 1.0, lanes)
        lower = write(f"fsub {kind} {quotient}, {one}")
        quotient = write(f"select {mask} {adjust}, {kind} {lower}, {kind} {quotient}")
        floor = self.writer.intrinsic("floor", dtype, [quotient], lanes)
        distance = write(f"fsub {kind} {quotient}, {floor}")
        rounds_up = write(f"fcmp ogt {kind} {distance}, {constant(dtype, 0.5, lanes)}")
        above = write(f"fadd {kind} {floor}, {one}")
        floor = write(f"select {mask} {rounds_up}, {kind} {above}, {kind} {floor}")
        ratio = write(f"fdiv {kind} {left}, {right}")
        signed_zero = self.writer.intrinsic("copysign", dtype, [zero, ratio], lanes)
        is_zero = write(f"fcmp oeq {kind} {quotient}, {zero}")
        floor = write(f"select {mask} {is_zero}, {kind} {signed_zero}, {kind} {floor}")
        by_zero = write(f"fcmp oeq {kind} {right}, {zero}")
        return write(f"select {mask} {by_zero}, {kind} {ratio}, {kind} {floor}")

    def integer_operation(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        write = self.writer.instruction
        kind = register_type(dtype, lanes)
        if op in _INTEGER_BINARY:
            return write(f"{_INTEGER_BINARY[op]} {kind} {operands[0]}, {operands[1]}")
        if op is Op.NEG:
            return write(f"sub {kind} {constant(dtype, 0, lanes)}, {operands[0]}")
        if op is Op.NOT:
            return write(f"xor {kind} {operands[0]}, {constant(dtype, -1, lanes)}")
        if op is Op.ABS:
            return self.absolute(dtype, operands[0], lanes)
        if op in (Op.MAXIMUM, Op.MINIMUM):
            order = ("s" if dtype.is_signed else "u") + ("gt" if op is Op.MAXIMUM else "lt")
            wins = write(f"icmp {order} {kind} {operands[0]}, {operands[1]}")
            mask = register_type(dtypes.bool_, lanes)
            return write(f"select {mask} {wins}, {kind} {operands[0]}, {kind} {operands[1]}")
        if op in (Op.FLOORDIV, Op.MOD):
            return self.integer_division(op, dtype, operands, lanes)
        if op in (Op.SHL, Op.SHR):
            return self.shift(op, dtype, operands, lanes)
        if op is Op.POW:
            from ogive.codegen.math import define_integer_power

            definition = define_integer_power(dtype.bits, lanes, dtype.is_signed)
            return self.writer.call(definition, kind, operands)
        if op is Op.THREEFRY:
            from ogive.codegen.math import define_threefry

            return self.writer.call(define_threefry(lanes), kind, operands)
        raise EmitError(f"{op.name} has no meaning for {dtype.name}")

    def absolute(self, dtype: DType, operand: str, lanes: int) -> str:
        if not dtype.is_signed:
            return operand
        write = self.writer.instruction
        kind = register_type(dtype, lanes)
        zero = constant(dtype, 0, lanes)
        negated = write(f"sub {kind} {zero}, {operand}")
        negative = write(f"icmp slt {kind} {operand}, {zero}")
        mask = register_type(dtypes.bool_, lanes)
        return write(f"select {mask} {negative}, {kind} {negated}, {kind} {operand}")

    def integer_division(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        """Floor division and its remainder. Divisors are not zero; -1 is kept from the machine's
        divide instruction, which traps on the least number divided by it."""
        left, right = operands
        write = self.writer.instruction
        kind = register_type(dtype, lanes)
        if not dtype.is_signed:
            return write(f"{'udiv' if op is Op.FLOORDIV else 'urem'} {kind} {left}, {right}")
        mask = register_type(dtypes.bool_, lanes)
        zero, one = constant(dtype, 0, lanes), constant(dtype, 1, lanes)
        is_minus_one = write(f"icmp eq {kind} {right}, {constant(dtype, -1, lanes)}")
        safe = write(f"select {mask} {is_minus_one}, {kind} {one}, {kind} {right}")
        remainder = write(f"srem {kind} {left}, {safe}")
        nonzero = write(f"icmp ne {kind} {remainder}, {zero}")
        signs = write(f"xor {kind} {remainder}, {safe}")
        differ = write(f"icmp slt {kind} {signs}, {zero}")
        adjust = write(f"and {mask} {nonzero}, {differ}")
        if op is Op.MOD:
            moved = write(f"add {kind} {remainder}, {safe}")
            return write(f"select {mask} {adjust}, {kind} {moved}, {kind} {remainder}")
        quotient = write(f"sdiv {kind} {left}, {safe}")
        lower = write(f"sub {kind} {quotient}, {one}")
        quotient = write(f"select {mask} {adjust}, {kind} {lower}, {kind} {quotient}")
        negated = write(f"sub {kind} {zero}, {left}")
        return write(f"select {mask} {is_minus_one}, {kind} {negated}, {kind} {quotient}")

    def shift(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        """Shifts by any amount: past the width everything is shifted out."""
        left, right = operands
        write = self.writer.instruction
        kind = register_type(dtype, lanes)
        mask = register_type(dtypes.bool_, lanes)
        last = constant(dtype, dtype.bits - 1, lanes)
        zero = constant(dtype, 0, lanes)
        inside = write(f"icmp ule {kind} {right}, {last}")
        amount = write(f"select {mask} {inside}, {kind} {right}, {kind} {last}")
        if op is Op.SHR and dtype.is_signed:
            return write(f"ashr {kind} {left}, {amount}")
        shifted = write(f"{'shl' if op is Op.SHL else 'lshr'} {kind} {left}, {amount}")
        return write(f"select {mask} {inside}, {kind} {shifted}, {kind} {zero}")

    def bitcast(self, operand: str, source: DType, target: DType, lanes: int) -> str:
        before, after = register_type(source, lanes), register_type(target, lanes)
        if source.is_bool:
            operand = self.writer.instruction(f"zext {before} {operand} to {after}")
            before = after
        if target.is_bool:
            zero = constant(source, 0, lanes)
            return self.writer.instruction(f"icmp ne {before} {operand}, {zero}")
        if before == after:
            return operand
        return self.writer.instruction(f"bitcast {before} {operand} to {after}")

    def cast(self, operand: str, source: DType, target: DType, lanes: int) -> str:
        return conversions.cast(self.writer, operand, source, target, lanes)

    def dot(
        self, elements: tuple[str, str], dtype: DType, operands: list[str], lanes: int
    ) -> str:
        """A sum, plus the products of the elements in two words: `[sum, word, word]`."""
        (found,) = [dot for dot in self.target.dots if (dot.left, dot.right) == elements]
        width = self.target.vector_bytes // 4
        if lanes != width:
            return self.dot_of_other_width(elements, dtype, operands, lanes, width)
        write = self.writer
        kind, words = register_type(dtype, lanes), register_type(dtypes.uint32, lanes)
        total, *factors = operands
        vectors = [write.instruction(f"bitcast {words} {x} to {found.operand}") for x in factors]
        types = ", ".join([kind, found.operand, found.operand])
        write.declarations.add(f"declare {kind} @llvm.{found.intrinsic}({types})")
        arguments = ", ".join([f"{kind} {total}", *[f"{found.operand} {x}" for x in vectors]])
        return write.instruction(f"call {kind} @llvm.{found.intrinsic}({arguments})")

    def dot_of_other_width(
        self, elements: tuple[str, str], dtype: DType, operands: list[str], lanes: int, width: int
    ) -> str:
        """The same instruction for fewer lanes than it has, or for several times as many."""
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
