"""Regions that are products: a sum over one axis of elements of two matrices, and its epilogue.

    for i, j: out[i, j] = gelu(sum over l of a[i, l] * b[l, j] + bias[j])

becomes the `Product` of `a` and `b`, with the work on its sums as a step of the epilogue. Axes of
the left factor alone are rows, axes of the right factor alone are columns, and the others are
batches. If there are several row or column axes that cannot be joined, all except the longest are
batches too.
"""

from __future__ import annotations

import math

from ogive.compiler.devices.cuda.tensor_cores.epilogue import MEMORY_TYPES
from ogive.compiler.devices.cuda.tensor_cores.product import Matrix, Product
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import ELEMENTWISE, Op
from ogive.compiler.ir.symbolic.index_arithmetic import linear_form
from ogive.compiler.passes.graph.products.tensor_core_products import NARROW
from ogive.named import NamedTuple

MOST_BATCH_AXES = 2
LONGEST = 1 << 28
"""The greatest length of an axis: positions along it are counted in 32 bits."""
_ALIGNMENT = 256
"""The alignment of buffers, in bytes."""

_NOT_ELEMENTWISE = frozenset({Op.DOT, Op.THREEFRY})


class Access(NamedTuple):
    """The place of a load or store: a slot, the first element, and strides along loop counters."""

    slot: int
    first: int
    strides: dict[UOp, int]

    @property
    def turns(self) -> bool:
        """Whether a stride is negative, which operands and results must not have."""
        return min(self.strides.values(), default=0) < 0

    def stride(self, counter: UOp | None) -> int:
        return 0 if counter is None else self.strides.get(counter, 0)


class RegionProduct(NamedTuple):
    """A region recognized as a product."""

    product: Product
    left: Access
    right: Access
    result: Access
    total: UOp  # the sum
    value: UOp  # the value stored, computed from it
    row: UOp
    column: UOp
    batch: tuple[UOp | None, UOp | None]


def find_product(loops: UOp) -> RegionProduct | None:
    """Recognize a product in a loop graph, or return None."""
    if len(loops.roots) != 1 or loops.roots[0].op is not Op.STORE:
        return None
    (store,) = loops.roots
    sums = [node for node in loops.walk() if node.op is Op.REDUCE]
    if store.combine is not None or len(sums) != 1 or not _is_sum_of_products(sums[0]):
        return None
    if store.value.dtype not in MEMORY_TYPES:
        return None
    (total,) = sums
    result = find_access(store.place)
    factors = [_factor(node) for node in (total.operand.left, total.operand.right)]
    if result is None or result.turns or None in factors or not _is_elementwise(store.value, total):
        return None
    axes = [*store.closed, *total.closed]
    if any(axis.extent.op is not Op.CONST or axis.extent.literal > LONGEST for axis in axes):
        return None
    left, right = [factor for factor in factors if factor is not None]
    for first, second in ((left, right), (right, left)):
        product = _arrange(store, total, first, second, result)
        if product is not None:
            return product
    return None


def _is_sum_of_products(total: UOp) -> bool:
    return total.combine is Op.ADD and len(total.closed) == 1 and total.operand.op is Op.MUL


def _factor(node: UOp) -> tuple[Access, UOp] | None:
    """The access and the load of a factor, if it is loaded from memory."""
    wide = node
    if node.op is Op.CAST:
        node = node.operand
    if node.op is not Op.LOAD or NARROW.get(node.dtype) is not wide.dtype:
        return None
    access = find_access(node.place)
    return None if access is None or access.turns else (access, node)


def find_access(place: UOp) -> Access | None:
    """The access of an INDEX, if it is linear in the counters."""
    if place.base.op is not Op.PARAM or place.gate is not None:
        return None
    terms, first = linear_form(place.offset)
    if any(term.op is not Op.RANGE for term in terms):
        return None
    return Access(place.base.slot, first, dict(terms))


def _is_elementwise(value: UOp, total: UOp) -> bool:
    """Whether a value is elementwise in the sum, constants, linear accesses and sums of positions
    (as in a mask)."""
    waiting, seen = [value], {total}
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.dtype is dtypes.index:
            if any(term.op is not Op.RANGE for term in linear_form(node)[0]):
                return False
        elif node.op is Op.LOAD:
            if find_access(node.place) is None:
                return False
        elif node.op in ELEMENTWISE and node.op not in _NOT_ELEMENTWISE:
            waiting.extend(node.src)
        elif node.op is not Op.CONST:
            return False
    return True


def _arrange(
    store: UOp, total: UOp, left: tuple[Access, UOp], right: tuple[Access, UOp], result: Access
) -> RegionProduct | None:
    """The product with one factor on the left, if the columns of its result are contiguous."""
    (k,) = total.closed
    a, b = left[0], right[0]
    rows = [axis for axis in store.closed if axis in a.strides and axis not in b.strides]
    columns = [axis for axis in store.closed if axis in b.strides and axis not in a.strides]
    if not rows or not columns or k not in a.strides or k not in b.strides:
        return None
    row, column = _longest(rows), _longest(columns)
    others = [axis for axis in store.closed if axis not in (row, column)]
    if len(others) > MOST_BATCH_AXES or result.stride(column) != 1:
        return None
    batch = (others[0] if others[1:] else None, others[-1] if others else None)
    dtype = left[1].dtype

    def matrix(access: Access, first: UOp, second: UOp, element: dtypes.DType) -> Matrix:
        return Matrix(
            element, access.stride(first), access.stride(second),
            (access.stride(batch[0]), access.stride(batch[1])),
            math.gcd(_ALIGNMENT, access.first * element.itemsize or _ALIGNMENT),
        )  # fmt: skip

    product = Product(
        _extent(row), _extent(column), _extent(k), matrix(a, row, k, dtype),
        matrix(b, k, column, dtype), matrix(result, row, column, store.value.dtype),
        (_extent(batch[0]), _extent(batch[1])),
    )  # fmt: skip
    if right[1].dtype is not dtype:
        return None
    return RegionProduct(product, a, b, result, total, store.value, row, column, batch)


def _longest(axes: list[UOp]) -> UOp:
    return max(axes, key=_extent)


def _extent(axis: UOp | None) -> int:
    return 1 if axis is None else int(axis.extent.literal)
