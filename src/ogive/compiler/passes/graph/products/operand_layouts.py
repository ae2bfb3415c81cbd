"""The choice of memory layouts for the operands of a matrix product, by an estimate for each.

One of the three axes of a product is in lanes:

    columns   an element of the left operand, broadcast to a vector, times a vector of the right one
    rows      the reverse; results are transposed on their way to memory
    depth     a vector times a vector, and a lane reduction at the end

The elements of a vector must be contiguous. If they are not, the operand is packed, which costs
more per product the fewer products an element takes part in. If they are, the operand may be read
in place, a little slower than from panels, once for each tile of the result.

The choice depends on lengths, dtype and the costs of the target only.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from ogive.compiler.targets.estimates import multiply_cost, sums_in_registers, whole_vectors
from ogive.compiler.targets.target import Target
from ogive.named import NamedTuple, record


class Axis(Enum):
    """The axes of a matrix product."""

    ROWS = "rows"
    COLUMNS = "columns"
    DEPTH = "depth"


@record(frozen=True)
class Operand:
    """An operand of a product.

    `axis` is its own axis beside the depth, of that `length`. A product reads each of its
    `elements` `reads` times, and `uses` products read it. `along` is the axis of the product along
    which it is contiguous, if any. An operand that `is_computed` is written to memory in any case.
    One that `may_be_kept`, such as weights, is packed once for many runs. One that `stays` is
    computed where it is read, element by element.
    """

    axis: Axis
    length: int
    elements: int
    reads: int
    along: Axis | None
    is_computed: bool
    may_be_kept: bool
    stays: bool
    uses: int = 1


@record(frozen=True)
class Product:
    """A `batch` of products of two matrices.

    `by_rows` says that results are staged row by row, which needs the columns in lanes.
    """

    left: Operand
    right: Operand
    depth: int
    batch: int
    itemsize: int
    by_rows: bool = False


class Layout(NamedTuple):
    """The axis in lanes, and the operands to pack for it, by their own axes."""

    lanes: Axis
    laid_out: frozenset[Axis]


def best_layout(product: Product, target: Target) -> Layout:
    """The layout with the least estimated time."""
    operands = (product.left, product.right)
    fixed = {axis for each in operands if each.stays for axis in (each.axis, Axis.DEPTH)}
    if product.by_rows:
        fixed |= {Axis.ROWS, Axis.DEPTH}
    possible = [layout for layout in _layouts(product) if layout.lanes not in fixed]
    unpacked = Layout(Axis.COLUMNS, frozenset())
    return min(possible, key=lambda each: estimate(product, each, target), default=unpacked)


def _layouts(product: Product) -> Iterator[Layout]:
    """All layouts in which the elements of a vector are contiguous."""
    operands = (product.right, product.left)
    for operand in operands:
        if operand.along is operand.axis:
            yield Layout(operand.axis, frozenset())
        yield Layout(operand.axis, frozenset([operand.axis]))
    across = [operand.axis for operand in operands if operand.along is not Axis.DEPTH]
    yield Layout(Axis.DEPTH, frozenset(across))


def estimate(product: Product, layout: Layout, target: Target) -> float:
    """The estimated cycles of the products in a layout."""
    operations = target.costs.operations
    left, right, depth = product.left, product.right, product.depth
    lanes = target.vector_bytes // product.itemsize
    results = left.length * right.length
    if layout.lanes is Axis.DEPTH:
        each = results * (whole_vectors(depth, lanes, target) + operations.lane_reduction)
    else:
        along, other = (left, right) if layout.lanes is Axis.ROWS else (right, left)
        if along.axis in layout.laid_out:
            panel = vectors_per_panel(along.length, lanes, depth, other.length, target)
            vectors: float = -(-along.length // (panel * lanes)) * panel
        else:
            vectors = whole_vectors(along.length, lanes, target)
        each = other.length * depth * vectors
        if along is left:
            each += results * operations.transposed_store
    reading = [
        operand.elements * _reading(operand, product, layout, target) for operand in (left, right)
    ]
    return product.batch * each + sum(reading)


def vectors_per_panel(
    length: int, lanes: int, depth: int, rows: int, target: Target, spare: int = 1
) -> int:
    """The width of panels in vectors.

    The last panel, and the last register tile of `rows`, should have little empty. If the depth is
    short there is one panel of all columns, and the tile's width is chosen for its stores instead.
    """
    costs = target.costs.packing
    vectors = -(-length // lanes)
    if depth <= costs.near_rows:
        return vectors
    usual = min(vectors, costs.panel_vectors)
    if vectors % 3:
        return usual
    usual_cost = multiply_cost((rows,), usual, target, spare)
    is_better = multiply_cost((rows,), 3, target, spare) < usual_cost
    return 3 if vectors % usual or is_better else usual


def _reading(operand: Operand, product: Product, layout: Layout, target: Target) -> float:
    """The cycles to copy and read an element of an operand, without the multiply-adds."""
    costs = target.costs.packing
    is_far = operand.elements * product.itemsize > target.l3_bytes * 3 // 4
    copied = costs.far_copied if is_far else costs.copied
    if operand.axis in layout.laid_out:
        cost = copied if operand.along is layout.lanes else max(copied, costs.transposed)
        cost /= operand.uses  # all these products read the same panels
        return costs.kept_share * cost if operand.may_be_kept else cost
    cost = copied if operand.is_computed else 0.0
    passes = _passes(operand, product, layout, target)
    if is_far and passes:
        return cost + costs.far_apart + (passes - 1) * costs.far_again
    return cost + passes * _step(operand, product, layout, target)


def _passes(operand: Operand, product: Product, layout: Layout, target: Target) -> int:
    """How often an operand is read from beyond the first-level cache."""
    costs = target.costs.packing
    if layout.lanes is Axis.DEPTH:
        # A few rows stay in the first-level cache while all columns are read.
        return -(-operand.reads // costs.rows_of_sums) if operand.axis is Axis.COLUMNS else 0
    if operand.along is Axis.DEPTH or product.depth <= costs.near_rows:
        return 0
    tile = sums_in_registers(target) // costs.panel_vectors
    if layout.lanes is not operand.axis:
        tile = costs.panel_vectors * target.vector_bytes // product.itemsize
    return -(-operand.reads // tile)


def _step(operand: Operand, product: Product, layout: Layout, target: Target) -> float:
    """The cycles to read an element of an operand in each pass."""
    costs = target.costs.packing
    if layout.lanes is Axis.DEPTH:
        matrix = operand.length * product.depth * product.itemsize
        return costs.close if matrix <= target.l2_bytes // 2 else costs.apart
    is_narrow = operand.length * product.itemsize <= costs.narrow_bytes
    return costs.close if is_narrow else costs.apart
