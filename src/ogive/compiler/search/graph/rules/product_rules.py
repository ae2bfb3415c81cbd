"""Rules about sums of products: the order of two products, and the place of factors.

On integers, which wrap, they keep every bit. On floats they change the rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.rewriting.rules import RuleSet, anything, node
from ogive.compiler.search.graph.leaves import element_count, follows_from_inputs, keep_once
from ogive.compiler.search.graph.rules.labelled import (
    Labelled,
    Product,
    combine,
    contract,
    find_product,
    has_fixed_shape,
    name_axes,
    name_source,
    replace_operand,
    replay,
    spread_to,
)

_a, _b = anything("a"), anything("b")
_SUM = node(Op.REDUCE_AXES, node(Op.MUL, _a, _b), name="n")


def add_product_rules(rules: RuleSet, applies: Callable[[DType], bool]) -> None:
    """Add the rules, restricted to dtypes for which `applies` is true."""

    def only(rewrite: Callable[..., UOp | None]) -> Callable[..., UOp | None]:
        def guarded(n: UOp, a: UOp, b: UOp) -> UOp | None:
            return rewrite(n, a, b) if applies(n.dtype) and has_fixed_shape(n) else None

        return guarded

    rules.add("(a · b) · c → a · (b · c), where that is less work", _SUM, only(_reassociate))
    rules.add("(a * s) · b → (a · b) * s, where s is the same for all terms", _SUM, only(_take_out))
    rules.add(
        "(a · b) * s → a · (b * s), where s goes along b",
        node(Op.MUL, _a, _b, name="n"), only(_put_in),
    )  # fmt: skip
    rules.add(
        "a · b + a · c → a · (b + c)",
        node((Op.ADD, Op.SUB), _a, _b, name="n").as_written(), only(_factor_products),
    )  # fmt: skip
    rules.add(
        "x * a + x * b → x * (a + b)",
        node((Op.ADD, Op.SUB), node(Op.MUL, anything("x"), _a), node(Op.MUL, anything("x"), _b),
             name="n").as_written(),
        lambda n, x, a, b: _factor(n, x, a, b) if applies(n.dtype) else None,
    )  # fmt: skip


def _outer_product(n: UOp) -> Product | None:
    """The product that a node itself is, not one below movements."""
    product = find_product(name_axes(n), "outer")
    return product if product is not None and product.result.node is n else None


def _reassociate(n: UOp, a: UOp, b: UOp) -> UOp | None:
    """The cheapest other order of two products, if it takes fewer multiplications."""
    outer = _outer_product(n)
    if outer is None:
        return None
    best, least = None, None
    for inner, other in _nested(outer):
        lengths = outer.lengths | inner.lengths
        for first, second in ((inner.left, inner.right), (inner.right, inner.left)):
            candidate = _in_other_order(outer, inner, first, second, other, lengths)
            if candidate is not None and (least is None or candidate[1] < least):
                best, least = candidate
    return best


def _nested(outer: Product) -> Iterator[tuple[Product, Labelled]]:
    """The operands of a product that are products themselves, each with the other operand."""
    for operand, other in ((outer.left, outer.right), (outer.right, outer.left)):
        inner = find_product(operand, "inner")
        if inner is not None:
            yield inner, other


def _in_other_order(
    outer: Product,
    inner: Product,
    first: Labelled,
    second: Labelled,
    other: Labelled,
    lengths: dict[Hashable, int],
) -> tuple[UOp, int] | None:
    """`first · (second · other)`, and its number of multiplications."""
    summed = outer.summed | inner.summed
    early = frozenset([name for name in summed if name not in first.lengths])
    if not early or not early <= {*second.lengths, *other.lengths}:
        return None
    late = summed - early
    if not late:
        return None
    between = contract(second, other, early)
    work = _size([*second.lengths, *other.lengths], lengths)
    work += _size([*first.lengths, *between.lengths], lengths)
    if work >= outer.work + inner.work:
        return None
    result = contract(first, between, late)
    return spread_to(result, outer.result), work


def _size(names: list[Hashable], lengths: dict[Hashable, int]) -> int:
    count = 1
    for name in set(names):
        count *= lengths[name]
    return count


def _take_out(n: UOp, a: UOp, b: UOp) -> UOp | None:
    """Move a factor or divisor that is the same for all terms out of their sum."""
    outer = _outer_product(n)
    if outer is None:
        return None
    for operand in (outer.left, outer.right):
        node, names = operand
        if node.op not in (Op.MUL, Op.DIV) or element_count(node) <= element_count(n):
            continue
        for kept, taken in [(0, 1), (1, 0)] if node.op is Op.MUL else [(0, 1)]:
            factor = name_source(node.src[taken], node, names)
            if node.src[kept].shape != node.shape or factor.lengths.keys() & outer.summed:
                continue
            total = replace_operand(outer, operand, node.src[kept])
            return UOp(node.op, n.dtype, (total, spread_to(factor, outer.result)))
    return None


def _put_in(n: UOp, a: UOp, b: UOp) -> UOp | None:
    """Move a factor of a product into the operand with its axes, if that is a weight."""
    for value, factor in ((a, b), (b, a)):
        if value.shape != n.shape:
            continue
        product = find_product(name_axes(value))
        if product is None:
            continue
        scale = name_source(factor, n, tuple(range(len(n.shape))))
        if scale.node.op is not Op.CONST and not follows_from_inputs(scale.node):
            continue
        for operand, other in ((product.right, product.left), (product.left, product.right)):
            if not scale.lengths.keys() <= operand.lengths.keys():
                continue
            if not follows_from_inputs(operand.node) or not _is_weight(operand, other):
                continue
            scaled = UOp(Op.MUL, n.dtype, (operand.node, spread_to(scale, operand)))
            total = replace_operand(product, operand, keep_once(scaled))
            return replay(value, product.result.node, total)
    return None


def _is_weight(operand: Labelled, other: Labelled) -> bool:
    """Whether an operand is a weight: it has fewer elements, or the other one is computed."""
    is_smaller = element_count(operand.node) < element_count(other.node)
    return is_smaller or not follows_from_inputs(other.node)


def _factor_products(n: UOp, a: UOp, b: UOp) -> UOp | None:
    """Two products with a common operand become one product with the sum of the others."""
    if a.shape != n.shape or b.shape != n.shape:
        return None
    one, two = find_product(name_axes(a)), find_product(name_axes(b))
    if one is None or two is None or one.result.node is two.result.node:
        return None
    for shared, rest in ((one.left, one.right), (one.right, one.left)):
        for same, other in ((two.left, two.right), (two.right, two.left)):
            if same.node is not shared.node:
                continue
            # Each product has its own names for summed axes. The shared operand has both.
            renamed = dict(zip(same.names, shared.names, strict=True))
            if any(k != v and k not in two.summed for k, v in renamed.items()):
                continue
            names = tuple([renamed.get(name, name) for name in other.names])
            if set(names) != set(rest.names) or not one.summed <= set(shared.names):
                continue
            moved = spread_to(Labelled(other.node, names), rest)
            both = UOp(n.op, n.dtype, (rest.node, moved))
            return replay(a, one.result.node, replace_operand(one, rest, both))
    return None


def _factor(n: UOp, x: UOp, a: UOp, b: UOp) -> UOp | None:
    if not has_fixed_shape(n) or x.op is Op.CONST:
        return None
    names = tuple(range(len(n.shape)))
    first, second = [name_source(each, n, names) for each in (a, b)]
    total = combine(n.op, first, second)
    if x.shape != n.shape:
        return None
    return UOp(Op.MUL, n.dtype, (x, spread_to(total, name_axes(n))))
