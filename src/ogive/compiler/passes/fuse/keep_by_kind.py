"""Values that are kept, or are not, for what they are: neither readers nor costs decide."""

from __future__ import annotations

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.passes.fuse.choice_round import Round
from ogive.compiler.passes.fuse.graph_facts import ALWAYS_KEPT
from ogive.compiler.passes.fuse.product_kernels.tensor_products import (
    is_kept_for_products,
    widens_narrow,
)
from ogive.compiler.passes.fuse.reads.kernel_drafts import Reads
from ogive.compiler.passes.fuse.row_staging import is_sorted_inside


def keep_by_kind(node: UOp, reads: Reads, this: Round) -> bool | None:
    """Whether a value is kept for what it is; None if its readers and its cost decide.

        SCAN_AXIS(x)    kept            PERMUTE(x)    not kept            EXP(x)    None
    """
    op = node.op
    if op in ALWAYS_KEPT or node in this.facts.roots:
        return True
    if op is Op.SORT:
        return not is_sorted_inside(node, reads, this)
    if this.target.grid.tensor_cores:
        is_kept = _keep_for_tensor_cores(node, reads, this)
        if is_kept is not None:
            return is_kept
    return False if op in MOVEMENT else None


def _keep_for_tensor_cores(node: UOp, reads: Reads, this: Round) -> bool | None:
    """Whether a value is kept for the sake of products and attention on tensor cores."""
    attention = this.facts.attention
    if node in attention.results:
        return True
    if node in attention.inside:
        return False  # every kernel that needs it computes it
    if widens_narrow(node, this.target):
        return False  # what is kept is the narrow value
    if is_kept_for_products(node, reads, this.facts.products):
        return True
    if node in attention.operands and node.op not in MOVEMENT:
        return bool(reads.pairs)
    return None
