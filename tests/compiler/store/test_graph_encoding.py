"""Graphs as bytes: what reads back is what was written, and damage is not built into nodes."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.store.encoding import DamagedRecord, Reader, Writer
from ogive.compiler.store.graph_encoding import (
    read_expression,
    read_graph,
    write_expression,
    write_graph,
)
from tests.raising import raises


def anything(*_: object) -> None:
    """Lets every node pass."""


def written(root: UOp) -> bytes:
    writer = Writer()
    write_graph(writer, root)
    return writer.finish()


ARGUMENTS: list[Any] = [
    None, True, False, 0, -1, 2**63, -(2**64), 0.0, -0.0, math.inf, "name", "", Op.ADD, (),
    (1, (2.5, ("deep", (None, Op.MUL)))), (True, 1),
]  # fmt: skip


@pytest.mark.parametrize("argument", ARGUMENTS, ids=repr)
def test_an_argument_comes_back_with_its_type(argument: Any) -> None:
    node = UOp(Op.CHECK, dtypes.float32, (UOp.const(dtypes.float32, 1.0),), argument)
    reader = Reader(written(node))
    assert read_graph(reader, anything) is node
    reader.finish()


def test_shared_nodes_stay_shared() -> None:
    node = UOp(Op.PARAM, dtypes.float32, (), (0, 8))
    for _ in range(40):
        node = UOp(Op.ADD, dtypes.float32, (node, node))
    data = written(node)
    assert len(data) < 4000
    assert read_graph(Reader(data), anything) is node


def test_tuples_within_tuples_without_end_are_refused() -> None:
    argument: Any = ()
    for _ in range(100):
        argument = (argument,)
    data = written(UOp(Op.CHECK, dtypes.float32, (), argument))
    with raises(DamagedRecord, match="argument"):
        read_graph(Reader(data), anything)


def test_a_source_that_comes_later_is_refused() -> None:
    writer = Writer()
    writer.number(1)
    writer.byte(0)
    writer.byte(0)
    writer.numbers([0])
    with raises(DamagedRecord, match="out of range"):
        read_graph(Reader(writer.finish()), anything)


def test_no_node_is_made_that_the_check_refuses() -> None:
    def check(op: Op, *_: object) -> None:
        if op is Op.MUL:
            raise DamagedRecord("no products")

    node = UOp.const(dtypes.float32, 1.0)
    with raises(DamagedRecord, match="no products"):
        read_graph(Reader(written(UOp(Op.MUL, dtypes.float32, (node, node)))), check)


N = UOp(Op.VARIABLE, dtypes.index, (), ("n", 1, 32))
BOUNDS = {"n": (1, 32)}


@pytest.mark.parametrize(
    "root",
    [
        UOp(Op.PARAM, dtypes.float32, (), (0, 8)),
        UOp(Op.VARIABLE, dtypes.index, (), ("n", 1, 64)),
        UOp(Op.VARIABLE, dtypes.index, (), ()),
        UOp(Op.ADD, dtypes.index, (N, N), 7),
        UOp(Op.ADD, dtypes.float32, (N, N)),
        UOp(Op.ADD, dtypes.index, (N,)),
        UOp(Op.CMPLT, dtypes.bool_, (N, N)),
        UOp.const(dtypes.index, 1 << 60),
    ],
    ids=lambda root: root.op.name,
)
def test_a_graph_that_is_no_index_expression_is_not_read_as_one(root: UOp) -> None:
    expression = Writer()
    write_expression(expression, N, BOUNDS)
    marker = expression.finish()[:8]
    with pytest.raises(DamagedRecord):
        read_expression(Reader(marker + written(root)), BOUNDS)
