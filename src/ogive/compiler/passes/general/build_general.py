"""The general graph of a skeleton, with variables and data where its numbers vary.

    before   MUL(RESHAPE(PARAM 0, (_, 64)), _)
    after    MUL(SHRINK(RESHAPE(PARAM 0, (512, 64)), (0, n)), PARAM 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from ogive.compiler.ir.memory import OPEN_ENDED, has_own_strides, shaped, upper_count
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import expand
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.ir.shape import Dim, Shape, common_shape, split_argument
from ogive.compiler.passes.general.skeleton import (
    HOLES,
    SPECIAL,
    VALUE,
    NotGeneral,
    Numbers,
    Skeleton,
)

LARGEST = 1 << 32
"""How many bytes the greatest value of a general graph may have: there is room for it in memory,
whether it comes or not."""

_COMPUTED_WHERE_USED = ELEMENTWISE | MOVEMENT
"""Ops of values that are seldom in memory: terms of a sum are many times its factors."""

_ALONG_LINES = frozenset({Op.ORDER, Op.ORDERED, Op.SORT, Op.ARRANGE})
"""Ops that need lines of one length."""


class NoRoom(NotGeneral):
    """A value could get too long for memory; with lower bounds it might not."""


def restore(skeleton: Skeleton, numbers: Numbers) -> list[UOp]:
    """The nodes of a skeleton with the lengths and positions of one instance."""
    kinds = enumerate(skeleton.kinds)
    sizes = {place: numbers[place] for place, kind in kinds if kind is not VALUE}
    builder = Builder(skeleton, sizes, (), frozenset())
    return [builder.add(position) for position in range(len(skeleton.order))]


class Builder:
    """Makes the general form of each node in the walk of a skeleton, one after the other.

    `sizes` has the expression of each length and position that varies, by its place, when the
    node's turn comes; `data` the places of the constants that become one element of memory each;
    `open_ended` the parameters of which some length varies.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        sizes: Mapping[int, Dim],
        data: Sequence[Sequence[int]],
        open_ended: Set[UOp],
    ) -> None:
        self.order = skeleton.order
        self.kinds = skeleton.kinds
        self.places = skeleton.places_by_node()
        self.sizes = sizes
        self.parameters = skeleton.parameters
        (self.device, *_) = self.order[-1].arg
        self.open_ended = open_ended
        self.data = {place: number for number, places in enumerate(data) for place in places}
        self.done: dict[UOp, UOp] = {}
        if open_ended & {_base(node) for node in self.order if node.op is Op.AFTER}:
            raise NotGeneral("memory of another length each time is written to")

    def add(self, position: int) -> UOp:
        """The general form of the next node. Raises `NotGeneral`."""
        node = self.order[position]
        general = self.done[node] = self._general(position, node)
        if not _means_the_same(node, general):
            raise NotGeneral(f"an axis of length 0 or 1 is taken for one of {general.shape}")
        for kept in general.src if general.op is Op.SINK else (general,):
            if general.op not in _COMPUTED_WHERE_USED:
                _check_room(kept)
        return general

    def _general(self, position: int, node: UOp) -> UOp:
        op = node.op
        if op is Op.PARAM:
            return self._seen(node, self._argument(position, node))
        below = [self.done.get(source, source) for source in node.src]
        sources = self._spread(position, node, below)
        if op is Op.RESHAPE and node.operand.op is Op.PARAM:
            return self._seen(node.operand, self._argument(position, node))
        if op in _ALONG_LINES and not isinstance(sources[0].shape[-1], int):
            raise NotGeneral(f"{op.name} goes along an axis that is of another length each time")
        if op in HOLES:
            argument, symbolic = split_argument(self._argument(position, node))
            if op is Op.IOTA:
                return UOp(op, node.dtype, symbolic, argument, node.tag)
            return UOp(op, node.dtype, (*sources, *symbolic), argument, node.tag)
        return UOp(op, node.dtype, sources, node.arg, node.tag) if node.src else node

    def _spread(self, position: int, node: UOp, sources: list[UOp]) -> tuple[UOp, ...]:
        """The sources of a node. A constant has any shape; an element of memory has to be given
        the shape of the sources beside it."""
        places = [p for p in self.places.get(position, ()) if self.kinds[p] is VALUE]
        constants = [number for number, source in enumerate(node.src) if source.op is Op.CONST]
        elements = {
            number: self._element(node.src[number], place)
            for number, place in zip(constants, places, strict=True)
            if place in self.data
        }
        if not elements:
            return tuple(sources)
        if node.op is Op.EXPAND:
            return (shaped(elements[0], (1,) * len(node.sizes)),)
        if node.op is Op.RESHAPE:
            return (elements[0],)
        if node.op not in ELEMENTWISE:
            raise NotGeneral(f"{node.op.name} takes a constant that is another each time")
        shape = common_shape(tuple(sources))
        for number, element in elements.items():
            sources[number] = _spread_over(element, shape)
        return tuple(sources)

    def _element(self, constant: UOp, place: int) -> UOp:
        """The memory that holds a constant."""
        slot = self.parameters + self.data[place]
        return UOp(Op.PARAM, constant.dtype, (), (slot, 1, self.device))

    def _seen(self, parameter: UOp, shape: Shape) -> UOp:
        """A parameter with a shape. One that varies is the front of memory that ends somewhere:

            SHRINK(RESHAPE(SHRINK(PARAM, (0, 512·64)), (512, 64)), (0, n), (0, 64))
            RESHAPE(SHRINK(PARAM, (0, 64·n)), (64, n))
        """
        if parameter not in self.open_ended:
            return shaped(parameter, shape)
        slot, _, device = parameter.arg
        memory = UOp(Op.PARAM, parameter.dtype, (), (slot, OPEN_ENDED, device))
        if has_own_strides(shape):
            return shaped(memory, shape)
        front = UOp(Op.SHRINK, parameter.dtype, (memory,), ((0, upper_count(shape)),))
        return shaped(front, shape)

    def _argument(self, position: int, node: UOp) -> Any:
        """The argument of a node, with expressions where numbers vary."""
        places = iter(self.places.get(position, ()))

        def size(number: Any, is_hole: bool) -> Any:
            place = next(places, None) if is_hole else None
            return number if place is None else self.sizes.get(place, number)

        if node.op is Op.PARAM:
            return (size(node.size, node.size not in SPECIAL),)
        if node.op is Op.IOTA:
            return size(node.stop, node.stop not in SPECIAL)
        if node.op is Op.PAD:
            pairs = tuple([tuple([size(n, True) for n in pair]) for pair in node.widths])
            return pairs, node.fill
        if node.op is Op.SHRINK:
            return tuple([tuple([size(n, True) for n in pair]) for pair in node.spans])
        return tuple([size(n, n not in SPECIAL) for n in node.sizes])


def _check_room(node: UOp) -> None:
    if upper_count(node.shape) * max(node.dtype.itemsize, 1) > LARGEST:
        raise NoRoom(f"there is no room for a value of shape {node.shape}")


def _means_the_same(node: UOp, general: UOp) -> bool:
    """Whether an axis that is empty, or repeated for others, is so in the general graph as well."""
    if node.op is Op.CONST or not general.shape:
        return True
    pairs = zip(node.shape, general.shape, strict=True)
    return all(length not in SPECIAL or length == built for length, built in pairs)


def _base(node: UOp) -> UOp:
    """The memory that an assignment writes to."""
    while node.op is Op.AFTER or node.op in MOVEMENT:
        node = node.operand
    return node


def _spread_over(element: UOp, shape: Shape) -> UOp:
    """One element of memory, repeated along all axes of a shape."""
    return expand(shaped(element, (1,) * len(shape)), shape)
