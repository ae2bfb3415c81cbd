"""The facts about a graph that hold whatever is kept: they are found once, before the rounds."""

from __future__ import annotations

from ogive.ir import dtype as dtypes
from ogive.ir.memory import is_memory
from ogive.ir.node import UOp
from ogive.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.ir.traversal import walk
from ogive.named import NamedTuple
from ogive.passes.fuse.product_kernels.find_scores import Scores, find_scores
from ogive.passes.fuse.product_kernels.tensor_attention import TensorAttention, find_attention
from ogive.passes.fuse.product_kernels.tensor_products import TensorProducts, find_tensor_products
from ogive.passes.fuse.reads.bit_sets import Axes
from ogive.passes.fuse.recompute_costs import find_varying
from ogive.targets.target import Target

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
