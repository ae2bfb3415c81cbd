"""Graphs of any depth for tests."""

from __future__ import annotations

from ogive.compiler.ir.dtype import float32
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op


def chain(length: int, value: float = 1.0) -> UOp:
    """A sum of `length` constants, one added after the other."""
    one = UOp.const(float32, value)
    node = UOp(Op.PARAM, float32, (), (0, 4))
    for _ in range(length):
        node = UOp(Op.ADD, float32, (node, one))
    return node
