"""Elementwise operations for which a GPU has an instruction that other processors lack."""

from __future__ import annotations

from ogive.devices.llvm.llvm_types import vector_type
from ogive.devices.llvm.vectors.instructions import Instructions
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType
from ogive.ir.ops import Op

_EXTREMES = {Op.MAXIMUM: "maximum", Op.MINIMUM: "minimum"}


class ThreadInstructions(Instructions):
    """Writes roundings to bfloat16, and extremes of which NaN wins, as one instruction each."""

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
