"""A lowered kernel that reads scratch memory which it has not written is refused."""

from __future__ import annotations

import pytest

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dialects.verify import verify
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import IRREGULAR, LANE, LOOP, Op, staged_row
from ogive.compiler.passes.loops.rangeify import make_range
from ogive.errors import VerifyError
from tests.raising import raises

LANES, PAIRS, READ = make_range(8, 1, LANE), make_range(2, 0, LOOP), make_range(16, 2, LOOP)
ZERO = UOp.const(dtypes.index, 0)


def kernel(place: UOp, stride: int | str | None, *closed: UOp, read: UOp = READ) -> UOp:
    """A row of 16 is staged at a place, and then stored element by element."""
    row = staged_row(16, count=48, stride=stride)
    one = UOp.const(dtypes.float32, 1.0)
    stage = UOp(Op.STAGE, dtypes.float32, (one, place, *closed), row)
    load = UOp(Op.LOAD, dtypes.float32, (UOp(Op.INDEX, dtypes.float32, (stage, read)),))
    output = UOp(Op.PARAM, dtypes.float32, (), (0, 16))
    target = UOp(Op.INDEX, dtypes.float32, (output, READ))
    store = UOp(Op.STORE, dtypes.void, (target, load, READ), (None, None))
    return UOp(Op.SINK, dtypes.void, (store,))


@pytest.mark.parametrize(
    ("place", "stride", "closed"),
    [
        (PAIRS, 2, (PAIRS, LANES)),
        (PAIRS * 8, 1, (PAIRS, LANES)),
        (PAIRS + LANES * 2, IRREGULAR, (PAIRS, LANES)),
        (make_range(16, 3, LOOP), None, (make_range(16, 3, LOOP),)),
        (make_range(20, 3, LOOP), None, (make_range(20, 3, LOOP),)),
    ],
    ids=["two merged axes", "side by side", "anywhere", "one by one", "with excess"],
)
def test_rows_that_are_staged_whole_are_allowed(
    place: UOp, stride: int | str | None, closed: tuple[UOp, ...]
) -> None:
    verify(kernel(place, stride, *closed), "lowered")


@pytest.mark.parametrize(
    ("place", "stride", "closed", "element"),
    [
        (PAIRS, 1, (PAIRS, LANES), 9),
        (PAIRS * 4, 1, (PAIRS, LANES), 12),
        (PAIRS + LANES, IRREGULAR, (PAIRS, LANES), 9),
        (make_range(8, 3, LOOP) * 2, None, (make_range(8, 3, LOOP),), 1),
        (make_range(15, 3, LOOP), None, (make_range(15, 3, LOOP),), 15),
        (make_range(15, 3, LOOP) + 1, None, (make_range(15, 3, LOOP),), 0),
    ],
    ids=["a lane's factor lost", "overlapping", "anywhere", "gaps", "too short", "too late"],
)
def test_reading_what_was_not_staged_is_refused(
    place: UOp, stride: int | str | None, closed: tuple[UOp, ...], element: int
) -> None:
    expected = f"expected element {element} of a row to be staged before it is read"
    with raises(VerifyError, match=expected):
        verify(kernel(place, stride, *closed), "lowered")


def test_what_a_tile_reads_behind_a_row_is_allowed() -> None:
    verify(kernel(PAIRS * 8, 1, PAIRS, LANES, read=READ + 4), "lowered")


def test_what_a_gate_keeps_from_being_read_is_allowed() -> None:
    row = staged_row(16, count=48)
    along = make_range(8, 3, LOOP)
    one = UOp.const(dtypes.float32, 1.0)
    stage = UOp(Op.STAGE, dtypes.float32, (one, along, along), row)
    place = UOp(Op.INDEX, dtypes.float32, (stage, READ, READ.lt(8)))
    load = UOp(Op.LOAD, dtypes.float32, (place,))
    output = UOp(Op.PARAM, dtypes.float32, (), (0, 16))
    target = UOp(Op.INDEX, dtypes.float32, (output, READ))
    store = UOp(Op.STORE, dtypes.void, (target, load, READ), (None, None))
    verify(UOp(Op.SINK, dtypes.void, (store,)), "lowered")
