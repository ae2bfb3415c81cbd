"""A graph taken apart: what is equal for graphs of one structure, and its numbers.

    MUL(RESHAPE(PARAM 0, (5, 64)), CONST 0.1)   →   MUL(RESHAPE(PARAM 0, (_, _)), _);  5, 64, 0.1

Lengths 0 and 1 belong to the structure, since they mean something else: nothing, and broadcasting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.calls import is_gradient
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import SPREAD, Op
from ogive.named import NamedTuple

SPECIAL = (0, 1)
"""Lengths that are part of a graph's structure."""

LENGTH, POSITION, VALUE = "length", "position", "value"

_NOT_GENERAL = frozenset({Op.CUSTOM, Op.COPY, Op.VARIABLE, Op.BIND, Op.BUFFER}) | SPREAD
"""Ops that keep a graph from being generalized: somebody else knows their shapes too."""

Numbers = tuple[Any, ...]
"""Integers for lengths and positions, interned CONST nodes for constants."""


class NotGeneral(Exception):
    """Why graphs of one skeleton do not become one; for the log."""


class Skeleton(NamedTuple):
    """A graph taken apart. `kinds` says what each of the `numbers` is, `places` in which node, by
    its position in the walk."""

    key: tuple[Any, ...]
    numbers: Numbers
    kinds: tuple[str, ...]
    places: tuple[int, ...]
    order: list[UOp]

    @property
    def parameters(self) -> int:
        """How many slots there are, up to the last that is read: a graph may be given more."""
        slots = [node.slot for node in self.order if node.op is Op.PARAM]
        return max(slots, default=-1) + 1

    def places_by_node(self) -> dict[int, range]:
        """Of each node that has numbers, by its position, the places of these."""
        places: dict[int, range] = {}
        for place, position in enumerate(self.places):
            first = places[position].start if position in places else place
            places[position] = range(first, place + 1)
        return places


def take_apart(sink: UOp) -> Skeleton | None:
    """The skeleton of a graph, and its numbers; None for graphs that stay as they are."""
    devices = set(sink.arg)
    if len(devices) > 1:
        return None
    # A constant is a number of each of its users: two that happen to be equal are one node.
    order = [node for node in sink.walk() if node.op is not Op.CONST]
    # What is differentiated is known by its nodes, which other lengths would make others.
    keeps_lengths = any(is_gradient(node) for node in order)
    at: dict[UOp, int] = {}
    key: list[Any] = []
    numbers: list[Any] = []
    kinds: list[str] = []
    places: list[int] = []
    for position, node in enumerate(order):
        at[node] = position
        op = node.op
        if op in _NOT_GENERAL or node.dtype is dtypes.index:
            return None
        if op is Op.PARAM and node.device not in devices:
            return None
        has_holes = op in HOLES and not keeps_lengths
        argument, numbers_of_node = HOLES[op](node) if has_holes else (node.arg, [])
        numbers_of_node += [(VALUE, source) for source in node.src if source.op is Op.CONST]
        for kind, number in numbers_of_node:
            numbers.append(number)
            kinds.append(kind)
            places.append(position)
        sources = tuple([at.get(source, source.dtype) for source in node.src])
        key.append((op, node.dtype, sources, argument, node.tag))
    return Skeleton(tuple(key), tuple(numbers), tuple(kinds), tuple(places), order)


Parts = tuple[Any, list[tuple[str, Any]]]
"""The part of an argument that belongs to the skeleton, and its numbers."""


def _parameter(node: UOp) -> Parts:
    count = node.size if node.size in SPECIAL else None
    return (node.slot, count, node.device), _lengths((node.size,))


def _shape(node: UOp) -> Parts:
    fixed = tuple([size if size in SPECIAL else None for size in node.sizes])
    return fixed, _lengths(node.sizes)


def _iota(node: UOp) -> Parts:
    return (node.stop if node.stop in SPECIAL else None), _lengths((node.stop,))


def _shrink(node: UOp) -> Parts:
    return len(node.spans), [(POSITION, number) for pair in node.spans for number in pair]


def _pad(node: UOp) -> Parts:
    pairs, fill = node.widths, node.fill
    return (len(pairs), fill, str(fill)), [(POSITION, number) for pair in pairs for number in pair]


def _lengths(sizes: Iterable[int | None]) -> list[tuple[str, Any]]:
    return [(LENGTH, size) for size in sizes if size not in SPECIAL]


HOLES = {
    Op.PARAM: _parameter,
    Op.RESHAPE: _shape,
    Op.EXPAND: _shape,
    Op.IOTA: _iota,
    Op.SHRINK: _shrink,
    Op.PAD: _pad,
}
"""How the arguments of ops are taken apart that have numbers in them."""
