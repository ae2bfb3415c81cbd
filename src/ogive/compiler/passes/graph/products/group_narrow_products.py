"""Sums of products of narrow elements become sums of dot products of words, where the target can.

    before   sum over k of CAST(a)[m, 1, k] * CAST(b)[1, n, k]     float32, of bfloat16
    after    sum over k/2 of DOT(words of a [m, 1, k/2], words of b [1, n, k/2])

A word has 32 bits: two or four neighbouring elements along the axis of the sum. The product over
words has fewer steps, and is otherwise a product like any other, with panels, tiles and blocks.

A target may multiply integers of one signedness only. Elements of the other signedness are shifted
by half of their range, which flips their highest bit, and the sum is corrected:

    sum of a*b = sum of (a + 128)*b - 128 * (sum of b)

If a target multiplies wider integers only, narrower ones are widened before they are packed.

Integers wrap around, so a 32-bit sum is also right for every narrower sum.
"""

from __future__ import annotations

from typing import TypeVar

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir import node_building as build
from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import pad_axis, reshape
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.targets.target import Dot, Target
from ogive.named import NamedTuple

Item = TypeVar("Item")
WORD = dtypes.uint32
_ELEMENTS = {each.name: each for each in (dtypes.bfloat16, dtypes.int8, dtypes.uint8, dtypes.int16)}
_TOTALS = {each.name: each for each in (dtypes.float32, dtypes.int32)}
_BITS = {8: dtypes.uint8, 16: dtypes.uint16}


class Grouping(NamedTuple):
    """A way to multiply two values in words; `swapped` if the second one is the left operand."""

    dot: Dot
    swapped: bool
    first: UOp
    second: UOp

    def words(self, depth: int) -> tuple[UOp, UOp]:
        """The two values in words along axis `depth`, with the signedness the target expects."""
        wanted = self._in_order(_ELEMENTS[self.dot.left], _ELEMENTS[self.dot.right])
        return (
            _shift_bytes(to_words(self.first, depth), self.first.dtype, wanted[0]),
            _shift_bytes(to_words(self.second, depth), self.second.dtype, wanted[1]),
        )

    def total(self, first: UOp, second: UOp, depth: int) -> UOp:
        """The sum over axis `depth` of the dot products of two values in words."""
        left, right = self._in_order(first, second)
        kind = _TOTALS[self.dot.total]
        product = UOp(Op.DOT, kind, (left, right), (self.dot.left, self.dot.right))
        return UOp(Op.REDUCE_AXES, kind, (product,), (Op.ADD, (depth,)))

    def correction(self, first: UOp, second: UOp, depth: int) -> UOp | None:
        """The number to add to the sum because of shifted elements; None if none were shifted."""
        ones = UOp.const(WORD, 0x01010101)
        wanted = self._in_order(_ELEMENTS[self.dot.left], _ELEMENTS[self.dot.right])
        if self.first.dtype is not wanted[0]:
            shifted, total = self.first, self.total(ones, second, depth)
        elif self.second.dtype is not wanted[1]:
            shifted, total = self.second, self.total(first, ones, depth)
        else:
            return None
        half = -128 if shifted.dtype.is_signed else 128
        scaled = UOp(Op.MUL, total.dtype, (total, UOp.const(total.dtype, half)))
        return UOp(Op.CONTIGUOUS, total.dtype, (scaled,), ())

    def _in_order(self, first: Item, second: Item) -> tuple[Item, Item]:
        return (second, first) if self.swapped else (first, second)


def find_grouping(first: UOp, second: UOp, total: DType, target: Target) -> Grouping | None:
    """How to compute a sum of dtype `total` of products of two values in words; None if not."""
    first, second = _narrow(first), _narrow(second)
    groupings: list[tuple[tuple[int, list[bool]], Grouping]] = []
    for dot in target.dots:
        if not _suits(dot, total):
            continue
        for swapped in (False, True):
            wanted = [_ELEMENTS[dot.left], _ELEMENTS[dot.right]]
            if swapped:
                wanted.reverse()
            pair = _widened(first, wanted[0]), _widened(second, wanted[1])
            moves = [value.dtype is not want for value, want in zip(pair, wanted, strict=True)]
            movable = all(map(_can_shift, [value.dtype for value in pair], wanted))
            if not all(moves) and movable:
                groupings.append(((wanted[0].bits, moves), Grouping(dot, swapped, *pair)))
    # The narrowest dtype. If one value must be shifted, it is better the second: that one is
    # packed in any case.
    return min(groupings, key=lambda pair: pair[0], default=((0, []), None))[1]


def _widened(value: UOp, wanted: DType) -> UOp:
    """Integers widened to `wanted` if that holds all of them, else the value as it is."""
    if not (value.dtype.is_integer and wanted.is_integer and wanted.is_signed):
        return value
    return value if value.dtype.bits >= wanted.bits else UOp(Op.CAST, wanted, (value,))


def _suits(dot: Dot, total: DType) -> bool:
    kind = _TOTALS[dot.total]
    return total is kind or (kind.is_integer and total.is_integer and total.bits <= kind.bits)


def _can_shift(given: DType, wanted: DType) -> bool:
    both_integers = given.is_integer and wanted.is_integer
    return given is wanted or (both_integers and given.bits == wanted.bits)


def _narrow(value: UOp) -> UOp:
    """The same elements before they were cast to a wider dtype."""
    moves: list[UOp] = []
    source = value
    while source.op in MOVEMENT and source.op is not Op.PAD:
        moves.append(source)
        source = source.operand
    if source.op is not Op.CAST or source.operand.dtype.name not in _ELEMENTS:
        return value
    narrow = source.operand
    if narrow.dtype.is_float is not source.dtype.is_float:
        return value
    for move in reversed(moves):
        narrow = UOp(move.op, narrow.dtype, (narrow, *move.src[1:]), move.arg)
    return narrow


def to_words(value: UOp, depth: int) -> UOp:
    """Neighbours along axis `depth` packed in words, the first in the lowest bits, zeros last."""
    dtype, shape = value.dtype, value.shape
    group = WORD.bits // dtype.bits
    count = -(-shape[depth] // group)
    cut = (*shape[:depth], count, group, *shape[depth + 1 :])
    value = reshape(pad_axis(value, depth, (0, count * group - shape[depth]), 0), cut)
    word: UOp | None = None
    for number in range(group):
        ranges = [(0, size) for size in cut]
        ranges[depth + 1] = (number, number + 1)
        part = build.move(Op.SHRINK, value, tuple(ranges))
        part = reshape(part, (*shape[:depth], count, *shape[depth + 1 :]))
        bits = UOp(Op.CAST, WORD, (UOp(Op.BITCAST, _BITS[dtype.bits], (part,)),))
        if word is None:
            word = bits
        else:
            shift = UOp.const(WORD, number * dtype.bits)
            word = UOp(Op.OR, WORD, (word, UOp(Op.SHL, WORD, (bits, shift))))
    assert word is not None
    return word


def _shift_bytes(words: UOp, given: DType, wanted: DType) -> UOp:
    """Words of bytes, shifted to the other signedness by flipping the highest bit of each."""
    if given is wanted:
        return words
    return UOp(Op.XOR, WORD, (words, UOp.const(WORD, 0x80808080)))
