"""Movement, reductions, scans, sorts and reads by positions, one op at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.meaning.number_formats import Array
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SCRATCH, Op
from tests.compiler.devices.reference.graphs import given, move, result_of

RANDOM = np.random.default_rng(5)
CUBE = RANDOM.normal(size=(2, 3, 4)).astype(np.float32)


@pytest.mark.parametrize(
    ("op", "argument", "moved"),
    [
        (Op.RESHAPE, (6, 4), lambda x: x.reshape(6, 4)),
        (Op.PERMUTE, (2, 0, 1), lambda x: x.transpose(2, 0, 1)),
        (Op.PAD, (((0, 1), (2, 0), (1, 1)), -1.5),
         lambda x: np.pad(x, [(0, 1), (2, 0), (1, 1)], constant_values=-1.5)),
        (Op.SHRINK, ((1, 2), (0, 3), (1, 3)), lambda x: x[1:2, :, 1:3]),
        (Op.FLIP, (0, 2), lambda x: x[::-1, :, ::-1]),
        (Op.FLIP, (), lambda x: x),
    ],
)  # fmt: skip
def test_movement_puts_elements_elsewhere(
    op: Op, argument: Any, moved: Callable[[Array], Array]
) -> None:
    got = result_of(move(op, given(1, CUBE), argument), CUBE)
    np.testing.assert_array_equal(got, moved(CUBE))


def test_expand_repeats_axes_of_length_1() -> None:
    line = CUBE[:1, :, :1]
    got = result_of(move(Op.EXPAND, given(1, line), (5, 3, 2)), line)
    np.testing.assert_array_equal(got, np.broadcast_to(line, (5, 3, 2)))


def test_padding_is_a_number_of_the_dtype() -> None:
    small = np.array([1, 2], np.uint8)
    assert result_of(move(Op.PAD, given(1, small), (((1, 0),), -1)), small).tolist() == [255, 1, 2]


@pytest.mark.parametrize(
    ("op", "function"),
    [(Op.ADD, np.sum), (Op.MUL, np.prod), (Op.MAXIMUM, np.max), (Op.MINIMUM, np.min)],
)
@pytest.mark.parametrize("axes", [(0,), (1, 2), ()], ids=str)
def test_reductions_of_floats_are_rounded_once(
    op: Op, function: Callable[..., Array], axes: tuple[int, ...]
) -> None:
    got = result_of(UOp(Op.REDUCE_AXES, dtypes.float32, (given(1, CUBE),), (op, axes)), CUBE)
    wanted = function(CUBE.astype(np.float64), axis=axes, keepdims=True).astype(np.float32)
    np.testing.assert_array_equal(got, wanted)


def test_sums_of_integers_wrap_around() -> None:
    numbers = np.full((1, 3), 100, np.int8)
    value = UOp(Op.REDUCE_AXES, dtypes.int8, (given(1, numbers),), (Op.ADD, (1,)))
    assert result_of(value, numbers).tolist() == [[44]]


@pytest.mark.parametrize(
    ("op", "dtype", "wanted"),
    [
        (Op.ADD, dtypes.float32, 0.0), (Op.MUL, dtypes.int32, 1), (Op.AND, dtypes.bool_, True),
        (Op.MAXIMUM, dtypes.int8, -128), (Op.MINIMUM, dtypes.float64, np.inf),
        (Op.AND, dtypes.int16, -1),
    ],
)  # fmt: skip
def test_what_nothing_combines_to_changes_nothing_else(op: Op, dtype: Any, wanted: Any) -> None:
    nothing = np.zeros((2, 0), dtype.numpy)
    got = result_of(UOp(Op.REDUCE_AXES, dtype, (given(1, nothing),), (op, (1,))), nothing)
    assert got.tolist() == [[wanted], [wanted]]


@pytest.mark.parametrize("op", [Op.ADD, Op.MUL, Op.MAXIMUM, Op.MINIMUM], ids=str)
def test_a_scan_combines_what_it_starts_from_with_all_up_to_each_element(op: Op) -> None:
    numbers = RANDOM.integers(-9, 9, (3, 5)).astype(np.int8)
    start = np.array([[1, 2, 3, 4, 5]], np.int8)
    functions: dict[Op, np.ufunc] = {
        Op.ADD: np.add, Op.MUL: np.multiply, Op.MAXIMUM: np.maximum, Op.MINIMUM: np.minimum,
    }  # fmt: skip
    sources = (given(1, numbers), given(2, start))
    got = result_of(UOp(Op.SCAN_AXIS, dtypes.int8, sources, (op, 0)), numbers, start)
    running = functions[op].accumulate(np.concatenate([start, numbers]), 0, dtype=np.int8)
    np.testing.assert_array_equal(got, running[1:])


def test_a_scan_has_the_dtype_of_its_elements_while_it_runs() -> None:
    halves = np.array([60000, 60000, -60000], np.float32)
    value = UOp(Op.SCAN_AXIS, dtypes.float16, (given(1, halves),), (Op.ADD, 0))
    assert result_of(value, halves).tolist() == [60000, np.inf, 60000]


def test_rows_are_put_in_order() -> None:
    numbers = RANDOM.integers(0, 2**64, (3, 7), np.uint64)
    got = result_of(UOp(Op.SORT, dtypes.uint64, (given(1, numbers),)), numbers)
    np.testing.assert_array_equal(got, np.sort(numbers, axis=1))


def test_what_is_staged_is_the_value_itself() -> None:
    staged = UOp(Op.STAGE_AXIS, dtypes.float32, (given(1, CUBE),), (SCRATCH, 2))
    np.testing.assert_array_equal(result_of(staged, CUBE), CUBE)


def test_elements_are_gathered_by_an_index_for_each_axis() -> None:
    first, second = np.array([[1, 0], [1, 1]]), np.array([[2, 2], [0, 1]])
    table = CUBE[:, :, 0].copy()
    sources = (given(1, table), given(2, first), given(3, second))
    got = result_of(UOp(Op.GATHER, dtypes.float32, sources), table, first, second)
    np.testing.assert_array_equal(got, table[first, second])


def test_each_element_is_arranged_at_the_next_place_of_its_group() -> None:
    letters = np.array([[10, 11, 12], [13, 14, 15]])  # two chunks of one line
    group = np.array([[1, 0, 1], [0, 1, 0]])
    starts = np.array([[0, 3], [1, 5]])  # group 0 has places 0 to 2, group 1 has 3 to 5
    sources = (given(1, letters), given(2, starts), given(3, group))
    got = result_of(UOp(Op.ARRANGE, dtypes.int64, sources), letters, starts, group)
    assert got.tolist() == [11, 13, 15, 10, 12, 14]


def test_counting_goes_from_0_to_a_length_that_the_run_knows() -> None:
    n = UOp(Op.VARIABLE, dtypes.index, (), ("n", 1, 8))
    counted = UOp(Op.IOTA, dtypes.int16, (n,), None)
    rest = move(Op.PAD, counted, (((0, None),), 7), 5 - n)
    shape = move(Op.RESHAPE, rest, (5,))
    assert result_of(shape, n=3).tolist() == [0, 1, 2, 7, 7]
