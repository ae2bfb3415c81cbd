"""The general graph of a skeleton, with variables and data where its numbers vary.

    before   MUL(RESHAPE(PARAM 0, (_, 64)), _)
    after    MUL(SHRINK(RESHAPE(PARAM 0, (512, 64)), (0, n)), PARAM 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ogive.ir.memory import OPEN_ENDED, shaped, upper_count
from ogive.ir.node import UOp
from ogive.ir.node_building import expand
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.shape import Dim, Shape, common_shape, greatest, split_argument
from ogive.passes.general.skeleton import HOLES, SPECIAL, VALUE, NotGeneral, Skeleton

LARGEST = 1 << 32
"""How many bytes the greatest value of a general graph may have: there is room for it in memory,
whether it comes or not."""


def build_general(
    skeleton: Skeleton, sizes: Mapping[int, Dim], data: Sequence[Sequence[int]]
) -> tuple[UOp, ...]:
    """The general form of each node in the walk of a skeleton.

    `sizes` has the expression of each length and position that varies, by its place; `data` the
    places of the constants that become one element of memory each. Raises `NotGeneral`.
    """
    return _Builder(skeleton, sizes, data).build()


class _Builder:
    def __init__(
        self, skeleton: Skeleton, sizes: Mapping[int, Dim], data: Sequence[Sequence[int]]
    ) -> None:
        self.order = skeleton.order
        self.kinds = skeleton.kinds
        self.places = skeleton.places_by_node()
        self.sizes = sizes
        self.parameters = skeleton.parameters
        (self.device, *_) = self.order[-1].arg
        self.positions = {node: position for position, node in enumerate(self.order)}
        self.assigned = {_base(node) for node in self.order if node.op is Op.AFTER}
        self.data = {place: number for number, places in enumerate(data) for place in places}

    def build(self) -> tuple[UOp, ...]:
        """The general form of each node in the walk."""
        done: dict[UOp, UOp] = {}
        for position, node in enumerate(self.order):
            made = done[node] = self._general(position, node, done)
            if not _means_the_same(node, made):
                raise NotGeneral(f"an axis of length 0 or 1 is taken for one of {made.shape}")
            if upper_count(made.shape) * max(made.dtype.itemsize, 1) > LARGEST:
                raise NotGeneral(f"there is no room for a value of shape {made.shape}")
        for root in done[self.order[-1]].src:
            if not _is_dense(root.shape):
                raise NotGeneral(f"a result of shape {root.shape} would not be dense in memory")
        return tuple([done[node] for node in self.order])

    def _general(self, position: int, node: UOp, done: Mapping[UOp, UOp]) -> UOp:
        op = node.op
        if op is Op.PARAM:
            return self._seen(position, node, self._argument(position, node))
        sources = self._spread(position, node, [done.get(source, source) for source in node.src])
        if op is Op.RESHAPE and node.operand.op is Op.PARAM:
            parameter = node.operand
            at = self.positions[parameter]
            return self._seen(at, parameter, self._argument(position, node))
        if op in (Op.ORDER, Op.ORDERED) and not isinstance(sources[0].shape[-1], int):
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

    def _seen(self, position: int, parameter: UOp, shape: Shape) -> UOp:
        """A parameter with a shape. One that varies is the front of memory that ends somewhere:

            SHRINK(RESHAPE(SHRINK(PARAM, (0, 512·64)), (512, 64)), (0, n), (0, 64))
        """
        slot, _, device = parameter.arg
        (size,) = self._argument(position, parameter)
        if isinstance(size, int):
            if any(not isinstance(length, int) for length in shape):
                raise NotGeneral("memory of one length is seen with other shapes")
            return shaped(UOp(Op.PARAM, parameter.dtype, (), (slot, size, device)), shape)
        if parameter in self.assigned:
            raise NotGeneral("memory of another length each time is written to")
        if not _is_dense(shape) or upper_count(shape) != greatest(size):
            raise NotGeneral(f"an input of shape {shape} is not dense in memory")
        memory = UOp(Op.PARAM, parameter.dtype, (), (slot, OPEN_ENDED, device))
        front = UOp(Op.SHRINK, parameter.dtype, (memory,), ((0, greatest(size)),))
        return shaped(front, shape)

    def _argument(self, position: int, node: UOp) -> Any:
        """The argument of a node, with expressions where numbers vary."""
        places = iter(self.places.get(position, ()))

        def size(number: Any, is_hole: bool) -> Any:
            return self.sizes.get(next(places), number) if is_hole else number

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


def _means_the_same(node: UOp, made: UOp) -> bool:
    """Whether an axis that is empty, or repeated for others, is so in the general graph as well."""
    if node.op is Op.CONST or not made.shape:
        return True
    pairs = zip(node.shape, made.shape, strict=True)
    return all(length not in SPECIAL or length == general for length, general in pairs)


def _base(node: UOp) -> UOp:
    """The memory that an assignment writes to."""
    while node.op is Op.AFTER or node.op in MOVEMENT:
        node = node.operand
    return node


def _spread_over(element: UOp, shape: Shape) -> UOp:
    """One element of memory, repeated along all axes of a shape."""
    return expand(shaped(element, (1,) * len(shape)), shape)


def _is_dense(shape: Shape) -> bool:
    """Whether a value lies in the front of memory made for its greatest shape, without gaps: only
    its first axis that is longer than 1 may vary."""
    longer = [size for size in shape if not (isinstance(size, int) and size == 1)]
    return all(isinstance(size, int) for size in longer[1:])
