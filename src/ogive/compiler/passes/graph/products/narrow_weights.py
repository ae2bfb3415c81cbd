"""Softmax weights become narrow between narrow values, for tensor cores.

    before   CAST bf16(sum over k of WHERE(mask, w[q, k] * CAST(v)[k, d], 0) / sum over k of w)
    after    CAST bf16(sum over k of CAST(n)[q, k] * CAST(v)[k, d] / sum over k of CAST(n))
    with     w = WHERE(mask, exp(s - m), 0), n = CAST bf16(w)

So tensor cores compute the products of attention in bfloat16 or float16, and of its gradients, as
in PyTorch. This changes only products with a factor computed from an exponential, and only if all
that is computed from them is rounded to that dtype in the end: that is attention, however it is
written. The sum of the weights becomes the sum of the narrow ones, so nothing reads the wide ones.
"""

from __future__ import annotations

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import cast
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.passes.graph.products.tensor_core_products import (
    LEAST_LENGTH,
    LEAST_SIDE,
    NARROW,
    longest_alone,
    narrow_value,
    unexpanded_shape,
)
from ogive.compiler.targets.target import Target

_MOVED = (Op.EXPAND, Op.RESHAPE, Op.PERMUTE)


def narrow_weights(sink: UOp, target: Target) -> UOp:
    """The graph with weights that tensor cores multiply."""
    if not target.grid.tensor_cores:
        return sink
    order = sink.walk()
    exponential = _follow_exponentials(order)
    weights: dict[UOp, DType] = {}
    products: set[UOp] = set()
    for node, dtype in _find_rounded_sums(order).items():
        factors = _factors(node)
        bases = {_unmoved(factor) for factor in factors if narrow_value(factor) is None}
        if bases and not exponential.isdisjoint(bases) and _is_product(node, factors, dtype):
            weights.update(dict.fromkeys(bases, dtype))
            products.add(node)
    return _replace(sink, weights, products) if products else sink


def _replace(sink: UOp, weights: dict[UOp, DType], products: set[UOp]) -> UOp:
    """The graph in which products and sums read narrow weights."""
    done: dict[UOp, UOp] = {}

    def narrowed(value: UOp) -> UOp:
        """The new form of a value, made from narrow weights if it moves weights."""
        base = _unmoved(value)
        if base not in weights:
            return done[value]
        if value is base:
            return cast(cast(done[base], weights[base]), base.dtype)
        return value.with_sources((narrowed(value.operand), *value.src[1:]))

    for node in sink.walk():
        rebuilt = node.with_sources(tuple([done[source] for source in node.src]))
        if node in products:
            product = UOp(Op.MUL, node.dtype, tuple(map(narrowed, _factors(node))))
            rebuilt = node.replace(src=(product,))
        elif node.op is Op.REDUCE_AXES and node.combine is Op.ADD:
            rebuilt = node.with_sources((narrowed(node.operand),))
        done[node] = rebuilt
    return done[sink]


def _find_rounded_sums(order: list[UOp]) -> dict[UOp, DType]:
    """The sums whose every result is rounded to one narrow dtype in the end, with that dtype."""
    types: dict[UOp, set[DType | None]] = {node: set() for node in order}
    for node in reversed(order):
        rounded_to: DType | None = None
        if node.op is Op.CAST and node.dtype in NARROW and node.dtype.is_float:
            rounded_to = node.dtype
        elif node.op in ELEMENTWISE or node.op in MOVEMENT or node.op is Op.REDUCE_AXES:
            rounded_to = next(iter(types[node])) if len(types[node]) == 1 else None
        for source in node.src:
            types[source].add(rounded_to)
    sums = [node for node in order if node.op is Op.REDUCE_AXES and node.combine is Op.ADD]
    rounded = [(node, next(iter(types[node]))) for node in sums if len(types[node]) == 1]
    return {node: dtype for node, dtype in rounded if dtype is not None}


def _follow_exponentials(order: list[UOp]) -> set[UOp]:
    """Exponentials, and all that is computed from them until it is rounded to a narrow dtype."""
    followers: set[UOp] = set()
    for node in order:
        follows = node.op in ELEMENTWISE or node.op in MOVEMENT or node.op is Op.REDUCE_AXES
        if node.op is Op.EXP or (
            follows and node.dtype not in NARROW and not followers.isdisjoint(node.src)
        ):
            followers.add(node)
    return followers


def _factors(total: UOp) -> tuple[UOp, ...]:
    """The two factors of a sum of products, which may be masked; else none."""
    product = total.operand
    if product.op is Op.WHERE and product.if_false.op is Op.CONST and product.if_false.literal == 0:
        product = product.if_true
    return product.src if product.op is Op.MUL else ()


def _is_product(total: UOp, factors: tuple[UOp, ...], dtype: DType) -> bool:
    """Whether tensor cores could compute a sum of products if both factors were narrow."""
    if len(factors) != 2 or len(total.axes) != 1 or NARROW[dtype] is not total.dtype:
        return False
    known = [narrow_value(factor) for factor in factors]
    if any(narrow is not None and narrow.dtype is not dtype for narrow in known):
        return False
    shape = total.operand.shape
    if not all(isinstance(size, int) for size in shape):
        return False
    own = [unexpanded_shape(factor) for factor in factors]
    if min(longest_alone(own[0], own[1]), longest_alone(own[1], own[0])) < LEAST_SIDE:
        return False
    masked = total.operand.op is Op.WHERE
    is_whole = not masked or any(_is_zero_where(f, total.operand.condition) for f in factors)
    return is_whole and int(shape[total.axes[0]]) >= LEAST_LENGTH


def _is_zero_where(factor: UOp, mask: UOp) -> bool:
    """Whether a factor is 0 wherever `mask` does not hold."""
    base = _unmoved(factor)
    places = _origins(factor)
    waiting = [base]
    while waiting:
        node = waiting.pop()
        if node.op is Op.MUL and node.shape == base.shape:
            waiting += node.src
        elif node.op is Op.WHERE and node.if_false.op is Op.CONST and node.if_false.literal == 0:
            own, asked = _origins(node.condition), _origins(mask)
            if places is None or own is None or asked is None:
                continue
            axes = [None if place is None else own[place] for place in places]
            if _unmoved(node.condition) is _unmoved(mask) and axes == asked:
                return True
    return False


def _origins(node: UOp) -> list[int | None] | None:
    """For each axis of a moved value its axis in the value below, or None if it is repeated.

    The result is None if axes are split or joined.
    """
    chain = []
    while node.op in _MOVED:
        chain.append(node)
        node = node.operand
    places: list[int | None] = list(range(len(node.shape)))
    for movement in reversed(chain):
        before = movement.operand.shape
        if movement.op is Op.PERMUTE:
            places = [places[axis] for axis in movement.arg]
        elif movement.op is Op.RESHAPE:
            longer = [place for place, size in zip(places, before, strict=True) if size != 1]
            if [size for size in movement.shape if size != 1] != [s for s in before if s != 1]:
                return None
            remaining = iter(longer)
            places = [None if size == 1 else next(remaining) for size in movement.shape]
        else:
            sizes = zip(places, before, movement.shape, strict=True)
            places = [None if old != new else place for place, old, new in sizes]
    return places


def _unmoved(node: UOp) -> UOp:
    """The value below movements of whole axes."""
    while node.op in _MOVED:
        node = node.operand
    return node
