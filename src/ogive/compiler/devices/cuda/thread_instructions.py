"""Elementwise operations that are one instruction on a GPU but not on other processors."""

from __future__ import annotations

from ogive.compiler.devices.llvm.llvm_types import vector_type
from ogive.compiler.devices.llvm.vectors.instructions import Instructions
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.ops import Op

_EXTREMES = {Op.MAXIMUM: "maximum", Op.MINIMUM: "minimum"}


class ThreadInstructions(Instructions):
    """Writes bfloat16 rounding, and NaN-propagating maximum and minimum, as one instruction."""

    def float_operation(self, op: Op, dtype: DType, operands: list[str], lanes: int) -> str:
        if op in _EXTREMES and dtype is dtypes.float32:
            return self.writer.of(dtype, lanes).intrinsic(_EXTREMES[op], *operands)
        return super().float_operation(op, dtype, operands, lanes)

    def cast(self, operand: str, source: DType, target: DType, lanes: int) -> str:
        if target is not dtypes.bfloat16 or source is target or not source.is_float:
            return super().cast(operand, source, target, lanes)
        write = self.writer.instruction
        value = super().cast(operand, source, dtypes.float32, lanes)
        wide, narrow, bits = [vector_type(kind, lanes) for kind in ("float", "bfloat", "i16")]
        rounded = write(f"fptrunc {wide} {value} to {narrow}")
        return write(f"bitcast {narrow} {rounded} to {bits}")
