"""Value algebra: what folds, what must not, and that shapes survive."""

from __future__ import annotations

import math

import pytest

from ogive.compiler.ir.dtype import (
    ALL,
    DType,
    Scalar,
    bfloat16,
    bool_,
    float8_e4m3,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
)
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.algebra import algebra_rules, holds
from ogive.compiler.ir.rewriting.rewrite import rewrite
from tests.compiler.ir.symbolic.expressions import evaluate_values, same_bits, special_values

FLOATS = UOp(Op.RESHAPE, float32, (UOp(Op.PARAM, float32, (), (0, 12)),), (3, 4))
WHOLE = UOp(Op.RESHAPE, int32, (UOp(Op.PARAM, int32, (), (1, 12)),), (3, 4))


def simple(op: Op, *sources: UOp, dtype: DType | None = None) -> UOp:
    return rewrite(UOp(op, dtype or sources[-1].dtype, sources), algebra_rules)


@pytest.mark.parametrize(
    "dtype, op, a, b, expected",
    [
        (int8, Op.ADD, 127, 1, -128),
        (uint8, Op.SUB, 0, 1, 255),
        (float32, Op.ADD, 0.1, 0.2, float32.canonical(0.30000001192092896)),
        (float16, Op.MUL, 300.0, 300.0, math.inf),
        (bfloat16, Op.ADD, 256.0, 1.0, 256.0),
        (int32, Op.FLOORDIV, -7, 2, -4),
        (int32, Op.MOD, -7, 2, 1),
        (int32, Op.SHL, 1, 31, -(2**31)),
        (bool_, Op.AND, True, False, False),
    ],
)
def test_constants_fold_as_the_kernel_computes(
    dtype: DType, op: Op, a: Scalar, b: Scalar, expected: Scalar
) -> None:
    folded = simple(op, UOp.const(dtype, a), UOp.const(dtype, b))
    assert folded is UOp.const(dtype, expected)


@pytest.mark.parametrize(
    "dtype, op, a, b",
    [
        (int32, Op.FLOORDIV, 3, 0),
        (int32, Op.MOD, 3, 0),
        (int32, Op.FLOORDIV, -(2**31), -1),
        (int32, Op.SHL, 1, 32),
        (float32, Op.SUB, math.inf, math.inf),
        (float32, Op.MAXIMUM, 0.0, -0.0),
        (float32, Op.POW, 2.0, 3.0),
    ],
)
def test_what_is_not_exactly_defined_is_left_to_run(
    dtype: DType, op: Op, a: Scalar, b: Scalar
) -> None:
    assert simple(op, UOp.const(dtype, a), UOp.const(dtype, b)).op is op


def test_signed_zeros_survive() -> None:
    assert simple(Op.ADD, FLOATS, UOp.const(float32, 0.0)).op is Op.ADD
    assert simple(Op.ADD, FLOATS, UOp.const(float32, -0.0)) is FLOATS
    assert simple(Op.SUB, FLOATS, UOp.const(float32, -0.0)).op is Op.SUB
    assert simple(Op.SUB, FLOATS, UOp.const(float32, 0.0)) is FLOATS
    assert simple(Op.MUL, FLOATS, UOp.const(float32, 0.0)).op is Op.MUL


def test_dividing_by_itself_is_never_folded() -> None:
    assert simple(Op.FLOORDIV, WHOLE, WHOLE).op is Op.FLOORDIV
    assert simple(Op.MOD, WHOLE, WHOLE).op is Op.MOD
    assert simple(Op.DIV, FLOATS, FLOATS).op is Op.DIV


def test_a_result_keeps_the_shape_it_had() -> None:
    zero = simple(Op.MUL, WHOLE, UOp.const(int32, 0))
    assert zero.shape == (3, 4) and zero.op is Op.EXPAND
    test = UOp(Op.CMPLT, bool_, (FLOATS, UOp.const(float32, 0.0)))
    one = UOp.const(float32, 1.0)
    assert simple(Op.WHERE, test, one, one).shape == (3, 4)
    assert simple(Op.WHERE, UOp.const(bool_, True), one, FLOATS).shape == (3, 4)


def test_integers_compare_by_bounds_and_floats_do_not() -> None:
    small = UOp(Op.CAST, int32, (UOp(Op.PARAM, uint8, (), (0, 4)),))
    assert simple(Op.CMPLT, small, UOp.const(int32, 256), dtype=bool_).src[0].src[0].arg is True
    assert simple(Op.CMPEQ, FLOATS, FLOATS, dtype=bool_).op is Op.CMPEQ


def test_lossless_casts_merge_and_lossy_ones_stay() -> None:
    widened = UOp(Op.CAST, float64, (FLOATS,))
    assert simple(Op.CAST, widened, dtype=float32) is FLOATS
    narrowed = UOp(Op.CAST, float16, (FLOATS,))
    assert simple(Op.CAST, narrowed, dtype=float32).src[0] is narrowed
    through_float = UOp(Op.CAST, float32, (WHOLE,))
    assert simple(Op.CAST, through_float, dtype=int32).src[0] is through_float


@pytest.mark.parametrize("value", [3.9, -3.9, 2.0**31, math.nan, math.inf])
def test_a_float_constant_becomes_an_integer_only_within_range(value: float) -> None:
    folded = simple(Op.CAST, UOp.const(float64, value), dtype=int32)
    if math.isfinite(value) and abs(value) < 2**31:
        assert folded is UOp.const(int32, math.trunc(value))
    else:
        assert folded.op is Op.CAST


def test_large_integers_are_not_rounded_twice() -> None:
    value = 2**60 + 2**36 + 1
    assert simple(Op.CAST, UOp.const(int64, value), dtype=float32).op is Op.CAST
    assert simple(Op.CAST, UOp.const(float32, 1e9), dtype=float8_e4m3).op is Op.CAST


def test_holds_means_that_the_way_back_is_exact() -> None:
    real = [dtype for dtype in ALL if not dtype.is_complex]
    for narrow in real:
        for wide in real:
            if not holds(wide, narrow) or wide is narrow:
                continue
            leaf = UOp(Op.PARAM, narrow, (), (0, 200))
            there = UOp(Op.CAST, narrow, (UOp(Op.CAST, wide, (leaf,)),))
            values = special_values(narrow, 200, 1)
            back, undefined = evaluate_values(there, {leaf: values})
            assert (same_bits(back, values) | undefined).all(), (narrow, wide)
