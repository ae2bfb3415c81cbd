"""Regions as a whole: what stores write, lengths of a run, and faults."""

from __future__ import annotations

import tracemalloc

import numpy as np

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.meaning.number_formats import Array
from ogive.compiler.ir.memory import LONGEST
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from tests.compiler.devices.reference.graphs import given, move, parameter, run, store

INT = dtypes.int64


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


def test_a_store_into_a_view_writes_where_the_view_lies() -> None:
    memory = integers(*range(12))
    turned = move(Op.PERMUTE, parameter(0, (3, 4), INT), (1, 0))
    flipped = move(Op.FLIP, move(Op.SHRINK, turned, ((1, 3), (0, 3))), (1,))
    new = integers(100, 101, 102, 103, 104, 105)
    run([memory, new], store(move(Op.RESHAPE, flipped, (6,)), given(1, new)))
    assert memory.tolist() == [0, 102, 105, 3, 4, 101, 104, 7, 8, 100, 103, 11]


def test_stores_read_what_was_there_before_any_of_them_wrote() -> None:
    one, two = integers(1, 2), integers(10, 20)
    first, second = parameter(0, (2,), INT), parameter(1, (2,), INT)
    run([one, two], store(first, second), store(second, UOp(Op.ADD, INT, (first, second))))
    assert (one.tolist(), two.tolist()) == ([10, 20], [11, 22])


def test_of_values_stored_at_one_position_the_last_one_stays() -> None:
    memory, new, places = integers(0, 0, 0), integers(5, 6, 7), integers(2, 0, 2)
    run([memory, new, places], store(parameter(0, (3,), INT), given(1, new), given(2, places)))
    assert memory.tolist() == [6, 0, 7]


def test_values_are_combined_with_what_they_meet() -> None:
    memory, places = integers(1, 2, 3), integers(2, 0, 2)
    one = UOp.const(INT, 10)
    target = parameter(0, (3,), INT)
    run([memory, places], store(target, one, given(1, places), op=Op.ADD))
    assert memory.tolist() == [11, 2, 23]


def test_one_graph_serves_every_length() -> None:
    n = UOp(Op.VARIABLE, dtypes.index, (), ("#n", 0, LONGEST))
    sides = [
        UOp(Op.SHRINK, INT, (UOp(Op.PARAM, INT, (), (slot, LONGEST)), n), ((0, None),))
        for slot in (0, 1)
    ]
    length = move(Op.RESHAPE, UOp(Op.CAST, INT, (n,)), (1,))
    factor = UOp(Op.EXPAND, INT, (length, n), (None,))
    scaled = store(sides[0], UOp(Op.MUL, INT, (sides[1], factor)))
    for count in (1, 5):
        memory = [np.zeros(count, np.int64), np.arange(count)]
        assert run(memory, scaled, **{"#n": count}) is None
        assert memory[0].tolist() == [count * number for number in range(count)]


def test_a_division_by_zero_is_a_fault_and_nothing_is_stored() -> None:
    memory, x, y = integers(7, 7), integers(1, 2), integers(1, 0)
    remainder = UOp(Op.MOD, INT, (given(1, x), UOp.const(INT, 3)))
    quotient = UOp(Op.FLOORDIV, INT, (remainder, given(2, y)))
    assert run([memory, x, y], store(parameter(0, (2,), INT), quotient)) == 0
    assert memory.tolist() == [7, 7]


def test_a_fault_has_the_number_of_its_op_among_those_that_can_fail() -> None:
    memory, x, y = integers(7, 7), integers(1, 2), integers(1, 5)
    quotient = UOp(Op.FLOORDIV, INT, (given(1, x), given(2, y)))
    chosen = UOp(Op.GATHER, INT, (quotient, given(2, y)))
    assert run([memory, x, y], store(parameter(0, (2,), INT), chosen)) == 1


def test_an_index_of_a_store_outside_of_its_target_is_a_fault() -> None:
    memory, new = integers(7, 7), integers(0, -1)
    assert run([memory, new], store(parameter(0, (2,), INT), given(1, new), given(1, new))) == 0


def test_what_no_store_needs_is_no_fault() -> None:
    x, y = integers(1, 2, 3), integers(0, 1, 2)
    quotient = UOp(Op.FLOORDIV, INT, (given(1, x), given(2, y)))
    rest = move(Op.SHRINK, quotient, ((1, 3),))
    memory = integers(7, 7)
    assert run([memory, x, y], store(parameter(0, (2,), INT), rest)) is None
    assert memory.tolist() == [2, 1]
    padded = move(Op.PAD, move(Op.SHRINK, quotient, ((0, 1),)), (((1, 0),), 0))
    assert run([memory, x, y], store(parameter(0, (2,), INT), padded)) == 0


def test_what_is_gathered_is_all_that_is_needed_of_a_table() -> None:
    x, y, places = integers(1, 2, 3), integers(0, 1, 2), integers(2, 1)
    table = UOp(Op.FLOORDIV, INT, (given(1, x), given(2, y)))
    memory = integers(7, 7)
    chosen = UOp(Op.GATHER, INT, (table, given(3, places)))
    assert run([memory, x, y, places], store(parameter(0, (2,), INT), chosen)) is None
    assert memory.tolist() == [1, 2]
    places[0] = 0
    assert run([memory, x, y, places], store(parameter(0, (2,), INT), chosen)) == 0


def test_a_sum_needs_all_of_its_terms() -> None:
    x, y = integers(1, 2, 3), integers(1, 1, 0)
    quotient = UOp(Op.FLOORDIV, INT, (given(1, x), given(2, y)))
    total = UOp(Op.REDUCE_AXES, INT, (quotient,), (Op.ADD, (0,)))
    assert run([integers(7), x, y], store(parameter(0, (1,), INT), total)) == 0


def test_a_chain_of_any_depth_is_evaluated() -> None:
    memory = np.zeros(1, np.float64)
    value = parameter(0, (1,), dtypes.float64)
    target = value
    for _ in range(20_000):
        value = UOp(Op.ADD, dtypes.float64, (value, UOp.const(dtypes.float64, 1.0)))
    run([memory], store(target, value))
    assert memory.tolist() == [20_000]


def test_what_nothing_needs_any_more_takes_no_memory() -> None:
    memory = np.zeros(1 << 17, np.float64)
    value = target = parameter(0, memory.shape, dtypes.float64)
    for _ in range(100):
        value = UOp(Op.ADD, dtypes.float64, (value, UOp.const(dtypes.float64, 1.0)))
    tracemalloc.start()
    run([memory], store(target, value))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10 * memory.nbytes
