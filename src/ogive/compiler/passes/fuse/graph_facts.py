"""The facts about a graph that hold whatever is kept: they are found once, before the rounds."""

from __future__ import annotations

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.memory import is_memory
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.ir.traversal import walk
from ogive.compiler.passes.fuse.product_kernels.find_scores import Scores, find_scores
from ogive.compiler.passes.fuse.product_kernels.tensor_attention import (
    TensorAttention,
    find_attention,
)
from ogive.compiler.passes.fuse.product_kernels.tensor_products import (
    TensorProducts,
    find_tensor_products,
)
from ogive.compiler.passes.fuse.reads.bit_sets import Axes
from ogive.compiler.passes.fuse.recompute_costs import find_varying
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

ALWAYS_KEPT = (Op.CONTIGUOUS, Op.SCAN_AXIS, Op.ARRANGE, Op.ASSIGN, Op.COPY, Op.CUSTOM)
"""Ops whose values are kept in any case."""


class GraphFacts(NamedTuple):
    """A graph as the choice sees it.

    `order` has its nodes, sources first, and `computed` those of them that a kernel computes;
    `roots` are computed into memory. `varying` has the axes along which indices vary. `scores`,
    `attention` and `products` are what kernels of a kind of their own compute. A kernel computes at
    most `node_limit` nodes.
    """

    target: Target
    node_limit: int
    order: list[UOp]
    computed: list[UOp]
    roots: set[UOp]
    varying: dict[UOp, Axes]
    scores: Scores
    attention: TensorAttention
    products: TensorProducts


def find_facts(sink: UOp, target: Target, node_limit: int) -> GraphFacts:
    """The facts about a parametric graph."""
    order = walk(sink.src)
    return GraphFacts(
        target=target,
        node_limit=node_limit,
        order=order,
        computed=[node for node in order if _is_computed(node)],
        roots={root for root in sink.src if _is_computed(root) and not is_memory(root)},
        varying=find_varying(order),
        scores=find_scores(order, target),
        attention=find_attention(order, target),
        products=find_tensor_products(order, target),
    )


def _is_computed(node: UOp) -> bool:
    if node.dtype is dtypes.index:
        return False  # lengths and positions: every kernel works them out for itself
    return (
        node.op in ELEMENTWISE
        or node.op in MOVEMENT
        or node.op in (Op.REDUCE_AXES, Op.GATHER, Op.SORT)
        or node.op in ALWAYS_KEPT
    )
