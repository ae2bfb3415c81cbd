"""Walks and substitutions, of graphs of any depth."""

from __future__ import annotations

import gc

from ogive.compiler.ir.dtype import float32
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_parts.node_table import live_uop_ids
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.printer import format_node, format_tree
from ogive.compiler.ir.traversal import substitute, walk
from tests.compiler.ir.chains import chain
from tests.raising import raises

DEPTH = 100_000


def test_a_chain_of_100_000_nodes_is_ordinary() -> None:
    root = chain(DEPTH, 3.5)
    first = root.id
    assert len(walk((root,))) == DEPTH + 2
    assert len(root.content_key) == 16
    assert root.shape == (4,)
    assert root.ranges == frozenset()
    assert not root.has_index
    assert len(format_node(root)) < 200
    assert format_tree(root).count("\n") == DEPTH + 1
    (replaced,) = substitute((root,), {UOp.const(float32, 3.5): UOp.const(float32, 4.5)})
    assert replaced is chain(DEPTH, 4.5)
    del root, replaced
    gc.collect()
    assert first not in live_uop_ids()


def test_substitution_revisits_replacements_unless_told_not_to() -> None:
    a, b, c = (UOp(Op.PARAM, float32, (), (slot, 4)) for slot in range(3))
    root = UOp(Op.ADD, float32, (a, b))
    assert substitute((root,), {a: b, b: c}) == (UOp(Op.ADD, float32, (c, c)),)
    grown = UOp(Op.ADD, float32, (a, c))
    once = substitute((root,), {a: grown}, revisit=False)
    assert once == (UOp(Op.ADD, float32, (grown, b)),)
    with raises(RecursionError, match="its own key"):
        substitute((root,), {a: grown})
