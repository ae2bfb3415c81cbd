"""Every name of the op table is an attribute of its nodes, typed, and of no others."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import pytest

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.argument_forms import TESTS, describe_argument
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts import accessors
from ogive.compiler.ir.ops import KINDS, LANE, STAGES, Op, staged_row
from tests.raising import raises

FOUR = UOp.const(dtypes.index, 4)
COUNTER = UOp(Op.RANGE, dtypes.index, (FOUR,), (7, LANE))
MEMORY = UOp(Op.PARAM, dtypes.float32, (), (2, 4))
PLACE = UOp(Op.INDEX, dtypes.float32, (MEMORY, COUNTER))
GATED = UOp(Op.INDEX, dtypes.float32, (MEMORY, COUNTER, COUNTER.lt(3)))
LOAD = UOp(Op.LOAD, dtypes.float32, (PLACE,))
STORE = UOp(Op.STORE, dtypes.void, (PLACE, LOAD, COUNTER), (1, Op.ADD))


def test_sources_are_read_by_name() -> None:
    assert COUNTER.extent is FOUR
    assert (PLACE.base, PLACE.offset) == (MEMORY, COUNTER)
    assert (STORE.place, STORE.value, STORE.closed) == (PLACE, LOAD, (COUNTER,))


def test_a_source_that_may_be_absent_is_none_then() -> None:
    assert PLACE.gate is None and LOAD.lanes is None
    assert GATED.gate is COUNTER.lt(3)


def test_fields_of_the_argument_are_read_by_name() -> None:
    assert (COUNTER.number, COUNTER.placement) == (7, LANE)
    assert (COUNTER.number, COUNTER.placement) == (7, LANE), "also the second time"
    assert (MEMORY.slot, MEMORY.size, FOUR.literal) == (2, 4, 4)
    assert MEMORY.device is None
    assert UOp(Op.PARAM, dtypes.float32, (), (2, 4, "CPU:1")).device == "CPU:1"
    assert (STORE.stride, STORE.combine) == (1, Op.ADD)
    stage = UOp(Op.STAGE, dtypes.float32, (LOAD, COUNTER, COUNTER), staged_row(9, sorted_count=5))
    assert (stage.length, stage.combine, stage.sorted_count, stage.stride) == (9, None, 5, None)


@pytest.mark.parametrize(
    "node, name, message",
    [
        (COUNTER, "value", "RANGE has no 'value', but extent, number, placement"),
        (COUNTER, "left", "RANGE has no 'left'"),
        (COUNTER, "axis", "RANGE has no 'axis'"),
        (FOUR, "operand", "CONST has no 'operand', but literal"),
        (STORE, "operand", "STORE has no 'operand', but place, value, closed, stride, combine"),
        (LOAD, "number", "LOAD has no 'number', but place, lanes, stride"),
    ],
)
def test_what_an_op_does_not_have_is_an_error(node: UOp, name: str, message: str) -> None:
    with raises(AttributeError, match=message):
        getattr(node, name)


def test_unchecked_accessors_read_the_same_sources() -> None:
    """As a process has them that verifies nothing; this one checks them."""
    code = """
from ogive.compiler.ir.node_parts import accessors
from tests.compiler.ir.test_accessors import COUNTER, FOUR, LOAD, MEMORY, PLACE, STORE
assert COUNTER.extent is FOUR and PLACE.base is MEMORY and PLACE.offset is COUNTER
assert STORE.place is PLACE and STORE.value is LOAD
assert COUNTER.left is FOUR, "a slot by another name"
try:
    FOUR.operand
except AttributeError as error:
    assert "CONST has no 'operand'" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_name_has_a_type() -> None:
    (declared,) = ast.parse(inspect.getsource(accessors.Accessors)).body
    names = {
        node.target.id
        for node in ast.walk(declared)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert names | {"closed"} == accessors.SOURCES.keys() | accessors.FIELDS.keys()


def test_no_name_is_both_a_source_and_a_field() -> None:
    assert accessors.SOURCES.keys().isdisjoint(accessors.FIELDS)


def test_only_the_last_sources_of_an_op_may_be_absent_or_many() -> None:
    for op in Op:
        optional = [source.is_optional or source.is_rest for source in op.sources]
        assert optional == sorted(optional), op
        assert not any(source.is_rest for source in op.sources[:-1]), op


def test_every_op_says_where_it_occurs_and_what_it_means() -> None:
    for op in Op:
        assert op.meaning and op.stages and set(op.stages) <= set(STAGES), op
    assert len({op.meaning for op in Op}) == len(Op)


def test_every_kind_of_field_is_told() -> None:
    used = {field.kind for op in Op for field in op.fields}
    assert used == set(KINDS) == set(TESTS)


def test_an_argument_is_described_as_the_table_has_it() -> None:
    assert describe_argument(Op.RANGE) == "(number: int, placement: placement?)"
    assert describe_argument(Op.COPY) == "device: str"
    assert describe_argument(Op.PARAM) == "(slot: int, size: int, [device: str])"
