"""Bounds hold for every value, are tight where they can be, and survive wrapping."""

from __future__ import annotations

import itertools

import numpy
import pytest

from ogive.compiler.ir.dtype import (
    DType,
    bool_,
    complex64,
    float32,
    index,
    int8,
    int32,
    int64,
    uint8,
)
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from tests.compiler.ir.symbolic.expressions import (
    Generator,
    assignments,
    counter,
    evaluate,
    evaluate_values,
    leaves,
    number,
    raw,
    variable,
)


@pytest.mark.parametrize("seed", range(150))
def test_bounds_hold_for_every_value_of_an_index_expression(seed: int) -> None:
    generator = Generator(seed)
    for root in (generator.expression(3), generator.condition(2)):
        low, high = root.bounds
        for values in assignments(leaves(root), 300, seed):
            value = evaluate(root, values)
            assert value is None or low <= value <= high


INTERVALS = [(-7, -2), (-3, 4), (0, 5), (2, 2), (3, 9)]
BINARY = (
    Op.ADD, Op.SUB, Op.MUL, Op.FLOORDIV, Op.MOD, Op.MAXIMUM, Op.MINIMUM, Op.CMPLT, Op.CMPLE,
    Op.CMPEQ, Op.CMPNE,
)  # fmt: skip


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.name)
def test_bounds_of_one_operation_are_exact(op: Op) -> None:
    for (a, b), (c, d) in itertools.product(INTERVALS, repeat=2):
        if op in (Op.FLOORDIV, Op.MOD) and c <= 0 <= d:
            continue
        x, y = variable("x", a, b), variable("y", c, d)
        root = raw(op, x, y)
        found = [evaluate(root, values) for values in assignments([x, y], 1000)]
        expected = (min(v for v in found if v is not None), max(v for v in found if v is not None))
        low, high = root.bounds
        assert low <= expected[0] and expected[1] <= high
        if op is not Op.MOD:
            assert root.bounds == expected, (op, (a, b), (c, d))


FIXED = (
    Op.ADD, Op.SUB, Op.MUL, Op.MAXIMUM, Op.MINIMUM, Op.AND, Op.OR, Op.XOR, Op.FLOORDIV, Op.MOD,
    Op.SHL, Op.SHR, Op.CMPLT, Op.CMPLE, Op.CMPEQ, Op.CMPNE,
)  # fmt: skip


@pytest.mark.parametrize("dtype", [int8, uint8], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("op", FIXED, ids=lambda op: op.name)
def test_bounds_of_fixed_width_integers_survive_wrapping(op: Op, dtype: DType) -> None:
    low, high = (int(limit) for limit in dtype.limits)
    intervals = [(low, high), (max(low, -5), 9), (3, 100), (high - 3, high), (0, 7)]
    for (a, b), (c, d) in itertools.product(intervals, repeat=2):
        x, y = (UOp(Op.VARIABLE, dtype, (), (n, *r)) for n, r in (("x", (a, b)), ("y", (c, d))))
        root = UOp(op, bool_ if op.name.startswith("CMP") else dtype, (x, y))
        first, second = numpy.meshgrid(numpy.arange(a, b + 1), numpy.arange(c, d + 1))
        values = {x: first.ravel().astype(dtype.numpy), y: second.ravel().astype(dtype.numpy)}
        result, undefined = evaluate_values(root, values)
        defined = result[~undefined]
        if len(defined):
            least, greatest = root.bounds
            assert least <= defined.min() and defined.max() <= greatest, (op, (a, b), (c, d))
        assert root.sound_bounds == tuple(map(int, root.bounds))


def test_a_range_ends_before_its_extent() -> None:
    assert counter(0, 8).bounds == (0, 7)
    assert counter(0, variable("n", 1, 32)).bounds == (0, 31)
    assert counter(0, 0).bounds == (0, 0)


def test_a_bound_variable_keeps_the_bounds_of_the_variable() -> None:
    n = variable("n", 1, 32)
    assert UOp(Op.BIND, index, (n, number(4))).bounds == (1, 32)


def test_masks_shifts_casts_and_choices_are_bounded() -> None:
    loaded = UOp(Op.PARAM, int32, (), (0, 4))
    masked = UOp(Op.AND, int32, (loaded, UOp.const(int32, 15)))
    assert masked.bounds == (0, 15)
    assert UOp(Op.SHL, int32, (masked, UOp.const(int32, 2))).bounds == (0, 60)
    assert UOp(Op.CAST, index, (masked,)).bounds == (0, 15)
    assert UOp(Op.CAST, index, (loaded,)).bounds == int32.limits
    assert UOp(Op.CAST, int8, (loaded,)).bounds == int8.limits
    assert UOp(Op.NOT, int32, (masked,)).bounds == (-16, -1)
    test = UOp(Op.CMPLT, bool_, (loaded, masked))
    assert UOp(Op.WHERE, int32, (test, masked, UOp.const(int32, 20))).bounds == (0, 20)
    assert UOp(Op.CAST, int32, (test,)).bounds == (0, 1)


def test_comparisons_of_floats_may_go_either_way() -> None:
    value = UOp.const(float32, 1.0)
    loaded = UOp(Op.PARAM, float32, (), (0, 4))
    assert UOp(Op.CMPEQ, bool_, (loaded, loaded)).bounds == (False, True)
    assert UOp(Op.CMPLT, bool_, (loaded, value)).bounds == (False, True)


def test_of_complex_numbers_nothing_is_known() -> None:
    z = UOp(Op.PARAM, complex64, (), (0, 4))
    assert UOp(Op.CMPEQ, bool_, (z, z)).bounds == (False, True)
    assert UOp(Op.CAST, int8, (z,)).bounds == (-128, 127)
    assert UOp(Op.CAST, bool_, (z,)).bounds == (False, True)


def test_sound_bounds_are_absent_where_64_bits_may_not_do() -> None:
    loaded = UOp(Op.CAST, index, (UOp(Op.PARAM, int64, (), (0, 4)),))
    assert loaded.sound_bounds == int64.limits
    product = UOp(Op.MUL, index, (loaded, number(2)))
    assert product.bounds == (-(2**64), 2**64 - 2)
    assert product.sound_bounds is None
    assert UOp(Op.MOD, index, (product, number(8))).bounds == (0, 7)
    assert UOp(Op.MOD, index, (product, number(8))).sound_bounds is None
    assert UOp(Op.PARAM, float32, (), (0, 4)).sound_bounds is None


@pytest.mark.parametrize("limit", [-2, 0, 3])
@pytest.mark.parametrize("shift", [-4, 0, 5])
@pytest.mark.parametrize("turned", [False, True])
def test_bounds_of_a_choice_know_what_was_compared(limit: int, shift: int, turned: bool) -> None:
    x = UOp(Op.VARIABLE, int64, (), ("x", -5, 7))
    moved = UOp(Op.ADD, int64, (x, UOp.const(int64, shift)))
    less = UOp(Op.CMPLT, bool_, (x, UOp.const(int64, limit)))
    choice = UOp(Op.WHERE, int64, (less, x, moved) if turned else (less, moved, x))
    found = [v if (v < limit) == turned else v + shift for v in range(-5, 8)]
    low, high = choice.bounds
    assert low <= min(found)
    assert max(found) <= high
    if not turned:
        assert (low, high) == (min(found), max(found))


def test_what_passes_a_check_is_within_its_limit() -> None:
    value = UOp(Op.VARIABLE, int64, (), ("x", 3, 900))
    inside = UOp(Op.CMPLT, bool_, (value, UOp.const(int64, 10)))
    assert UOp(Op.CHECK, int64, (value, inside), (0, 0)).bounds == (0, 9)
    nonzero = UOp(Op.CMPNE, bool_, (value, UOp.const(int64, 0)))
    assert UOp(Op.CHECK, int64, (value, nonzero), (0, 1)).bounds == (1, 900)


def test_movement_keeps_bounds_but_for_what_is_padded() -> None:
    count = UOp(Op.IOTA, int64, (), 5)
    column = UOp(Op.RESHAPE, int64, (count,), (5, 1))
    assert UOp(Op.EXPAND, int64, (column,), (5, 9)).bounds == (0, 4)
    assert UOp(Op.PAD, int64, (count,), (((1, 0),), -3)).bounds == (-3, 4)
