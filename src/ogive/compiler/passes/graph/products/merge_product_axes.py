"""Sums of products over several axes become sums over one axis, for tensor cores.

    before   sum over c, h, w of CAST(windows of x)[n, 1, c, h, w, y, x] * CAST(f)[1, o, c, h, w]
    after    sum over k of CAST(windows of x in the order n, k, y, x) * CAST(f as o × k)

So a convolution becomes a matrix product. Its factors are moved as narrow elements, without
`CONTIGUOUS` nodes between; they are copied where the merged axes are not contiguous in memory.

A product over one axis is rebuilt over narrow elements, too, if its factors are moved by more than
whole axes, such as flips in the gradients of masked attention.

If there are few results, as in the gradient of a filter, the first axis of the sum stays separate:

    after    sum over n of CONTIGUOUS(sum over y, x of the image n)
"""

from __future__ import annotations

import math

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import cast, expand, permute, reshape
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.traversal import transform
from ogive.compiler.passes.graph.products.tensor_core_products import (
    LEAST_LENGTH,
    LEAST_SIDE,
    NARROW,
    longest_alone,
    narrow_value,
)
from ogive.compiler.targets.target import Target


def merge_product_axes(sink: UOp, target: Target) -> UOp:
    """The graph with one axis for each sum that tensor cores could compute."""
    if not target.grid.tensor_cores:
        return sink
    return transform(sink, lambda node: _merge(node, target) if node.op is Op.REDUCE_AXES else node)


def _merge(node: UOp, target: Target) -> UOp:
    product = node.operand
    if node.combine is not Op.ADD or product.op is not Op.MUL:
        return node
    if not all(isinstance(size, int) for size in product.shape):
        return node
    sizes = [int(size) for size in product.shape]
    summed = [axis for axis in node.axes if sizes[axis] != 1]
    left, right = [_narrow_factor(factor) for factor in product.src]
    if not summed or left is None or right is None or left.dtype is not right.dtype:
        return node
    if len(summed) == 1 and None not in map(narrow_value, product.src):
        return node
    is_split = len(summed) > 1 and _has_few_results(node, target)
    if is_split and _fits(left, right, summed[1:], sizes, target):
        parts = _multiply(left, right, summed[1:], sizes, node)
        kept = UOp(Op.CONTIGUOUS, parts.dtype, (parts,), ())
        total = UOp(Op.REDUCE_AXES, node.dtype, (kept,), (Op.ADD, (summed[0],)))
        return reshape(total, node.shape)
    if _fits(left, right, summed, sizes, target):
        return reshape(_multiply(left, right, summed, sizes, node), node.shape)
    return node


def _multiply(left: UOp, right: UOp, summed: list[int], sizes: list[int], node: UOp) -> UOp:
    """The product of two factors with the axes `summed` merged, in the original axes.

    The merged axis takes the place of the first of them, or goes last if the last one did, so that
    contiguous elements stay contiguous. Adjacent short axes that only one factor has are merged,
    too.
    """
    kept = [axis for axis in range(len(sizes)) if axis not in summed]
    last = max([axis for axis, size in enumerate(sizes) if size != 1])
    before = [axis for axis in kept if last in summed or axis < summed[0]]
    groups = _owned_groups(before, left, right)
    place = len(groups)
    groups += [summed, *_owned_groups([a for a in kept if a not in before], left, right)]
    order = [axis for group in groups for axis in group]

    def merged(own: list[int]) -> tuple[int, ...]:
        return tuple([math.prod([own[axis] for axis in group]) for group in groups])

    def moved(factor: UOp) -> UOp:
        own = [int(size) for size in factor.shape]
        longer = [axis for axis in order if own[axis] != 1]
        narrow = factor if longer == sorted(longer) else permute(factor, order)
        return expand(cast(reshape(narrow, merged(own)), node.dtype), merged(sizes))

    product = UOp(Op.MUL, node.dtype, (moved(left), moved(right)))
    total = UOp(Op.REDUCE_AXES, node.dtype, (product,), (Op.ADD, (place,)))
    return reshape(total, tuple([1 if axis in summed else n for axis, n in enumerate(sizes)]))


def _owned_groups(axes: list[int], left: UOp, right: UOp) -> list[list[int]]:
    """The axes in groups to merge: adjacent axes of a factor that has no long axis of its own."""
    pairs = ((left.shape, right.shape), (right.shape, left.shape))
    short = [longest_alone(own, other) < LEAST_SIDE for own, other in pairs]
    groups: list[list[int]] = []
    before = None
    for axis in axes:
        owner = (left.shape[axis] != 1, right.shape[axis] != 1)
        is_joined = (owner == (True, False) and short[0]) or (owner == (False, True) and short[1])
        if is_joined and owner == before:
            groups[-1].append(axis)
        else:
            groups.append([axis])
        before = owner
    return groups


def _has_few_results(node: UOp, target: Target) -> bool:
    """Whether the results are less than a tile for each multiprocessor."""
    tile = target.costs.threads.product_results
    return math.prod(map(int, node.shape)) < tile * target.grid.multiprocessors


def _fits(left: UOp, right: UOp, summed: list[int], sizes: list[int], target: Target) -> bool:
    """Whether there are enough rows, columns and terms, and both factors have all the terms."""
    groups = _owned_groups([a for a in range(len(sizes)) if a not in summed], left, right)
    for factor, other in ((left, right), (right, left)):
        alone = [
            math.prod([int(factor.shape[axis]) for axis in group])
            for group in groups
            if other.shape[group[0]] == 1
        ]
        nbytes = math.prod(map(int, factor.shape)) * factor.dtype.itemsize
        if max(alone, default=1) < LEAST_SIDE or nbytes > target.costs.threads.copied_bytes:
            return False
        if any(factor.shape[axis] != sizes[axis] for axis in summed):
            return False
    return math.prod([sizes[axis] for axis in summed]) >= LEAST_LENGTH


def _narrow_factor(factor: UOp) -> UOp | None:
    """A factor as narrow elements, before it was expanded; None if more than movement widens it."""
    if factor.op is Op.EXPAND:
        factor = factor.operand
    chain: list[UOp] = []
    while factor.op in MOVEMENT or factor.op is Op.CONTIGUOUS:
        if factor.op is Op.PAD and factor.arg[1] != 0:
            return None
        if factor.op is not Op.CONTIGUOUS:
            chain.append(factor)
        factor = factor.operand
    if factor.op is not Op.CAST or NARROW.get(factor.operand.dtype) is not factor.dtype:
        return None
    narrow = factor.operand
    for movement in reversed(chain):
        argument = movement.arg
        if movement.op is Op.PAD:
            argument = (argument[0], narrow.dtype.canonical(0))
        narrow = movement.replace(dtype=narrow.dtype, src=(narrow, *movement.src[1:]), arg=argument)
    return narrow
