"""Matrix products of any rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import promote
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live import history
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentTypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import lowered
from ogive.tensor.core import Core, reflected, same_device, to_operand, wrap
from ogive.tensor.elementwise.binary_operations import field_dtype
from ogive.tensor.lengths import difference
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@outlined
@lowered
def matmul(self: Tensor, other: Any) -> Tensor:
    """The matrix product over the last axis of this tensor and the last but one of `other`.

    Shapes: (..., m, k) @ (..., k, n) → (..., m, n), where the axes in front broadcast. A vector
    (k,) counts as one row on the left or one column on the right, which the result lacks.
    float16 and bfloat16 are multiplied and added up in float32; integers wrap.

    >>> (Tensor([[1, 2], [3, 4]]) @ Tensor([1, 10])).tolist()
    [21, 43]

    Raises `ShapeError` when the axes to sum over differ, or for a scalar.
    """
    return _matmul(self, other)


@lowered
def reflected_matmul(self: Tensor, other: Any) -> Tensor:
    """`other @ self`, where `other` is not a tensor."""
    return _matmul(other, self)


def _matmul(left: Any, right: Any) -> Tensor:
    try:
        first, second = to_operand(left, "matmul"), to_operand(right, "matmul")
    except ArgumentTypeError as error:
        return reflected(error, "matmul", left, right)  # type: ignore[no-any-return]
    if not isinstance(first, Core) or not isinstance(second, Core):
        number = second if isinstance(first, Core) else first
        raise ArgumentTypeError(f"matmul takes tensors, not the number {number}; use *")
    device = same_device([first, second], "matmul")
    with graph_lock:
        return wrap(_multiply(first.node, second.node), device)


def product_where(kept: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """`left @ right`, with only the terms for which `kept` (..., m, k) holds.

    The other terms need not be computed. They are left out, not multiplied by 0, which would make
    NaN of infinities.
    """
    with graph_lock:
        return wrap(_product_where(kept.node, left.node, right.node), left.device)


def product_at(kept: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """`left @ right` where `kept` (..., m, n) holds, and zero elsewhere."""
    with graph_lock:
        return wrap(_product_at(kept.node, left.node, right.node), left.device)


def _product_where(kept: UOp, left: UOp, right: UOp) -> UOp:
    chosen = _multiply(left, right, kept)
    return _with_rule(chosen, left, right, kept, _Where())


def _product_at(kept: UOp, left: UOp, right: UOp) -> UOp:
    plain = _multiply(left, right)
    condition = build.expand_to(kept, plain.shape)
    chosen = make(Op.WHERE, plain.dtype, (condition, plain, build.constant(plain.dtype, 0)))
    return _with_rule(chosen, left, right, kept, _At())


def _with_rule(value: UOp, left: UOp, right: UOp, kept: UOp, rule: _Where | _At) -> UOp:
    """A product whose gradients are again `product_where` and `product_at`, if both operands have
    the same batch axes: terms left out in the product are left out in its gradients too."""
    if not history.is_tracking() or left.shape[:-2] != right.shape[:-2]:
        return value
    return make(Op.GRADIENT, value.dtype, (value, left, right, kept), rule)


class _Where:
    """The rule for the gradients of `product_where`."""

    __slots__ = ()

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        """The gradients of left, right and the condition."""
        _, left, right, kept = node.src
        below = _product_at(kept, upstream, _turned(right))
        return [below, _product_where(_turned(kept), _turned(left), upstream), None]


class _At:
    """The rule for the gradients of `product_at`."""

    __slots__ = ()

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        """The gradients of left, right and the condition."""
        _, left, right, kept = node.src
        below = _product_where(kept, upstream, _turned(right))
        return [below, _turned(_product_where(_turned(kept), _turned(upstream), left)), None]


def _turned(matrix: UOp) -> UOp:
    order = tuple(range(len(matrix.shape)))
    return build.permute(matrix, (*order[:-2], order[-1], order[-2]))


def _multiply(left: UOp, right: UOp, kept: UOp | None = None) -> UOp:
    """Both operands as (..., m, n, k), multiplied, and summed over k where `kept` holds."""
    dtype = field_dtype(promote(left.dtype, right.dtype), "matmul")
    compute = dtypes.float32 if dtype in build.WIDENED else dtype
    rows, columns = left.shape, right.shape
    _check(rows, columns)
    row_count = rows[-2:-1] or (1,)
    column_count = columns[-1:] if len(columns) > 1 else (1,)
    batch = _batch(rows, columns)
    left = build.cast(left, compute)
    right = build.cast(right, compute)
    if len(columns) > 1:
        right = _turned(right)
    depth = rows[-1]
    full = (*batch, *row_count, *column_count, depth)
    left = build.expand_to(build.reshape(left, (*rows[:-2], *row_count, 1, depth)), full)
    right = build.expand_to(build.reshape(right, (*columns[:-2], 1, *column_count, depth)), full)
    if kept is not None:
        kept = build.reshape(kept, (*kept.shape[:-1], 1, depth))
        kept = build.expand_to(kept, full)
    total = multiply_and_sum(left, right, (len(full) - 1,), kept)
    result = (*batch, *rows[-2:-1], *(columns[-1:] if len(columns) > 1 else ()))
    return build.cast(build.reshape(total, result), dtype)


def multiply_and_sum(left: UOp, right: UOp, axes: tuple[int, ...], kept: UOp | None = None) -> UOp:
    """The product of two nodes of one shape and dtype, summed over `axes` where `kept` holds. The
    axes stay with length 1."""
    dtype = left.dtype
    product = make(Op.AND if dtype.is_bool else Op.MUL, dtype, (left, right))
    if kept is not None:
        product = make(Op.WHERE, dtype, (kept, product, build.constant(dtype, 0)))
    return build.reduce(product, Op.OR if dtype.is_bool else Op.ADD, axes)


def _check(rows: Shape, columns: Shape) -> None:
    if not rows or not columns:
        raise ShapeError(
            f"matmul: shapes {build.show(rows)} and {build.show(columns)}: both operands need an "
            "axis to sum over; use * for a scalar"
        )
    axis = -2 if len(columns) > 1 else -1
    if rows[-1] != columns[axis]:
        raise ShapeError(
            f"matmul: shapes {build.show(rows)} and {build.show(columns)} do not fit: axis -1 of "
            f"the first has length {rows[-1]} and axis {axis} of the second {columns[axis]}"
            f"{difference((rows[-1],), (columns[axis],))}"
        )


def _batch(rows: Shape, columns: Shape) -> Shape:
    try:
        return build.broadcast_shapes(rows[:-2], columns[:-2], "matmul")
    except ShapeError:
        raise ShapeError(
            f"matmul: the axes before the last two of {build.show(rows)} and "
            f"{build.show(columns)} do not broadcast{difference(rows[:-2], columns[:-2])}"
        ) from None
