"""Products that share an operand become one product with concatenated weights.

    before   x · q, x · k, x · v         after   (x · [q k v])[:, :n], [:, n:2n], [:, 2n:]

The weights depend on inputs alone, so they are concatenated once and kept. The sums stay the same,
and are added up in the same order if the wider product has the same layout as the others: it has
enough rows to be packed, and each weight fills whole panels. But the kernels that read the product
change, and may add up *their* sums in another order; so it counts as a rounding rule.

It concerns several values at once, so it is not a pattern. It is applied once, before the rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.search.graph.equalities import Equalities, Form
from ogive.compiler.search.graph.leaves import element_count, follows_from_inputs, keep_once
from ogive.compiler.search.graph.rules.labelled import (
    Labelled,
    Product,
    arrange,
    contract,
    find_product,
    has_fixed_shape,
    name_axes,
    spread_to,
)
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

NAME = "x · a, x · b → x · [a b], weights side by side"
_COLUMN, _DEPTH = "column", "depth"


class _Weight(NamedTuple):
    """A product of a shared operand and a weight with a column axis of its own."""

    number: int
    product: Product
    shared: Labelled
    weight: Labelled
    column: Hashable


def merge_products(graph: Equalities, target: Target) -> dict[int, Form]:
    """Add merged products to an e-graph; gives the form that reads one for each class it serves."""
    groups: dict[Hashable, list[_Weight]] = {}
    for number in graph.classes():
        weight = _find_weight(number, graph.representatives[number], target)
        if weight is not None:
            groups.setdefault(_key(weight), []).append(weight)
    merged: dict[int, Form] = {}
    for group in groups.values():
        if len(group) > 1 and len({each.weight.node for each in group}) == len(group):
            merged.update(_merge(graph, group))
    graph.rebuild()
    return merged


def _find_weight(number: int, node: UOp, target: Target) -> _Weight | None:
    if node.op is not Op.REDUCE_AXES or not node.dtype.is_float or not has_fixed_shape(node):
        return None
    product = find_product(name_axes(node), _DEPTH)
    if product is None:
        return None
    for shared, weight in ((product.left, product.right), (product.right, product.left)):
        own = [name for name in weight.lengths if name not in product.summed]
        if len(own) != 1 or own[0] in shared.lengths or not product.summed <= weight.lengths.keys():
            continue
        if follows_from_inputs(weight.node) and _stays_as_it_is(product, own[0], target):
            return _Weight(number, product, shared, weight, own[0])
    return None


def _stays_as_it_is(product: Product, column: Hashable, target: Target) -> bool:
    """Whether the wider product adds up in the same order: enough rows, and whole panels."""
    costs = target.costs.packing
    lengths = product.lengths
    total = element_count(product.result.node)
    lanes = target.vector_bytes // product.result.node.dtype.itemsize
    rows = total // lengths[column]
    return rows >= costs.least_rows and lengths[column] % (costs.panel_vectors * lanes) == 0


def _key(weight_read: _Weight) -> Hashable:
    """The key that mergeable products share: the operand, and which of its axes are summed."""
    _, product, shared, weight, _ = weight_read
    summed = tuple([name in product.summed for name in shared.names])
    return shared.node, summed, weight.node.dtype, len(product.summed)


def _merge(graph: Equalities, group: Sequence[_Weight]) -> dict[int, Form]:
    first = group[0]
    # All products get the names of the first. The shared operand says which are equal.
    names = [dict(zip(each.shared.names, first.shared.names, strict=True)) for each in group]
    depth = [name for name in first.shared.names if name in first.product.summed]
    weights = []
    for each, rename in zip(group, names, strict=True):
        renamed = tuple(
            [_COLUMN if name == each.column else rename.get(name) for name in each.weight.names]
        )
        weights.append(arrange(Labelled(each.weight.node, renamed), [_COLUMN, *depth]))
    joined = Labelled(keep_once(_join(weights)), (_COLUMN, *depth))
    total = contract(first.shared, joined, first.product.summed)
    merged: dict[int, Form] = {}
    start = 0
    for each, rename, weight in zip(group, names, weights, strict=True):
        stop = start + weight.shape[0]
        back = {new: old for old, new in rename.items()} | {_COLUMN: each.column}
        part = Labelled(
            _columns(total, start, stop), tuple([back.get(name) for name in total.names])
        )
        result = spread_to(part, each.product.result)
        number = graph.add(result, NAME)
        form = next(iter(graph.members(number)))
        graph.union(each.number, number)
        merged[each.number] = form
        start = stop
    return merged


def _columns(value: Labelled, start: int, stop: int) -> UOp:
    spans = tuple(
        [
            (start, stop) if name == _COLUMN else (0, length)
            for name, length in zip(value.names, value.node.shape, strict=True)
        ]
    )
    return UOp(Op.SHRINK, value.node.dtype, (value.node,), spans)


def _join(parts: Sequence[UOp]) -> UOp:
    """The concatenation of values along their first axis, in the form of the library's `cat`."""
    total = sum(part.shape[0] for part in parts)
    rest = parts[0].shape[1:]
    shape = (total, *rest)
    counted = UOp(Op.IOTA, dtypes.int64, (), total)
    position = UOp(Op.RESHAPE, dtypes.int64, (counted,), (total, *[1] * len(rest)))
    dtype = parts[0].dtype
    joined: UOp | None = None
    start = 0
    for part in parts:
        stop = start + part.shape[0]
        widths = ((start, total - stop), *[(0, 0)] * len(rest))
        padded = UOp(Op.PAD, dtype, (part,), (widths, dtype.canonical(0)))
        if joined is None:
            joined = padded
        else:
            limit = UOp.const(dtypes.int64, start)
            before = UOp(Op.CMPLT, dtypes.bool_, (position, limit))
            spread = UOp(Op.EXPAND, dtypes.bool_, (before,), shape)
            joined = UOp(Op.WHERE, dtype, (spread, joined, padded))
        start = stop
    assert joined is not None, "there are parts"
    return joined
