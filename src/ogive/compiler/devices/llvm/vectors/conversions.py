"""Conversions between element types, with PyTorch's results on a CPU.

Integers wrap. Floats become integers by dropping the fraction. A float that does not fit becomes,
as on x86, the least integer of the (at least 32-bit) type through which it is converted, and is
then cut to the target's width. bf16 and the 8-bit floats round to nearest even.
"""

from __future__ import annotations

import math

from ogive.compiler.devices.llvm.ir_text import Vectors
from ogive.compiler.devices.llvm.kernel_writer import Writer
from ogive.compiler.devices.llvm.llvm_types import code_of
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import DType

_NARROW_FLOATS = {
    # mantissa bits, exponent bias
    dtypes.float8_e5m2: (2, 15),
    dtypes.float8_e4m3: (3, 7),
}


def cast(write: Writer, operand: str, source: DType, target: DType, lanes: int) -> str:
    """`operand` converted from `source` to `target`."""
    if source is target:
        return operand
    if target.is_bool:
        return _to_bool(write, operand, source, lanes)
    if source.is_float and target.is_float:
        return _float_to_float(write, operand, source, target, lanes)
    if source.is_float:
        return _float_to_integer(write, operand, source, target, lanes)
    if target.is_float:
        return _integer_to_float(write, operand, source, target, lanes)
    before, after = write.of(source, lanes), write.of(target, lanes)
    if before is after:
        return operand
    if not source.is_bool and target.bits < source.bits:
        return after.trunc(operand, before)
    return after.sext(operand, before) if source.is_signed else after.zext(operand, before)


def _to_bool(write: Writer, operand: str, source: DType, lanes: int) -> str:
    if source.is_float and source.bits < 32:
        operand = cast(write, operand, source, dtypes.float32, lanes)
        source = dtypes.float32
    compare = "fcmp une" if source.is_float else "icmp ne"
    return write.of(source, lanes).binary(compare, operand, 0)


def _integer_to_float(
    write: Writer, operand: str, source: DType, target: DType, lanes: int
) -> str:
    wide = target if target.bits >= 32 else dtypes.float32
    convert = "sitofp" if source.is_signed else "uitofp"
    value = write.of(wide, lanes).convert(convert, operand, write.of(source, lanes))
    return cast(write, value, wide, target, lanes)


def _float_to_integer(
    write: Writer, operand: str, source: DType, target: DType, lanes: int
) -> str:
    if source.bits < 32:
        operand = cast(write, operand, source, dtypes.float32, lanes)
        source = dtypes.float32
    floats = write.of(source, lanes)
    if target is dtypes.uint64:
        return _float_to_uint64(floats, operand)
    through = dtypes.int32 if target.bits < 32 or target is dtypes.int32 else dtypes.int64
    value = _float_to_signed(floats, operand, through)
    return cast(write, value, through, target, lanes)


def _float_to_signed(f: Vectors, operand: str, target: DType) -> str:
    n = f.of(code_of(target))
    limit = float(1 << (target.bits - 1))
    if target.bits < 52 and f.code == "f64":
        # A float between the least integer and one less truncates to that integer: f64 can tell.
        above = f.fcmp("ogt", operand, -limit - 1)
    else:
        above = f.fcmp("oge", operand, -limit)
    fits = f.masks.and_(above, f.fcmp("olt", operand, limit))
    value = n.fptosi(f.select(fits, operand, 0.0), f)
    return n.select(fits, value, -(1 << (target.bits - 1)))


def _float_to_uint64(f: Vectors, operand: str) -> str:
    half = float(1 << 63)
    large = f.fcmp("oge", operand, half)
    chosen = f.select(large, f.fsub(operand, half), operand)
    value = _float_to_signed(f, chosen, dtypes.int64)
    n = f.of("i64")
    return n.select(large, n.xor(value, -(1 << 63)), value)


def _float_to_float(
    write: Writer, operand: str, source: DType, target: DType, lanes: int
) -> str:
    if source in (dtypes.bfloat16, *_NARROW_FLOATS):
        value = _widen(write.of(source, lanes), operand, source)
        return cast(write, value, dtypes.float32, target, lanes)
    if target in (dtypes.bfloat16, *_NARROW_FLOATS):
        value = cast(write, operand, source, dtypes.float32, lanes)
        floats = write.of(dtypes.float32, lanes)
        if target is dtypes.bfloat16:
            return _round_to_bfloat(floats, value)
        return _round_to_narrow(floats, value, target)
    if {source, target} == {dtypes.float16, dtypes.float64}:
        # Through f32, as in PyTorch, since machines have no direct instruction. The fence is
        # needed because LLVM moves a `copysign` through roundings, and would then round the sign
        # from f64 to f16 directly, by a function that no process has.
        value = cast(write, operand, source, dtypes.float32, lanes)
        value = write.of(dtypes.float32, lanes).intrinsic("arithmetic.fence", value)
        return cast(write, value, dtypes.float32, target, lanes)
    before, after = write.of(source, lanes), write.of(target, lanes)
    if target.bits > source.bits:
        return after.fpext(operand, before)
    return after.fptrunc(operand, before)


def _widen(raw: Vectors, operand: str, source: DType) -> str:
    """bf16 or an 8-bit float as f32, exactly."""
    f, n = raw.of("f32"), raw.of("i32")
    if source is dtypes.float8_e5m2:
        # The upper half of an f16.
        half, half_bits = raw.of("f16"), raw.of("i16")
        top = half_bits.shl(half_bits.zext(operand, raw), 8)
        return f.fpext(half.bitcast(top, half_bits), half)
    pattern = n.zext(operand, raw)
    if source is dtypes.bfloat16:
        return f.bitcast(n.shl(pattern, 16), n)
    return _widen_e4m3(f, pattern)


def _widen_e4m3(f: Vectors, pattern: str) -> str:
    """Move exponent and mantissa to f32's places. A multiplication corrects the bias, and so gives
    the right result for subnormals, too."""
    n = f.bits
    magnitude = n.and_(pattern, 0x7F)
    scaled = f.fmul(f.bitcast(n.shl(magnitude, 20), n), 2.0 ** (127 - 7))
    chosen = f.select(n.icmp("eq", magnitude, 0x7F), math.nan, scaled)
    sign = n.shl(n.and_(pattern, 0x80), 24)
    return f.bitcast(n.or_(n.bitcast(chosen, f), sign), n)


def _round_to_bfloat(f: Vectors, operand: str) -> str:
    n = f.bits
    pattern = n.bitcast(operand, f)
    odd = n.and_(n.lshr(pattern, 16), 1)
    rounded = n.lshr(n.add(pattern, n.add(odd, 0x7FFF)), 16)
    value = n.select(f.fcmp("uno", operand, operand), 0x7FC0, rounded)
    return f.of("i16").trunc(value, n)


def _round_to_narrow(f: Vectors, operand: str, target: DType) -> str:
    """f32 to an 8-bit float, to nearest even.

    Normal results are rounded in the f32 bits; subnormal ones by adding a float so large that the
    target's last place is the sum's last place. Too large a value becomes infinity, or NaN where
    the format has none.
    """
    n = f.bits
    mantissa_bits, bias = _NARROW_FLOATS[target]
    drop = 23 - mantissa_bits
    pattern = n.bitcast(operand, f)
    magnitude = n.and_(pattern, 0x7FFFFFFF)
    odd = n.and_(n.lshr(magnitude, drop), 1)
    half = n.add(odd, (1 << (drop - 1)) - 1)
    normal = n.sub(n.lshr(n.add(magnitude, half), drop), (127 - bias) << mantissa_bits)
    absolute = f.bitcast(magnitude, n)
    raised = f.fadd(absolute, 2.0 ** (drop + 1 - bias))
    small = n.and_(n.bitcast(raised, f), 0xFF)
    value = n.select(f.fcmp("olt", absolute, 2.0 ** (1 - bias)), small, normal)
    largest, overflow = (0x7B, 0x7C) if target is dtypes.float8_e5m2 else (0x7E, 0x7F)
    value = n.select(n.icmp("sgt", value, largest), overflow, value)
    value = n.select(f.fcmp("uno", operand, operand), 0x7F, value)
    sign = n.and_(n.lshr(pattern, 24), 0x80)
    return f.of("i8").trunc(n.or_(value, sign), n)
