"""Conversions between element types, as PyTorch does them on a CPU.

Integers wrap. Floats become integers by dropping the fraction; a value that does not fit becomes
the least number of the (at least 32-bit) integer it is converted through, as x86 has it, and is
then cut to the width asked for. bf16 and the 8-bit floats round to nearest even.
"""

from __future__ import annotations

from ogive.codegen.writer import Writer, constant, element_type, mangled, register_type
from ogive.ir import dtype as dtypes
from ogive.ir.dtype import DType

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
    before, after = register_type(source, lanes), register_type(target, lanes)
    if before == after:
        return operand
    if not source.is_bool and target.bits < source.bits:
        return write.instruction(f"trunc {before} {operand} to {after}")
    extend = "sext" if source.is_signed else "zext"
    return write.instruction(f"{extend} {before} {operand} to {after}")


def _to_bool(write: Writer, operand: str, source: DType, lanes: int) -> str:
    if source.is_float and source.bits < 32:
        operand = cast(write, operand, source, dtypes.float32, lanes)
        source = dtypes.float32
    compare = "fcmp une" if source.is_float else "icmp ne"
    zero = constant(source, 0, lanes)
    return write.instruction(f"{compare} {register_type(source, lanes)} {operand}, {zero}")


def _integer_to_float(
    write: Writer, operand: str, source: DType, target: DType, lanes: int
) -> str:
    wide = target if target.bits >= 32 else dtypes.float32
    convert = "sitofp" if source.is_signed else "uitofp"
    value = write.instruction(
        f"{convert} {register_type(source, lanes)} {operand} to {register_type(wide, lanes)}"
    )
    return cast(write, value, wide, target, lanes)


def _float_to_integer(
    write: Writer, operand: str, source: DType, target: DType, lanes: int
) -> str:
    if source.bits < 32:
        operand = cast(write, operand, source, dtypes.float32, lanes)
        source = dtypes.float32
    if target is dtypes.uint64:
        return _float_to_uint64(write, operand, source, lanes)
    through = dtypes.int32 if target.bits < 32 or target is dtypes.int32 else dtypes.int64
    value = _float_to_signed(write, operand, source, through, lanes)
    return cast(write, value, through, target, lanes)


def _float_to_signed(
    write: Writer, operand: str, source: DType, target: DType, lanes: int
) -> str:
    before, after = register_type(source, lanes), register_type(target, lanes)
    mask = register_type(dtypes.bool_, lanes)
    limit = float(1 << (target.bits - 1))
    # The least integer is exact in both float types; one less truncates to it in f64.
    low = -limit - 1 if target.bits < 52 and source is dtypes.float64 else -limit
    order = "ogt" if low != -limit else "oge"
    above = write.instruction(
        f"fcmp {order} {before} {operand}, {constant(source, low, lanes)}"
    )
    below = write.instruction(f"fcmp olt {before} {operand}, {constant(source, limit, lanes)}")
    fits = write.instruction(f"and {mask} {above}, {below}")
    zero = constant(source, 0.0, lanes)
    safe = write.instruction(f"select {mask} {fits}, {before} {operand}, {before} {zero}")
    value = write.instruction(f"fptosi {before} {safe} to {after}")
    least = constant(target, -(1 << (target.bits - 1)), lanes)
    return write.instruction(f"select {mask} {fits}, {after} {value}, {after} {least}")


def _float_to_uint64(write: Writer, operand: str, source: DType, lanes: int) -> str:
    kind, mask = register_type(source, lanes), register_type(dtypes.bool_, lanes)
    half = constant(source, float(1 << 63), lanes)
    large = write.instruction(f"fcmp oge {kind} {operand}, {half}")
    shifted = write.instruction(f"fsub {kind} {operand}, {half}")
    chosen = write.instruction(f"select {mask} {large}, {kind} {shifted}, {kind} {operand}")
    value = _float_to_signed(write, chosen, source, dtypes.int64, lanes)
    wide = register_type(dtypes.int64, lanes)
    top = constant(dtypes.int64, -(1 << 63), lanes)
    flipped = write.instruction(f"xor {wide} {value}, {top}")
    return write.instruction(f"select {mask} {large}, {wide} {flipped}, {wide} {value}")


def _float_to_float(
    write: Writer, operand: str, source: DType, target: DType, lanes: int
) -> str:
    if source in (dtypes.bfloat16, *_NARROW_FLOATS):
        return cast(write, _widen(write, operand, source, lanes), dtypes.float32, target, lanes)
    if target in (dtypes.bfloat16, *_NARROW_FLOATS):
        value = cast(write, operand, source, dtypes.float32, lanes)
        if target is dtypes.bfloat16:
            return _round_to_bfloat(write, value, lanes)
        return _round_to_narrow(write, value, target, lanes)
    if {source, target} == {dtypes.float16, dtypes.float64}:
        # Through f32, as PyTorch does: machines have no instruction for the direct way.
        value = cast(write, operand, source, dtypes.float32, lanes)
        return cast(write, _fence(write, value, lanes), dtypes.float32, target, lanes)
    operation = "fpext" if target.bits > source.bits else "fptrunc"
    before, after = register_type(source, lanes), register_type(target, lanes)
    return write.instruction(f"{operation} {before} {operand} to {after}")


def _fence(write: Writer, operand: str, lanes: int) -> str:
    """The same f32, computed for itself: LLVM takes a `copysign` through roundings, and would then
    round the sign from f64 to f16 at once, by a function that no process has."""
    kind = register_type(dtypes.float32, lanes)
    symbol = f"@llvm.arithmetic.fence.{mangled('float', lanes)}"
    write.declarations.add(f"declare {kind} {symbol}({kind})")
    return write.instruction(f"call {kind} {symbol}({kind} {operand})")


def _widen(write: Writer, operand: str, source: DType, lanes: int) -> str:
    """bf16 or an 8-bit float as f32, exactly."""
    bits, result = register_type(dtypes.int32, lanes), register_type(dtypes.float32, lanes)
    before = register_type(source, lanes)
    raw = write.instruction(f"zext {before} {operand} to {bits}")
    if source is dtypes.bfloat16:
        shifted = write.instruction(f"shl {bits} {raw}, {constant(dtypes.int32, 16, lanes)}")
        return write.instruction(f"bitcast {bits} {shifted} to {result}")
    if source is dtypes.float8_e5m2:
        half_bits = register_type(dtypes.int16, lanes)
        half = register_type(dtypes.float16, lanes)
        short = write.instruction(f"zext {before} {operand} to {half_bits}")
        top = write.instruction(f"shl {half_bits} {short}, {constant(dtypes.int16, 8, lanes)}")
        value = write.instruction(f"bitcast {half_bits} {top} to {half}")
        return write.instruction(f"fpext {half} {value} to {result}")
    return _widen_e4m3(write, raw, lanes)


def _widen_e4m3(write: Writer, raw: str, lanes: int) -> str:
    """Put exponent and mantissa where f32 has them and let a multiplication fix the bias, which
    makes subnormals come out right too."""
    bits, result = register_type(dtypes.int32, lanes), register_type(dtypes.float32, lanes)
    mask = register_type(dtypes.bool_, lanes)

    def const(value: int) -> str:
        return constant(dtypes.int32, value, lanes)

    magnitude = write.instruction(f"and {bits} {raw}, {const(0x7F)}")
    placed = write.instruction(f"shl {bits} {magnitude}, {const(20)}")
    value = write.instruction(f"bitcast {bits} {placed} to {result}")
    scale = constant(dtypes.float32, 2.0 ** (127 - 7), lanes)
    scaled = write.instruction(f"fmul {result} {value}, {scale}")
    missing = write.instruction(f"icmp eq {bits} {magnitude}, {const(0x7F)}")
    nan = constant(dtypes.float32, float("nan"), lanes)
    chosen = write.instruction(f"select {mask} {missing}, {result} {nan}, {result} {scaled}")
    low_sign = write.instruction(f"and {bits} {raw}, {const(0x80)}")
    sign = write.instruction(f"shl {bits} {low_sign}, {const(24)}")
    unsigned = write.instruction(f"bitcast {result} {chosen} to {bits}")
    signed = write.instruction(f"or {bits} {unsigned}, {sign}")
    return write.instruction(f"bitcast {bits} {signed} to {result}")


def _round_to_bfloat(write: Writer, operand: str, lanes: int) -> str:
    bits, before = register_type(dtypes.int32, lanes), register_type(dtypes.float32, lanes)
    mask, after = register_type(dtypes.bool_, lanes), register_type(dtypes.bfloat16, lanes)

    def const(value: int) -> str:
        return constant(dtypes.int32, value, lanes)

    raw = write.instruction(f"bitcast {before} {operand} to {bits}")
    top = write.instruction(f"lshr {bits} {raw}, {const(16)}")
    odd = write.instruction(f"and {bits} {top}, {const(1)}")
    bias = write.instruction(f"add {bits} {odd}, {const(0x7FFF)}")
    sum_ = write.instruction(f"add {bits} {raw}, {bias}")
    rounded = write.instruction(f"lshr {bits} {sum_}, {const(16)}")
    missing = write.instruction(f"fcmp uno {before} {operand}, {operand}")
    value = write.instruction(
        f"select {mask} {missing}, {bits} {const(0x7FC0)}, {bits} {rounded}"
    )
    return write.instruction(f"trunc {bits} {value} to {after}")


def _round_to_narrow(write: Writer, operand: str, target: DType, lanes: int) -> str:
    """f32 to an 8-bit float, to nearest even.

    Normal results are rounded in the f32 bits; subnormal ones by adding a float so large that the
    target's last place is the sum's last place. Too large a value becomes infinity, or NaN where
    the format has none.
    """
    mantissa_bits, bias = _NARROW_FLOATS[target]
    bits, before = register_type(dtypes.int32, lanes), register_type(dtypes.float32, lanes)
    mask = register_type(dtypes.bool_, lanes)

    def const(value: int) -> str:
        return constant(dtypes.int32, value, lanes)

    drop = 23 - mantissa_bits
    raw = write.instruction(f"bitcast {before} {operand} to {bits}")
    magnitude = write.instruction(f"and {bits} {raw}, {const(0x7FFFFFFF)}")
    last = write.instruction(f"lshr {bits} {magnitude}, {const(drop)}")
    odd = write.instruction(f"and {bits} {last}, {const(1)}")
    half = write.instruction(f"add {bits} {odd}, {const((1 << (drop - 1)) - 1)}")
    sum_ = write.instruction(f"add {bits} {magnitude}, {half}")
    shifted = write.instruction(f"lshr {bits} {sum_}, {const(drop)}")
    normal = write.instruction(f"sub {bits} {shifted}, {const((127 - bias) << mantissa_bits)}")
    magic = 2.0 ** (23 - mantissa_bits + 1 - bias)
    absolute = write.instruction(f"bitcast {bits} {magnitude} to {before}")
    raised = write.instruction(
        f"fadd {before} {absolute}, {constant(dtypes.float32, magic, lanes)}"
    )
    raised_bits = write.instruction(f"bitcast {before} {raised} to {bits}")
    small = write.instruction(f"and {bits} {raised_bits}, {const(0xFF)}")
    least_normal = constant(dtypes.float32, 2.0 ** (1 - bias), lanes)
    is_small = write.instruction(f"fcmp olt {before} {absolute}, {least_normal}")
    value = write.instruction(f"select {mask} {is_small}, {bits} {small}, {bits} {normal}")
    has_infinity = target is dtypes.float8_e5m2
    largest = 0x7B if has_infinity else 0x7E
    overflow = 0x7C if has_infinity else 0x7F
    too_large = write.instruction(f"icmp sgt {bits} {value}, {const(largest)}")
    value = write.instruction(
        f"select {mask} {too_large}, {bits} {const(overflow)}, {bits} {value}"
    )
    missing = write.instruction(f"fcmp uno {before} {operand}, {operand}")
    value = write.instruction(f"select {mask} {missing}, {bits} {const(0x7F)}, {bits} {value}")
    high_sign = write.instruction(f"lshr {bits} {raw}, {const(24)}")
    sign = write.instruction(f"and {bits} {high_sign}, {const(0x80)}")
    value = write.instruction(f"or {bits} {value}, {sign}")
    after = f"<{lanes} x {element_type(target)}>" if lanes > 1 else element_type(target)
    return write.instruction(f"trunc {bits} {value} to {after}")
