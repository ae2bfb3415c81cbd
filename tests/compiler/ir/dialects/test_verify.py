"""The verifier names the node and says what was expected."""

from __future__ import annotations

from typing import Any

import pytest

from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.dtype import DType, bool_, float8_e4m3, float32, index, int32, void
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.errors import VerifyError
from tests.compiler.ir.symbolic.expressions import counter, number, variable
from tests.raising import raises

BUFFER = UOp(Op.BUFFER, float32, (UOp.unique(),), ("CPU", 12))
PARAM = UOp(Op.PARAM, float32, (), (0, 12))
MEMORY = UOp(Op.PARAM, float32, (), (0, 12, "CPU:1"))
WHOLE = UOp(Op.PARAM, int32, (), (1, 12))
MATRIX = UOp(Op.RESHAPE, float32, (PARAM,), (3, 4))
ONE = UOp.const(float32, 1.0)
COUNTER = counter(0, 12)
PLACE = UOp(Op.INDEX, float32, (PARAM, COUNTER))
LOADED = UOp(Op.LOAD, float32, (PLACE,))
PLACED = UOp(Op.RANGE, index, (number(4),), (0, "loop"))
LANE = UOp(Op.RANGE, index, (number(4),), (1, "lane"))
PLACED_AT = UOp(Op.INDEX, float32, (PARAM, PLACED))


def value(op: Op, *sources: UOp, dtype: DType = float32, arg: Any = None) -> UOp:
    return UOp(op, dtype, sources, arg)


def store(*ranges: UOp) -> UOp:
    stored = value(Op.STORE, PLACE, LOADED, *ranges, dtype=void, arg=(None, None))
    return value(Op.SINK, stored, dtype=void)


GOOD = [
    ("tensor", value(Op.ADD, value(Op.RESHAPE, BUFFER, arg=(3, 4)), ONE)),
    ("parametric", value(Op.CONTIGUOUS, value(Op.RESHAPE, MEMORY, arg=(3, 4)))),
    ("parametric", value(Op.EXPAND, value(Op.RESHAPE, MEMORY, arg=(12, 1)), arg=(12, 5))),
    ("parametric", value(Op.SINK, value(Op.EXP2, MEMORY), arg=("CPU:1",), dtype=void)),
    ("region", value(Op.REDUCE_AXES, MATRIX, arg=(Op.ADD, (1,)))),
    ("region", value(Op.SHRINK, PARAM, variable("n", 1, 12), arg=((0, None),))),
    ("region", value(Op.PAD, MATRIX, arg=(((0, 1), (2, 0)), 0.0))),
    ("region", value(Op.CMPLT, MATRIX, ONE, dtype=bool_)),
    ("loops", store(COUNTER)),
    ("loops", value(Op.REDUCE, LOADED, COUNTER, arg=Op.ADD)),
    ("placed", value(Op.LOAD, PLACED_AT)),
    ("lowered", value(Op.LOAD, PLACED_AT)),
    ("lowered", value(Op.LOAD, PLACED_AT, LANE, arg=1)),
    ("lowered", value(Op.LOAD, PLACED_AT, LANE, arg="gather")),
]  # fmt: skip


@pytest.mark.parametrize("dialect, root", GOOD)
def test_a_well_formed_graph_passes(dialect: str, root: UOp) -> None:
    verify(root, dialect)


BAD = [
    ("tensor", PARAM, "PARAM in the tensor dialect: expected another op"),
    ("parametric", BUFFER, "UNIQUE in the parametric dialect: expected another op"),
    ("parametric", PARAM, "expected a device"),
    ("parametric", value(Op.SINK, MEMORY, arg=(), dtype=void), "expected a device for each source"),
    ("region", MEMORY, "expected no device"),
    ("region", value(Op.CONTIGUOUS, MATRIX), "CONTIGUOUS in the region dialect"),
    ("loops", MATRIX, "RESHAPE in the loops dialect"),
    ("placed", store(COUNTER), "RANGE in the placed dialect: expected a placement"),
    ("region", value(Op.ADD, MATRIX), "expected 2 sources, not 1"),
    ("loops", value(Op.INDEX, PARAM), "expected 2 or 3 sources, not 1"),
    ("region", value(Op.ASSIGN, PARAM, dtype=void), "expected 2 or more sources, not 1"),
    ("region", value(Op.GATHER, PARAM), "expected 1 indices, one per axis, not 0"),
    ("region", value(Op.ADD, MATRIX, PARAM), "expected equal shapes"),
    ("region", value(Op.ADD, PARAM, WHOLE), "expected float32 sources, not float32, int32"),
    ("region", value(Op.ADD, PARAM, ONE, arg=3), "expected no argument"),
    ("region", value(Op.SQRT, WHOLE, dtype=int32), "expected a float dtype"),
    ("region", value(Op.AND, PARAM, PARAM), "expected an integer dtype or bool"),
    ("region", value(Op.CMPLT, PARAM, PARAM), "giving bool"),
    ("region", value(Op.WHERE, PARAM, PARAM, PARAM), r"expected \(bool, float32, float32\)"),
    ("region", value(Op.BITCAST, PARAM, dtype=bool_), "a dtype of 4 bytes"),
    ("region", value(Op.RESHAPE, PARAM, arg=(5, 2)), "a shape of 12 elements"),
    ("region", value(Op.RESHAPE, PARAM, arg=(None, 2)), "one source for each None"),
    ("region", value(Op.PERMUTE, MATRIX, arg=(0, 0)), "an order of 2 axes"),
    ("region", value(Op.EXPAND, MATRIX, arg=(6, 4)), "axes of length 1 repeated"),
    ("region", value(Op.SHRINK, PARAM, arg=((3, 20),)), r"\(begin, end\) within"),
    ("region", value(Op.PAD, PARAM, arg=(((-1, 0),), 0.0)), "not negative"),
    ("region", value(Op.FLIP, PARAM, arg=(1,)), "axes of"),
    ("region", value(Op.REDUCE_AXES, PARAM, arg=(Op.SUB, (0,))), r"\(combine: combining, axes"),
    ("region", value(Op.REDUCE_AXES, PARAM, arg=(Op.ADD, (1,))), "axes below 1"),
    ("region", value(Op.ASSIGN, PARAM, WHOLE, dtype=void), "a value of float32, not int32"),
    ("region", value(Op.ASSIGN, PARAM, MATRIX, dtype=void), "a value of shape"),
    ("region", UOp(Op.VARIABLE, index, (), ("n", 5, 1)), "a low that is not above the high"),
    ("loops", value(Op.LOAD, PARAM), "INDEX as source"),
    ("loops", value(Op.INDEX, ONE, COUNTER), "PARAM or STAGE"),
    ("loops", value(Op.INDEX, PARAM, ONE), "an index as second source"),
    ("loops", value(Op.REDUCE, LOADED, ONE, arg=Op.ADD), "ranges to close, not CONST"),
    ("loops", value(Op.REDUCE, LOADED, COUNTER, arg=Op.SUB), "combine: combining as argument"),
    ("loops", value(Op.CHECK, LOADED, LOADED, arg=(0, 0)), "bool as condition"),
    ("loops", UOp(Op.RANGE, index, (number(3),), "x"), r"\(number: int, placement: placement\?\)"),
    ("loops", LANE, "RANGE in the loops dialect: expected no placement yet"),
    ("lowered", store(COUNTER), "RANGE in the lowered dialect: expected a placement"),
    ("lowered", value(Op.LOAD, PLACED_AT, PLACED, arg=1), "a lane counter as second source"),
    ("lowered", value(Op.LOAD, PLACED_AT, LANE), "a stride as argument"),
    ("lowered", value(Op.LOAD, PLACED_AT, arg=1), "no stride without lanes"),
]  # fmt: skip


@pytest.mark.parametrize("dialect, root, message", BAD)
def test_what_is_wrong_is_said(dialect: str, root: UOp, message: str) -> None:
    with raises(VerifyError, match=message):
        verify(root, dialect)


def test_storage_only_floats_have_no_arithmetic() -> None:
    small = UOp(Op.PARAM, float8_e4m3, (), (0, 4))
    verify(UOp(Op.CAST, float32, (small,)), "region")
    with raises(VerifyError, match="a dtype that has arithmetic"):
        verify(UOp(Op.ADD, float8_e4m3, (small, small)), "region")
