"""Neighbouring elements that are combined into a word are loaded as one word.

    before   OR(CAST(LOAD a[r0*2]), SHL(CAST(LOAD a[r0*2 + 1]), 16))     a of uint16
    after    LOAD a[r0]                                                  a of uint32

The buffer need not be aligned: the processors that we compile for load words from any address.
"""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.symbolic.index_arithmetic import from_linear, linear_form
from ogive.compiler.ir.traversal import transform


def join_words(root: UOp) -> UOp:
    """The kernel in which words are loaded whole if their parts are neighbours in memory."""
    nodes = root.walk()
    if not any(node.op is Op.OR and node.right.op is Op.SHL for node in nodes):
        return root
    written = {node.place.base for node in nodes if node.op is Op.STORE}

    def change(node: UOp) -> UOp:
        return _whole(node, written) or node if node.op is Op.OR else node

    return transform(root, change)


def _whole(word: UOp, written: set[UOp]) -> UOp | None:
    """The load of a whole word, if its parts are neighbours in memory; else None."""
    parts = _parts(word)
    if parts is None:
        return None
    first = parts[0]
    memory, offset, *gate = first.place.src
    if memory.op is not Op.PARAM or memory in written:
        return None
    for number, part in enumerate(parts):
        if part.place.src != (memory, offset + number, *gate):
            return None
    count = len(parts)
    terms, constant = linear_form(offset)
    if any(factor % count for factor in (*terms.values(), constant)):
        return None
    length = memory.size
    if length % count:
        return None
    words = UOp(Op.PARAM, word.dtype, (), (memory.slot, length // count))
    steps = {term: factor // count for term, factor in terms.items()}
    start = from_linear(steps, constant // count)
    return UOp(Op.LOAD, word.dtype, (UOp(Op.INDEX, word.dtype, (words, start, *gate)),))


def _parts(word: UOp) -> list[UOp] | None:
    """The loads that make up a word, from the lowest bits up; None if it is something else."""
    parts: dict[int, UOp] = {}
    waiting = [word]
    while waiting:
        node = waiting.pop()
        if node.op is Op.OR:
            waiting += node.src
            continue
        shift = 0
        if node.op is Op.SHL and node.right.op is Op.CONST:
            shift, node = node.right.literal, node.left
        if node.op is not Op.CAST:
            return None
        part = node.operand
        if part.op is Op.BITCAST:
            part = part.operand
        if part.op is not Op.LOAD or shift in parts or node.operand.dtype.kind != "uint":
            return None
        parts[shift] = part
    bits = parts[0].dtype.bits if 0 in parts else 0
    fills = bits * len(parts) == word.dtype.bits and sorted(parts) == [
        bits * number for number in range(len(parts))
    ]
    return [parts[shift] for shift in sorted(parts)] if fills else None
