"""Operands of products are packed into panels.

In each step of the reduction, a product reads `width` columns of one operand. In row-major memory
the reads of successive steps are far apart; in panels they are contiguous:

    before   (..., 1, n, k) read at n*K + k
    after    the same value, kept as (..., 1, n/width, k, width)

Panels are an ordinary kept value in a permuted, padded layout. The packing kernel is an ordinary
kernel, with the computation of the operand fused into it. The kernel of the product reads panels
through ordinary movement ops.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from ogive.compiler.ir.memory import FILTER_PANELS, PANELS, is_kept_once, upper_count, upper_shape
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.node_building import expand
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.shape import Dim, Shape, greatest
from ogive.compiler.passes.graph.products.attention_scores import (
    are_few,
    are_scores,
    has_few_columns,
)
from ogive.compiler.passes.graph.products.group_narrow_products import WORD, Grouping, find_grouping
from ogive.compiler.passes.graph.products.operand_layouts import (
    Axis,
    Operand,
    Product,
    best_layout,
    vectors_per_panel,
)
from ogive.compiler.passes.graph.products.panels import make_panels
from ogive.compiler.passes.graph.products.products_below import ProductsBelow, products_below
from ogive.compiler.passes.graph.products.tensor_core_products import find_factors
from ogive.compiler.passes.graph.reductions.split_reductions import innermost_axis
from ogive.compiler.targets.estimates import best_tile, lane_use, sums_in_registers
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple


def pack_operands(sink: UOp, target: Target) -> UOp:
    """The graph with operands of its larger products packed."""
    below = ProductsBelow()
    by_rows = _scores_below_products(sink, target)
    uses = _count_uses(sink)
    done: dict[UOp, UOp] = {}
    for node in sink.walk():
        changed = node.with_sources(tuple([done[source] for source in node.src]))
        if _is_sum(node):
            shared = [uses[factor, node.axes] for factor in node.operand.src]
            changed = _pack_product(changed, target, node in by_rows, shared, below)
        done[node] = changed
    return done[sink]


def _is_sum(node: UOp) -> bool:
    return node.op is Op.REDUCE_AXES and node.combine is Op.ADD


def _count_uses(sink: UOp) -> Counter[tuple[UOp, tuple[int, ...]]]:
    """Count the products that read each operand along each choice of summed axes.

    The steps of a recurrent layer all read the same weights.
    """
    return Counter(
        (factor, node.axes)
        for node in sink.walk()
        if _is_sum(node) and node.operand.op is Op.MUL
        for factor in node.operand.src
    )


def _scores_below_products(sink: UOp, target: Target) -> frozenset[UOp]:
    """The scores that are an operand of another product, whose kernel computes them row by row."""
    scores: set[UOp] = set()
    # The steps of a recurrent layer all stand on those before: what is below is walked once.
    walked: defaultdict[int, set[UOp]] = defaultdict(set)
    for node in sink.walk():
        if node.op is Op.REDUCE_AXES and node.combine is Op.ADD:
            if has_few_columns(node, target):
                continue
            (product,) = node.src
            if product.op is Op.WHERE:
                product = product.if_true  # a masked product
            factors = product.src if product.op is Op.MUL else ()
            for operand in factors:
                if operand.op is Op.EXPAND:
                    seen = walked[upper_count(operand.operand.shape)]
                    below = products_below(operand, seen)
                    scores.update([each for each in below if are_scores(each, target)])
    return frozenset(scores)


def _pack_product(
    node: UOp, target: Target, by_rows: bool, uses: Sequence[int], below: ProductsBelow
) -> UOp:
    """A sum of products with its operands packed; `uses` counts the products that read each."""
    (product,) = node.src
    shape = product.shape
    if product.op is not Op.MUL or len(shape) < 3 or product.dtype.is_bool:
        return node
    if upper_count(shape) < target.costs.packing.least_work:
        return node
    if find_factors(node, target) is not None:
        return node  # kernels for tensor cores copy their operands themselves
    if any(map(_is_filter_panel, product.src)):
        return node  # `lay_channels_last` has laid out the whole convolution
    matrices = _find_matrices(node, uses)
    if matrices is None:
        packed = _pack_features(node, target, below)
    else:
        by_words = _pack_words(node, matrices, target)
        if by_words is not None:
            return by_words
        packed = _pack_matrices(matrices, target, by_rows, below)
    if not packed:
        return node
    factors = tuple([packed.get(factor, factor) for factor in product.src])
    product = UOp(Op.MUL, product.dtype, factors)
    return UOp(node.op, node.dtype, (product,), node.arg, node.tag)


def _is_filter_panel(operand: UOp) -> bool:
    while operand.op in MOVEMENT:
        operand = operand.operand
    return operand.op is Op.CONTIGUOUS and operand.arg == FILTER_PANELS


class _Matrices(NamedTuple):
    """The operands of a matrix product, and its axes."""

    left: UOp
    right: UOp
    rows: int
    columns: int
    depth: int
    left_uses: int
    right_uses: int


def _find_matrices(node: UOp, uses: Sequence[int]) -> _Matrices | None:
    """The operands and axes of a sum that is a matrix product; None for other sums.

    It may have a single row, if its matrix is shared with products of other rows.
    """
    (product,) = node.src
    _, axes = node.arg
    if len(axes) != 1:
        return None
    (depth,) = axes
    shape = product.shape
    *others, columns = [axis for axis in range(len(shape)) if axis != depth]
    left, right = zip(product.src, uses, strict=True)
    if _is_spread_over(right[0], columns):
        left, right = right, left
    if not others or not _is_spread_over(left[0], columns):
        return None
    # A batch of single rows is a matrix if all of them are multiplied by the same matrix.
    longer = [axis for axis in others if shape[axis] != 1 and _is_spread_over(right[0], axis)]
    rows = others[-1] if shape[others[-1]] != 1 else max(longer, default=others[-1])
    if depth < rows:
        # As in the gradient of a weight, both operands are read along contiguous axes already.
        return None
    is_shared_row = shape[rows] == 1 and right[1] > 1
    if not (_is_spread_over(right[0], rows) or is_shared_row):
        return None
    return _Matrices(left[0], right[0], rows, columns, depth, left[1], right[1])


def _row_tile(length: Dim, target: Target) -> int:
    """The number of rows in a panel. A symbolic length is seldom a multiple of it."""
    most = sums_in_registers(target) // target.costs.packing.panel_vectors
    return best_tile(length if isinstance(length, int) else greatest(length) - 1, most, target)


def _pack_matrices(
    matrices: _Matrices, target: Target, by_rows: bool, below: ProductsBelow
) -> dict[UOp, UOp]:
    """The packed operands of a matrix product, by the operands that they replace."""
    left, right, rows, columns, depth, *_ = matrices
    lanes, laid_out = best_layout(_describe(matrices, target, by_rows, below), target)
    packed = {}
    for operand, axis, number in ((left, Axis.ROWS, rows), (right, Axis.COLUMNS, columns)):
        if axis in laid_out and lanes is Axis.DEPTH:
            along = UOp(Op.CONTIGUOUS, operand.dtype, (_without_keeping(_matrix(operand)),), PANELS)
            packed[operand] = expand(along, operand.shape)
        elif axis in laid_out:
            count = target.vector_bytes // operand.dtype.itemsize
            shape = upper_shape(operand.shape)
            others = shape[rows if axis is Axis.COLUMNS else columns]
            lengths = shape[number], count, shape[depth], others
            width = count * vectors_per_panel(*lengths, target)
            packed[operand] = _packed(operand, number, (depth,), width)
    if right in packed and lanes is Axis.COLUMNS and _pays_for_rows(left, rows, depth, target):
        width = _row_tile(left.shape[rows], target)
        packed[left] = _packed(left, rows, (depth,), width)
    return packed


def _describe(
    matrices: _Matrices, target: Target, by_rows: bool, below: ProductsBelow
) -> Product:
    left, right, rows, columns, depth, *uses = matrices
    itemsize = left.dtype.itemsize
    least = target.costs.packing.kept_bytes
    axes = {rows: Axis.ROWS, columns: Axis.COLUMNS, depth: Axis.DEPTH}
    has_few = are_few(greatest(right.shape[columns]), itemsize, target)

    def describe(operand: UOp, own: int, uses: int) -> Operand:
        source = operand
        while source.op in MOVEMENT:
            source = source.operand
        elements, shape = upper_count(_matrix(operand).shape), upper_shape(operand.shape)
        # The weights of a layer are the right operand, and a single matrix.
        is_one = elements == shape[own] * shape[depth]
        is_weight = source.op is Op.PARAM or is_kept_once(source)
        is_kept = operand is right and is_one and is_weight
        return Operand(
            axis=axes[own],
            length=shape[own],
            elements=elements,
            reads=_repetitions(operand),
            uses=uses,
            along=axes.get(innermost_axis(operand)),
            is_computed=source.op not in (Op.PARAM, Op.CONTIGUOUS),
            may_be_kept=is_kept and elements * itemsize >= least,
            stays=not has_few and below.has_any(operand),
        )

    lengths = upper_shape(left.shape)
    batch = math.prod(lengths) // math.prod([lengths[axis] for axis in axes])
    operands = describe(left, rows, uses[0]), describe(right, columns, uses[1])
    return Product(*operands, lengths[depth], batch, itemsize, by_rows)


def _pack_words(node: UOp, matrices: _Matrices, target: Target) -> UOp | None:
    """The sum of a matrix product in words; None if the target has no instruction for it.

    The right operand is packed, and the left one too, unless its words are in memory already.
    """
    left, right, rows, columns, depth, *_ = matrices
    grouping = find_grouping(_matrix(left), _matrix(right), node.dtype, target)
    lanes = target.vector_bytes // WORD.itemsize
    least = target.costs.packing.least_rows
    is_short = greatest(right.shape[columns]) < lanes
    if grouping is None or is_short or not isinstance(right.shape[depth], int):
        return None
    if _repetitions(right) < least:
        return None
    first, second = grouping.words(depth)
    if not _has_words(grouping.first, depth) or _pays_for_rows(left, rows, depth, target):
        first = make_panels(first, rows, (depth,), _row_tile(left.shape[rows], target))
    sides = greatest(right.shape[columns]), greatest(left.shape[rows])
    lengths = sides[0], lanes, second.shape[depth], sides[1]
    vectors = vectors_per_panel(*lengths, target, grouping.dot.spare)
    second = make_panels(second, columns, (depth,), vectors * lanes)
    return _grouped_sum(node, grouping, (first, second), depth)


def _has_words(value: UOp, depth: int) -> bool:
    """Whether whole words along axis `depth` are in memory."""
    source = value
    while source.op in (Op.RESHAPE, Op.PERMUTE, Op.EXPAND):
        source = source.operand
    fills = value.shape[depth] * value.dtype.itemsize % WORD.itemsize == 0
    return fills and source.op in (Op.PARAM, Op.CONTIGUOUS) and innermost_axis(value) == depth


def _grouped_sum(node: UOp, grouping: Grouping, words: tuple[UOp, UOp], depth: int) -> UOp:
    """The sum of the product of operands in words, corrected and in the dtype of `node`."""
    shape = node.operand.shape
    spread = (*shape[:depth], words[0].shape[depth], *shape[depth + 1 :])
    left, right = [expand(each, spread) for each in words]
    total = grouping.total(left, right, depth)
    correction = grouping.correction(*words, depth)
    if correction is not None:
        correction = expand(correction, node.shape)
        total = UOp(Op.ADD, total.dtype, (total, correction))
    return total if total.dtype is node.dtype else UOp(Op.CAST, node.dtype, (total,))


def _pack_features(node: UOp, target: Target, below: ProductsBelow) -> dict[UOp, UOp]:
    """The packed filters of a product such as a convolution, if their features fill vectors better.

    Filters are an operand that does not vary along the innermost axis of the results. The kernel
    then has features in lanes, and transposes its results in registers.
    """
    (product,) = node.src
    shape = upper_shape(product.shape)
    _, axes = node.arg
    kept = [axis for axis in range(len(shape)) if axis not in axes and shape[axis] != 1]
    if len(kept) < 2:
        return {}
    place = kept[-1]
    windows, filters = product.src
    if _is_spread_over(windows, place):
        windows, filters = filters, windows
    features = [a for a in kept if _is_spread_over(windows, a) and not _is_spread_over(filters, a)]
    if not features or not _is_spread_over(filters, place) or below.has_any(filters):
        return {}
    feature = max(features, key=lambda axis: shape[axis])
    lanes = target.vector_bytes // product.dtype.itemsize
    costs = target.costs.packing
    before = lane_use(_results_side_by_side(shape, axes, feature), lanes, target)
    summed = math.prod(shape[axis] for axis in axes)
    crowd = sums_in_registers(target) * summed
    if before < 1 and crowd * product.dtype.itemsize > target.l1_bytes:
        before -= costs.crowded_share
    vectors = -(-shape[feature] // lanes)
    after = shape[feature] / (vectors * lanes)  # panels are padded, so their loads need no gates
    after *= summed / (summed + costs.transposed_vector)
    saved = _repetitions(filters) * (1 / before - 1 / after) / lanes
    if after < max(before + costs.least_gain, costs.least_use) or saved < costs.packed:
        return {}
    width = lanes if vectors % costs.panel_vectors else costs.panel_vectors * lanes
    return {filters: _packed(filters, feature, axes, width)}


def _results_side_by_side(shape: Shape, summed: tuple[int, ...], feature: int) -> int:
    """The number of contiguous results that a product also reads contiguously."""
    count: int = 1
    for axis in range(len(shape) - 1, feature, -1):
        if axis in summed and count > 1:
            break
        count *= 1 if axis in summed else shape[axis]
    return count


def _repetitions(operand: UOp) -> int:
    """How often a product reads each element of an operand."""
    sizes = zip(upper_shape(operand.shape), _matrix(operand).shape, strict=True)
    return math.prod(size for size, own in sizes if own == 1)


def _matrix(operand: UOp) -> UOp:
    """The operand before it was expanded for the product."""
    return operand.operand if operand.op is Op.EXPAND else operand


def _pays_for_rows(operand: UOp, rows: int, depth: int, target: Target) -> bool:
    """Whether to pack rows, because those of a tile evict each other from the first-level cache.

    They must also be read often enough to pay for it.
    """
    costs = target.costs.packing
    stride = operand.shape[depth] * operand.dtype.itemsize
    return (
        isinstance(stride, int)
        and greatest(operand.shape[rows]) >= costs.least_rows
        and stride % target.costs.memory.few_sets_bytes == 0
        and _repetitions(operand) >= costs.many_columns
    )


def _is_spread_over(operand: UOp, axis: int) -> bool:
    """Whether an operand is expanded along `axis`, which is longer than 1."""
    return operand.op is Op.EXPAND and operand.operand.shape[axis] == 1 and operand.shape[axis] != 1


def _without_keeping(value: UOp) -> UOp:
    """A moved value without its `CONTIGUOUS`, since panels of it are kept instead.

    before   PERMUTE(CONTIGUOUS panels (w * scale))         after   PERMUTE(w * scale)
    """
    path = []
    below = value
    while below.op in MOVEMENT:
        path.append(below)
        below = below.operand
    if not is_kept_once(below):
        return value
    below = below.operand
    for node in reversed(path):
        below = node.with_sources((below, *node.src[1:]))
    return below


def _packed(operand: UOp, axis: int, depth: tuple[int, ...], width: int) -> UOp:
    """An expanded operand, read from panels along `axis`."""
    panels = make_panels(_without_keeping(_matrix(operand)), axis, depth, width)
    return expand(panels, operand.shape)
