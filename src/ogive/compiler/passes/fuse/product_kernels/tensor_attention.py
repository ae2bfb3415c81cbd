"""Attention for tensor cores: scores that are worked out, used and forgotten by one kernel.

Scores are products of rows with rows. What is computed of them element by element is reduced along
the row, or multiplied by a matrix; neither scores nor weights are kept.

    before   s = q @ kᵀ, kept;  e = exp(s - max of s), kept;  CAST bf16(e @ v / sum of e)
    after    CAST bf16(e @ v / sum of e)                                        one kernel

The gradients of attention are of the same kind: their weights follow from one or two scores and
from what was kept of each row. What a row of scores is reduced to may be a result of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.passes.fuse.reads.axis_relations import long_sizes
from ogive.compiler.passes.graph.products.tensor_core_products import NARROW, find_factors
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

MOST_TERMS = 128
"""The greatest length of the rows that scores are products of, and of those that weights are
multiplied by: registers hold a tile of them."""

MOST_SCORES = 2
"""The most products of scores that one result is computed from."""

MOST_BATCH_AXES = 3
"""The most long axes in front of rows and columns."""


class TensorAttention(NamedTuple):
    """The attentions of a graph: what is `inside` is computed by each kernel that needs it and
    never kept, `results` are kept, and so are the `operands` that are read beside the scores."""

    inside: frozenset[UOp] = frozenset()
    results: frozenset[UOp] = frozenset()
    operands: frozenset[UOp] = frozenset()


def find_attention(order: Sequence[UOp], target: Target) -> TensorAttention:
    """The attentions that tensor cores compute; none where there are no such."""
    if not target.grid.tensor_cores or not any(node.op is Op.EXP for node in order):
        return TensorAttention()
    finder = _Finder(order, target)
    while finder.scores():
        wrong = finder.go_through()
        if not wrong:
            return finder.found()
        finder.excluded |= wrong
    return TensorAttention()


def find_peak(node: UOp) -> UOp | None:
    """The maximum that an exponential is taken about, if it is that of the very same scores, or 0
    where that is infinite."""
    if node.op is not Op.EXP or node.operand.op is not Op.SUB:
        return None
    seen, spread = node.operand.src
    peak = spread.operand if spread.op is Op.EXPAND else spread
    if peak.op is Op.WHERE and peak.condition.op is Op.CMPEQ:
        peak = peak.if_false
    is_maximum = peak.op is Op.REDUCE_AXES and peak.combine is Op.MAXIMUM
    return peak if is_maximum and peak.operand is seen else None


class _Finder:
    """Goes through a graph, and says of each node what it is to an attention.

    `elements` are scores and what follows from them element by element, each with the products that
    it follows from; `rows` what these are reduced to, and `mixed` the products with weights and
    what follows from those. Products are `excluded` whose scores somebody else reads, too.
    """

    def __init__(self, order: Sequence[UOp], target: Target) -> None:
        self.order = order
        self.products = {
            node: factors
            for node in order
            if node.op is Op.REDUCE_AXES and (factors := find_factors(node, target)) is not None
        }
        self.readers: dict[UOp, list[UOp]] = {}
        for node in order:
            for source in node.src:
                self.readers.setdefault(source, []).append(node)
        self.excluded: set[UOp] = set()

    def scores(self) -> list[UOp]:
        """The products that may be scores."""
        return [node for node in self.products if self._may_be_score(node)]

    def _may_be_score(self, node: UOp) -> bool:
        shape = node.operand.shape
        last = len(shape) - 1
        long = [size for size in node.shape if size != 1]
        return (
            node not in self.excluded
            and node.axes == (last,)
            and shape[last] <= MOST_TERMS
            and 2 <= len(long) <= MOST_BATCH_AXES + 2
            and self.products[node][0].dtype.is_float
            and node.shape[-2] != 1 != node.shape[-3]
        )

    def go_through(self) -> set[UOp]:
        """Find what each node is. Returns products that turn out to be no scores."""
        self.elements: dict[UOp, frozenset[UOp]] = {}
        self.rows: dict[UOp, frozenset[UOp]] = {}
        self.mixed: dict[UOp, frozenset[UOp]] = {}
        self.weights: dict[UOp, UOp] = {}  # of products with them
        self.inner: set[UOp] = set()  # movement and casts inside
        for node in self.order:
            if node.op is Op.REDUCE_AXES:
                self._enter_reduction(node)
            elif node.op in ELEMENTWISE:
                self._enter_elementwise(node)
            elif node.op is Op.RESHAPE and long_sizes(node) == long_sizes(node.operand):
                for results in (self.elements, self.mixed):
                    if node.operand in results:
                        results[node] = results[node.operand]
        return self._find_wrong()

    def _enter_reduction(self, node: UOp) -> None:
        factors = self.products.get(node)
        if factors is not None:
            weights = [factor for factor in factors if factor in self.elements]
            if len(weights) == 1 and self._is_weighted(node, weights[0]):
                self.mixed[node] = self.elements[weights[0]]
                self.weights[node] = weights[0]
                self.inner |= _between(node.operand, weights[0])
            elif not weights and self._may_be_score(node):
                self.elements[node] = frozenset({node})
        elif node.operand in self.elements and self._is_row(node):
            self.rows[node] = self.elements[node.operand]

    def _is_row(self, node: UOp) -> bool:
        return node.axes == (len(node.shape) - 1,) and node.combine in (Op.ADD, Op.MAXIMUM)

    def _is_weighted(self, node: UOp, weights: UOp) -> bool:
        """Whether weights are multiplied along their columns, for few results of each row."""
        last = len(node.operand.shape) - 1
        rows = math.prod(weights.shape[:-1])
        return (
            node.axes == (last,)
            and node.operand.shape[last] == weights.shape[-1]
            and math.prod(node.shape) <= rows * MOST_TERMS
            and node.shape[-2] != 1
        )

    def _enter_elementwise(self, node: UOp) -> None:
        below = [self.elements[s] for s in node.src if s in self.elements and s.shape == node.shape]
        if below:
            scores = frozenset().union(*below)
            if len(scores) <= MOST_SCORES:
                self.elements[node] = scores
            return
        mixed = [source for source in node.src if source in self.mixed]
        others = [source for source in node.src if source not in self.mixed]
        if len(mixed) == 1 and mixed[0].dtype not in NARROW and mixed[0].shape == node.shape:
            if all(self._goes_with(mixed[0], source) for source in others):
                self.mixed[node] = self.mixed[mixed[0]]
            return
        rows = [self.rows[source] for source in node.src if source in self.rows]
        rest = [source for source in node.src if source not in self.rows]
        if rows and all(row == rows[0] for row in rows) and all(s.op is Op.CONST for s in rest):
            self.rows[node] = rows[0]

    def _goes_with(self, mixed: UOp, source: UOp) -> bool:
        """Whether a value is at hand where a product with weights ends: a number, or what its row
        was reduced to."""
        row = source.operand if source.op is Op.EXPAND else source
        return source.op is Op.CONST or self.rows.get(row) == self.mixed[mixed]

    # What is wrong, and what is right

    def _find_wrong(self) -> set[UOp]:
        wrong: set[UOp] = set()
        has_exponential: set[UOp] = set()
        for node, origins in self.elements.items():
            if node.op is Op.EXP:
                has_exponential |= origins
            for reader in self.readers.get(node, [None]):
                if not self._reads_inside(reader):
                    wrong |= origins
        used = frozenset().union(*self.mixed.values(), *self.rows.values())
        return wrong | {node for node in self.scores() if node not in used & has_exponential}

    def _reads_inside(self, reader: UOp | None) -> bool:
        return (
            reader in self.elements or reader in self.rows or reader in self.mixed
            or reader in self.inner
        )  # fmt: skip

    def found(self) -> TensorAttention:
        """The attention of the graph, when nothing is wrong."""
        inside = {*self.elements, *self.inner}
        operands: set[UOp] = set()
        peaks: set[UOp] = set()
        for node in self.elements:
            peak = find_peak(node)
            if peak is not None:
                peaks.add(node.operand.right)
        for node in self.elements:
            if node in self.products:
                continue
            for source in node.src:
                if source not in self.elements and source not in peaks:
                    operands |= {_unmoved(source)} if not _is_positional(source) else set()
        results = {_computed(node) for node in self.mixed if self._ends(node)}
        for node in self.rows:
            if node in operands or not all(
                reader in self.rows or reader in peaks or self._spreads_into_mixed(reader)
                for reader in self.readers.get(node, [None])
            ):
                results.add(node)
        inside |= {*peaks, *self.rows, *self.mixed} - results
        return TensorAttention(frozenset(inside), frozenset(results), frozenset(operands))

    def _ends(self, node: UOp) -> bool:
        """Whether what follows a product with weights ends here."""
        readers = self.readers.get(node, [])
        return len(readers) != 1 or readers[0] not in self.mixed

    def _spreads_into_mixed(self, node: UOp | None) -> bool:
        if node is None or node.op is not Op.EXPAND:
            return node in self.mixed
        return all(reader in self.mixed for reader in self.readers.get(node, [None]))


def _between(product: UOp, weights: UOp) -> set[UOp]:
    """A product and what moves and widens one of its factors."""
    for factor in product.src:
        chain, node = {product}, factor
        while node is not weights and (node.op in MOVEMENT or node.op is Op.CAST):
            chain.add(node)
            node = node.operand
        if node is weights:
            return chain
    raise AssertionError("a product has its factors")


def _is_positional(node: UOp) -> bool:
    """Whether a value follows from positions alone."""
    return all(
        each.op in (Op.IOTA, Op.CONST) or each.op in ELEMENTWISE or each.op in MOVEMENT
        for each in node.walk()
    )


def _computed(node: UOp) -> UOp:
    """A value without the change of its axes that comes last."""
    while node.op is Op.RESHAPE:
        node = node.operand
    return node


def _unmoved(node: UOp) -> UOp:
    while node.op in MOVEMENT:
        node = node.operand
    return node
