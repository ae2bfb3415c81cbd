"""Values with named axes, for the rules about products.

A product is a sum of elementwise products of operands that are expanded to common axes, and there
are movements between two products. With named axes, these movements disappear:

    before   REDUCE_AXES(MUL(EXPAND(RESHAPE a), EXPAND(RESHAPE(PERMUTE b))))
    after    Product(a[i, k], b[k, j], summed={k})

A name is any hashable object; an axis of length 1 has none. `contract` makes nodes again.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.named import NamedTuple

Names = tuple[Hashable | None, ...]


class Labelled(NamedTuple):
    """A node, with a name for each of its axes that is longer than 1."""

    node: UOp
    names: Names

    @property
    def lengths(self) -> dict[Hashable, int]:
        """The length of each named axis."""
        pairs = zip(self.names, self.node.shape, strict=True)
        return {name: length for name, length in pairs if name is not None}


class Product(NamedTuple):
    """A sum of products of two operands over the names in `summed`; `result` names its axes."""

    left: Labelled
    right: Labelled
    summed: frozenset[Hashable]
    result: Labelled

    @property
    def lengths(self) -> dict[Hashable, int]:
        """The length of each name."""
        return self.left.lengths | self.right.lengths

    @property
    def work(self) -> int:
        """The number of elementwise products."""
        return math.prod(self.lengths.values())


def has_fixed_shape(node: UOp) -> bool:
    """Whether all lengths are numbers, and none is zero."""
    return all(isinstance(length, int) and length for length in node.shape)


def name_axes(node: UOp, names: Names | None = None) -> Labelled:
    """A node with names for its axes longer than 1, which are their numbers by default."""
    names = tuple(range(len(node.shape))) if names is None else names
    pairs = zip(names, node.shape, strict=True)
    return Labelled(node, tuple([None if length == 1 else name for name, length in pairs]))


def below_movement(value: Labelled) -> Labelled:
    """The value below movements that permute or expand axes, or add axes of length 1."""
    while (below := _step_below(value)) is not None:
        value = below
    return value


def _step_below(value: Labelled) -> Labelled | None:
    node, names = value
    if len(node.src) != 1 or not has_fixed_shape(node):
        return None
    source = node.src[0]
    if node.op is Op.PERMUTE:
        placed: list[Hashable | None] = [None] * len(names)
        for axis, before in enumerate(node.order):
            placed[before] = names[axis]
        return Labelled(source, tuple(placed))
    if node.op is Op.EXPAND:
        return name_axes(source, names)
    if node.op is Op.RESHAPE:
        kept = [name for name, length in zip(names, node.shape, strict=True) if length != 1]
        if [n for n in source.shape if n != 1] != [n for n in node.shape if n != 1]:
            return None
        rest = iter(kept)
        return Labelled(source, tuple([None if n == 1 else next(rest) for n in source.shape]))
    return None


def name_source(source: UOp, node: UOp, names: Names) -> Labelled:
    """A source of an elementwise node with these names, below movements; a scalar has no axes."""
    if source.shape != node.shape:
        return Labelled(source, ())
    return below_movement(name_axes(source, names))


def find_product(value: Labelled, mark: Hashable = "sum") -> Product | None:
    """The product that a value is, below movements, or None. Summed axes are named (mark, axis)."""
    value = below_movement(value)
    node, names = value
    if node.op is not Op.REDUCE_AXES or node.combine is not Op.ADD:
        return None
    product = node.operand
    if product.op is not Op.MUL or not has_fixed_shape(product) or product.dtype.is_bool:
        return None
    inner = tuple(
        [(mark, axis) if axis in node.axes else name for axis, name in enumerate(names)]
    )
    left, right = [name_source(factor, product, inner) for factor in product.src]
    summed = frozenset([(mark, axis) for axis in node.axes if product.shape[axis] != 1])
    both = {*left.names, *right.names}
    if not summed <= both or not {name for name in names if name is not None} <= both:
        return None  # the same term several times: a multiple
    return Product(left, right, summed, value)


def replay(value: UOp, below: UOp, other: UOp) -> UOp:
    """The movements from `below` to `value`, applied to another value of the same shape."""
    path = []
    while value is not below:
        path.append(value)
        value = value.src[0]
    for node in reversed(path):
        other = node.with_sources((other, *node.src[1:]))
    return other


def replace_operand(product: Product, operand: Labelled, other: UOp) -> UOp:
    """The sum of a product with one of its operands replaced, under the same movements."""
    total = product.result.node
    (multiplied,) = total.src
    side = 0 if operand is product.left else 1
    factors = list(multiplied.src)
    factors[side] = replay(factors[side], operand.node, other)
    return total.with_sources((multiplied.with_sources(tuple(factors)),))


def arrange(value: Labelled, names: Sequence[Hashable]) -> UOp:
    """A value with its axes in the order of `names`; axes that it lacks have length 1."""
    node = value.node
    own = [axis for axis, name in enumerate(value.names) if name is not None]
    assert len(own) == len({value.names[axis] for axis in own}), "an axis for each name"
    own.sort(key=lambda axis: names.index(value.names[axis]))
    ones = [axis for axis, name in enumerate(value.names) if name is None]
    order = (*own, *ones)
    if order != tuple(range(len(order))):
        node = UOp(Op.PERMUTE, node.dtype, (node,), order)
    lengths = value.lengths
    return reshape(node, tuple([lengths.get(name, 1) for name in names]))


def reshape(node: UOp, shape: tuple[int, ...]) -> UOp:
    """A node in another shape with the same number of elements."""
    while node.op is Op.RESHAPE and len(node.src) == 1:
        node = node.operand
    return node if node.shape == shape else UOp(Op.RESHAPE, node.dtype, (node,), shape)


def expand(node: UOp, shape: tuple[int, ...]) -> UOp:
    """A node expanded to a shape of the same rank."""
    return node if node.shape == shape else UOp(Op.EXPAND, node.dtype, (node,), shape)


def combine(op: Op, left: Labelled, right: Labelled) -> Labelled:
    """An elementwise operation on two values, over the names of both."""
    lengths = left.lengths | right.lengths
    names = tuple(lengths)
    shape = tuple(lengths.values())
    sources = tuple([expand(arrange(each, names), shape) for each in (left, right)])
    return Labelled(UOp(op, left.node.dtype, sources), names)


def contract(left: Labelled, right: Labelled, summed: frozenset[Hashable]) -> Labelled:
    """The sum of the products of two values over some names, in the form of a matrix product.

    The axes are in the order of the library's own products: those of both operands, those of the
    left one, those of the right one, and the summed ones last.
    """
    first, second = left.lengths, right.lengths
    lengths = first | second
    kept = [name for name in lengths if name not in summed]
    shared = [name for name in kept if name in first and name in second]
    rows = [name for name in kept if name in first and name not in second]
    columns = [name for name in kept if name not in first]
    depth = [name for name in lengths if name in summed]
    names = [*shared, *rows, *columns, *depth]
    shape = tuple([lengths[name] for name in names])
    sources = tuple([expand(arrange(each, names), shape) for each in (left, right)])
    dtype = left.node.dtype
    product = UOp(Op.MUL, dtype, sources)
    outer = len(names) - len(depth)
    axes = tuple(range(outer, len(names)))
    total = UOp(Op.REDUCE_AXES, dtype, (product,), (Op.ADD, axes))
    return Labelled(total, (*names[:outer], *[None] * len(depth)))


def spread_to(value: Labelled, like: Labelled) -> UOp:
    """A value expanded to the axes of another one, which has all its names."""
    names = [name for name in like.names if name is not None]
    placed = arrange(value, names)
    lengths = value.lengths
    shape = tuple([lengths.get(name, 1) for name in like.names])
    return expand(reshape(placed, shape), like.node.shape)
