"""Products for tensor cores are kernels of their own, with what follows them element by element.

They read narrow elements from memory, at strides, and have one sum. So what they multiply is kept,
in its narrow type, and copied if its axes are no axes of memory; what is computed of a product and
another reduction is another kernel.

    before   softmax(CAST f32(CAST bf16(sum of a * b)))                  in one kernel
    after    s = CAST bf16(sum of a * b), kept;   softmax(CAST f32(s))
"""

from __future__ import annotations

from collections.abc import Sequence

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, MOVEMENT, Op
from ogive.compiler.passes.fuse.reads.axis_relations import long_sizes
from ogive.compiler.passes.fuse.reads.bit_sets import has
from ogive.compiler.passes.fuse.reads.kernel_drafts import Reads
from ogive.compiler.passes.graph.products.tensor_core_products import NARROW, find_factors
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple

_MOVED = (Op.RESHAPE, Op.PERMUTE)


class TensorProducts(NamedTuple):
    """The products of a graph: `results` are their sums and what is computed of those element by
    element, `operands` the values that they multiply, of which `copies` are movement alone."""

    results: frozenset[UOp] = frozenset()
    operands: frozenset[UOp] = frozenset()
    copies: frozenset[UOp] = frozenset()


def find_tensor_products(order: Sequence[UOp], target: Target) -> TensorProducts:
    """The products that tensor cores compute; none where there are no such."""
    if not target.grid.tensor_cores:
        return TensorProducts()
    results: set[UOp] = set()
    operands: set[UOp] = set()
    copies: set[UOp] = set()
    reducing: set[UOp] = set()  # what holds some reduction
    for node in order:
        if node.op is Op.REDUCE_AXES:
            reducing.add(node)
            factors = find_factors(node, target)
            if factors is not None:
                results.add(node)
                operands.update(map(_moved_value, factors))
                copies.update([each for each in map(_find_copy, factors) if each is not None])
        elif node.op in ELEMENTWISE or node.op in MOVEMENT:
            held = [source for source in node.src if source in reducing]
            if held:
                reducing.add(node)
            if len(held) == 1 and held[0] in results and _follows(node, held[0]):
                results.add(node)
    return TensorProducts(frozenset(results), frozenset(operands), frozenset(copies))


def _moved_value(value: UOp) -> UOp:
    """The value that is kept for a narrow value: the one whose axes it moves, which a product reads
    as they lie; itself if it is copied."""
    if _find_copy(value) is not None:
        return value
    while value.op in MOVEMENT:
        value = value.operand
    return value


def _find_copy(value: UOp) -> UOp | None:
    """The movement below a narrow value, if there is any, that makes other axes of those in memory:
    axes that lie apart become one, or there is something around them."""
    while value.op in MOVEMENT:
        if value.op in (Op.PAD, Op.FLIP):
            return value
        if value.op is Op.RESHAPE and long_sizes(value) != long_sizes(value.operand):
            below = value.operand
            while below.op is Op.RESHAPE:
                below = below.operand
            return value if below.op in MOVEMENT else None
        value = value.operand
    return None


def _follows(node: UOp, source: UOp) -> bool:
    """Whether a node is computed of a result element by element, or is the same in other axes."""
    return node.op in _MOVED or (node.op in ELEMENTWISE and node.shape == source.shape)


def widens_narrow(node: UOp, target: Target) -> bool:
    """Whether a node widens what tensor cores would multiply: what is kept is the narrow value."""
    return (
        target.grid.tensor_cores
        and node.op is Op.CAST
        and NARROW.get(node.operand.dtype) is node.dtype
    )


def is_kept_for_products(node: UOp, reads: Reads, products: TensorProducts) -> bool:
    """Whether a value is kept because tensor cores multiply it, or have computed it for somebody
    who does more with it than goes with a product."""
    if node in products.copies and reads.pairs:
        return True
    if node.op in MOVEMENT or not reads.pairs:
        return False
    if node in products.operands or (node in products.results and _is_read_apart(reads)):
        return True
    kernel, _ = reads.pairs[0]
    return node.op is Op.REDUCE_AXES and kernel.by_tensor_cores


def note_product(node: UOp, reads: Reads, products: TensorProducts) -> None:
    """Let the kernel that reads a product of tensor cores know: it takes no other reduction."""
    if node in products.results and node.op is Op.REDUCE_AXES and reads.pairs:
        kernel, _ = reads.pairs[0]
        kernel.by_tensor_cores = True


def _is_read_apart(reads: Reads) -> bool:
    """Whether a result is read otherwise than once, for each element of a kernel without sums."""
    kernel, first = reads.pairs[0]
    return any(
        other is not kernel
        or (view.loops, view.places) != (first.loops, first.places)
        or kernel.is_ordered
        or len(kernel.extents) > kernel.output_count
        or kernel.repeats(view)
        or view.by_data
        or any(loops and not has(view.bare, axis) for axis, loops in enumerate(view.loops))
        for other, view in reads.pairs
    )
