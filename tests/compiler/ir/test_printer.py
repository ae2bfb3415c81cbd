"""Nodes and graphs as text."""

from __future__ import annotations

import pytest

from ogive.compiler.ir.dtype import bool_, float32, index
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.printer import format_index, format_node, format_tree
from tests.compiler.ir.symbolic.expressions import counter, number, raw, variable

P, Q, X = counter(0, 4), counter(1, 8), variable("x", -50, 1000)


@pytest.mark.parametrize(
    "node, text",
    [
        (raw(Op.ADD, raw(Op.MUL, P, number(4)), Q), "i0*4 + i1"),
        (raw(Op.MUL, raw(Op.ADD, P, Q), number(4)), "(i0 + i1)*4"),
        (raw(Op.FLOORDIV, raw(Op.MUL, P, number(4)), number(3)), "i0*4 // 3"),
        (raw(Op.MUL, raw(Op.FLOORDIV, X, number(3)), number(2)), "(x // 3)*2"),
        (raw(Op.MOD, raw(Op.FLOORDIV, X, number(3)), number(2)), "x // 3 % 2"),
        (raw(Op.SUB, P, raw(Op.SUB, Q, X)), "i0 - (i1 - x)"),
        (raw(Op.ADD, X, raw(Op.MUL, Q, number(-1))), "x - i1"),
        (raw(Op.ADD, X, raw(Op.MUL, raw(Op.MOD, Q, number(3)), number(-2))), "x - (i1 % 3)*2"),
        (raw(Op.ADD, X, number(-3)), "x - 3"),
        (raw(Op.NOT, raw(Op.CMPLT, P, Q)), "not i0 < i1"),
        (raw(Op.AND, raw(Op.CMPLT, P, Q), raw(Op.CMPEQ, X, number(2))), "i0 < i1 & x == 2"),
        (raw(Op.WHERE, raw(Op.CMPLT, P, Q), P, Q), "where(i0 < i1, i0, i1)"),
        (raw(Op.MAXIMUM, P, Q), "max(i0, i1)"),
        (UOp(Op.BIND, index, (X, number(4))), "x=4"),
    ],
)
def test_index_expressions_are_infix(node: UOp, text: str) -> None:
    assert format_index(node) == text
    assert repr(node) == text


def test_a_value_shows_itself_and_its_sources() -> None:
    param = UOp(Op.PARAM, float32, (), (0, 12))
    node = UOp(Op.ADD, float32, (param, UOp.const(float32, 1.0)))
    assert format_node(node) == "ADD float32 (PARAM float32 (0, 12), CONST float32 1.0)"


def test_a_tree_lists_each_node_once_with_its_shape() -> None:
    param = UOp(Op.PARAM, float32, (), (0, 12))
    shaped = UOp(Op.RESHAPE, float32, (param,), (3, 4))
    root = UOp(Op.REDUCE_AXES, float32, (UOp(Op.MUL, float32, (shaped, shaped)),), (Op.ADD, (1,)))
    assert format_tree(root).splitlines() == [
        "%0 = PARAM float32 (0, 12) [12]",
        "%1 = RESHAPE float32 (3, 4) (%0) [3, 4]",
        "%2 = MUL float32 (%1, %1) [3, 4]",
        "%3 = REDUCE_AXES float32 (ADD, (1,)) (%2) [3, 1]",
    ]


def test_index_arithmetic_stands_where_it_is_used() -> None:
    param = UOp(Op.PARAM, float32, (), (0, 12))
    place = UOp(Op.INDEX, float32, (param, P * 4 + Q, P.lt(3)))
    lines = format_tree(UOp(Op.LOAD, float32, (place,))).splitlines()
    assert any("i0*4 + i1" in line for line in lines)


def test_one_line_stays_short_however_large_the_graph() -> None:
    many = UOp(Op.SINK, src=tuple([UOp.const(float32, n) for n in range(10_000)]))
    assert len(format_node(many)) <= 160
    root: UOp = X
    for _ in range(20_000):
        root = UOp(Op.MAXIMUM, index, (root, UOp(Op.NEG, index, (root,))))
    assert len(format_node(root)) <= 160
    deep: UOp = raw(Op.CMPLT, P, Q)
    for _ in range(1000):
        deep = UOp(Op.NOT, bool_, (deep,))
    assert len(repr(deep)) <= 160
