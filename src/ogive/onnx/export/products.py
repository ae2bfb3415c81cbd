"""Operands of nodes, without the repetition that broadcasting brings anyway."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.named import NamedTuple
from ogive.tensor.neural.convolution_products import Method

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Product(NamedTuple):
    """A contraction: two operands, and the axes of length 1 that they have among all."""

    left: UOp
    right: UOp


def unexpanded(node: UOp) -> UOp:
    """The operand of a repetition, which has as many axes."""
    while node.op is Op.EXPAND:
        node = node.operand
    return node


def find_product(node: UOp) -> Product | None:
    """The operands, where a sum is one of products of two values that are repeated for it."""
    if node.op is not Op.REDUCE_AXES or node.combine is not Op.ADD:
        return None
    product = node.operand
    if product.op is not Op.MUL or len(product.shape) > len(LETTERS):
        return None
    if not any(source.op is Op.EXPAND for source in product.src):
        return None
    left, right = (unexpanded(source) for source in product.src)
    if not left.shape or not right.shape:
        return None
    if any(not _is_one(left.shape[axis]) and not _is_one(right.shape[axis]) for axis in node.axes):
        return Product(left, right)
    return None


def _is_one(length: Any) -> bool:
    return isinstance(length, int) and length == 1


def equation(product: Product, axes: Sequence[int]) -> tuple[str, list[int], list[int]]:
    """The subscripts of a contraction, and which axes each operand loses before."""
    rank = len(product.left.shape)
    losses = [
        [axis for axis in range(rank) if _is_one(operand.shape[axis])] for operand in product
    ]
    parts = ["".join(LETTERS[axis] for axis in range(rank) if axis not in lost) for lost in losses]
    kept = [
        LETTERS[axis]
        for axis in range(rank)
        if axis not in axes and not all(axis in lost for lost in losses)
    ]
    return f"{parts[0]},{parts[1]}->{''.join(kept)}", losses[0], losses[1]


def broadcast_sources(node: UOp) -> tuple[UOp, ...]:
    """The sources of an elementwise node; those repeated as they are, where another is whole."""
    bare = [unexpanded(source) for source in node.src]
    for axis, length in enumerate(node.shape):
        short = all(not each.shape or _is_one(each.shape[axis]) for each in bare)
        if short and not _is_one(length):
            return node.src
    return tuple(bare)


def dependencies(node: UOp) -> tuple[UOp, ...]:
    """The nodes that a node is written from."""
    if node.op in ELEMENTWISE:
        return broadcast_sources(node)
    if node.op is Op.GRADIENT:
        return node.src[1:3] if isinstance(node.arg, Method) else node.src[:1]
    product = find_product(node)
    if product is not None:
        return product
    if node.op in (Op.RESHAPE, Op.EXPAND, Op.PAD, Op.SHRINK):
        return (node.operand,)
    return () if node.op in (Op.IOTA, Op.CONST, Op.BUFFER, Op.BIND, Op.VARIABLE) else node.src
