"""Whether a general graph has a meaning for all values of its variables: that is proved.

    SHRINK(x, (0, (n + 2)//7 + 2))     of x with n elements: refused, since n = 2 has none
    RESHAPE(x, (n, m))                 of x with 2·n elements: refused

The expressions of a general graph were found by trying. Those that are none of the program's say
something of the few instances alone, so what they were guessed from does not hold for others, and
the compiler, which believes that shapes fit, would be told what is not so. A graph that is proved
has a meaning whatever the variables are, and it is that of the program wherever all numbers are
equal: which is compared each time (`General.match`).
"""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.ir.shape import Dim, Shape, movement_argument
from ogive.compiler.ir.symbolic.polynomials import (
    Polynomial,
    Unproved,
    bounds_for,
    is_never_negative,
    plus,
    polynomial,
    times,
)
from ogive.compiler.passes.general.skeleton import NotGeneral

_OF_ONE_SHAPE = ELEMENTWISE | {Op.GATHER, Op.ASSIGN}
"""Ops whose sources have one shape, or no shape at all; of a GATHER the indices."""

_SCALARS = frozenset({Op.CONST, Op.VARIABLE, Op.BIND})


class Doubtful(NotGeneral):
    """It was not proved that a graph has a meaning for all sizes; with other expressions it may,
    or within other bounds: the `correction` has the name of a variable, and what would be needed
    of it at least and at most."""

    def __init__(self, reason: str, correction: tuple[str, int, int] | None = None) -> None:
        super().__init__(reason)
        self.correction = correction


class Proof:
    """That the nodes of a general graph fit each other for all values of its variables."""

    def __init__(self) -> None:
        self._polynomials: dict[Dim, Polynomial] = {}
        self._within: dict[tuple[Dim, Dim], bool] = {}
        self._failed: Polynomial = {}

    def prove(self, node: UOp) -> None:
        """Raise `Doubtful` unless a node fits its sources, which were proved before."""
        self._failed = {}
        try:
            if self.fits(node):
                return
        except Unproved as reason:
            raise Doubtful(str(reason)) from None
        shapes = ", ".join([str(source.shape) for source in node.src if source.shape])
        argument = movement_argument(node) if node.op in MOVEMENT else node.arg
        raise Doubtful(
            f"{node.op.name} {argument} of {shapes} is not proved for all sizes",
            bounds_for(self._failed),
        )

    def fits(self, node: UOp) -> bool:
        """Whether the shapes and the argument of a node fit each other."""
        op = node.op
        if op in _OF_ONE_SHAPE:
            return _have_one_shape(node.indices if op is Op.GATHER else node.src)
        if op is Op.SCATTER:
            return _have_one_shape(node.src[1:])
        if op is Op.IOTA:
            return self._is_within(0, node.shape[0])
        if op not in MOVEMENT or _are_numbers((*node.operand.shape, *node.shape)):
            return True
        return self._moves(node.operand.shape, node.op, movement_argument(node))

    def _moves(self, shape: Shape, op: Op, argument: Any) -> bool:
        if op is Op.RESHAPE:
            return self._count(shape) == self._count(argument) and self._are_lengths(argument)
        if op is Op.EXPAND:
            return all(
                (isinstance(old, int) and old == 1) or old is new or old == new
                for old, new in zip(shape, argument, strict=True)
            )
        if op is Op.SHRINK:
            return all(
                self._is_within(0, begin) and self._is_within(begin, end)
                and self._is_within(end, length)
                for (begin, end), length in zip(argument, shape, strict=True)
            )  # fmt: skip
        if op is Op.PAD:
            return all(self._is_within(0, width) for pair in argument[0] for width in pair)
        return True  # PERMUTE and FLIP name axes only

    def _are_lengths(self, shape: Shape) -> bool:
        """Whether no length is negative. One need not be proved: there are as many elements as the
        operand has."""
        doubtful = [length for length in shape if not self._is_within(0, length)]
        return not doubtful or (
            len(doubtful) == 1
            and all(self._is_within(1, length) for length in shape if length is not doubtful[0])
        )

    def _count(self, shape: Shape) -> Polynomial:
        total: Polynomial = {(): 1}
        for length in shape:
            total = times(total, self._polynomial(length))
        return total

    def _is_within(self, low: Dim, high: Dim) -> bool:
        """Whether one length is never greater than another."""
        if isinstance(low, int) and isinstance(high, int):
            return low <= high
        if low is high:
            return True
        known = self._within.get((low, high))
        if known is None:
            distance = plus(self._polynomial(high), self._polynomial(low), -1)
            known = self._within[low, high] = is_never_negative(distance)
            if not known:
                self._failed = distance
        return known

    def _polynomial(self, length: Dim) -> Polynomial:
        known = self._polynomials.get(length)
        if known is None:
            known = self._polynomials[length] = polynomial(length)
        return known


def _have_one_shape(sources: tuple[UOp, ...]) -> bool:
    """Whether sources have the very same shape, but for scalars."""
    return len({source.shape for source in sources if source.op not in _SCALARS}) <= 1


def _are_numbers(shape: Shape) -> bool:
    return all(isinstance(length, int) for length in shape)
