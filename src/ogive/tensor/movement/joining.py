"""Choosing between tensors and joining them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from ogive.compat.methods.keywords import also
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import result_type
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Dim, Shape, as_length
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentError, ArgumentTypeError, DtypeError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import (
    Core,
    bring_together,
    kind_of,
    same_device,
    to_axis,
    to_operand,
    wrap,
)
from ogive.tensor.elementwise.binary_operations import common_dtype, to_node
from ogive.tensor.lengths import difference
from ogive.tensor.method_functions import open_to_eager

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


GROUP = 16
"""The most parts that one kernel joins: its time grows with the square of their number."""


@overload
def where(condition: Any) -> tuple[Tensor, ...]: ...


@overload
def where(condition: Any, if_true: Any, if_false: Any) -> Tensor: ...


@open_to_eager
@also(input="if_true", other="if_false")
def where(condition: Any, if_true: Any = None, if_false: Any = None) -> Any:
    """`if_true` where `condition` holds, `if_false` elsewhere.

    Shapes: all three broadcast. The dtype is the common one of the two values. Without values, the
    positions where it holds, a tensor per axis: `condition.nonzero(as_tuple=True)`.

    >>> where(Tensor([True, False]), 1, Tensor([5, 6])).tolist()
    [1, 6]

    Raises `DtypeError` unless `condition` is bool.
    """
    if if_true is None and if_false is None and isinstance(condition, Core):
        return condition.nonzero(as_tuple=True)  # type: ignore[attr-defined]  # a Tensor
    test = to_operand(condition, "where")
    values = (to_operand(if_true, "where"), to_operand(if_false, "where"))
    if not isinstance(test, Core):
        raise ArgumentTypeError(f"where: the condition must be a tensor, got {condition!r}")
    if not test.dtype.is_bool:
        raise DtypeError(
            f"where: the condition must be bool, not {test.dtype.name}; compare it with something"
        )
    device, (test, *chosen_from) = bring_together((test, *values), "where")
    values = (chosen_from[0], chosen_from[1])
    with graph_lock:
        dtype = common_dtype(values)
        chosen = [
            to_node(value, dtype) if isinstance(value, Core) else build.fitting(dtype, value)
            for value in values
        ]
        nodes = build.broadcast([test.node, *chosen], "where")
        return wrap(make(Op.WHERE, dtype, nodes), device)


@open_to_eager
@also(axis="dim")
def cat(tensors: Sequence[Core], dim: int = 0) -> Tensor:
    """Join tensors along an axis they have.

    Shapes: (a, c) and (b, c) → (a + b, c) for `dim` 0; all other axes must be equal.

    >>> cat([Tensor([1, 2]), Tensor([3])]).tolist()
    [1, 2, 3]

    Raises `ShapeError` when another axis differs, `ArgumentError` when there is nothing to join.
    """
    parts = to_tensors(tensors, "cat")
    device = same_device(parts, "cat")
    with graph_lock:
        dtype = result_type([(part.node.dtype, part.ndim) for part in parts])
        # A tensor of shape (0,) joins with any shape, as in PyTorch.
        parts = [part for part in parts if part.node.shape != (0,)] or parts[:1]
        shapes = [part.node.shape for part in parts]
        axis = to_axis(dim, len(shapes[0]), "cat")
        _check_alike(shapes, axis)
        nodes = [build.cast(part.node, dtype) for part in parts]
        return wrap(join(nodes, axis), device)


@open_to_eager
@also(axis="dim")
def stack(tensors: Sequence[Core], dim: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis, which will be axis `dim` of the result.

    Shapes: n times (a, b) → (n, a, b) for `dim` 0.

    >>> stack([Tensor([1, 2]), Tensor([3, 4])]).shape
    (2, 2)
    """
    parts = to_tensors(tensors, "stack")
    axis = to_axis(dim, parts[0].ndim + 1, "stack")
    for number, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise ShapeError(
                f"stack: tensor {number} has the shape {build.show(part.shape)} and tensor 0 "
                f"{build.show(parts[0].shape)}; they must be equal"
                f"{difference(part.shape, parts[0].shape)}"
            )
    return cat([part.unsqueeze(axis) for part in parts], axis)


def to_tensors(given: Any, name: str) -> list[Tensor]:
    """Check that a list holds only tensors, at least one."""
    if not isinstance(given, tuple | list):
        raise ArgumentTypeError(f"{name} takes a list of tensors, got {type(given).__name__}")
    if not given:
        raise ArgumentError(f"{name} needs at least one tensor")
    for entry in given:
        if not isinstance(entry, Core):
            raise ArgumentTypeError(f"{name} takes tensors, got {kind_of(entry)}")
    return list(given)


def _check_alike(shapes: list[Shape], axis: int) -> None:
    first = shapes[0]
    for number, shape in enumerate(shapes):
        if len(shape) != len(first):
            raise ShapeError(
                f"cat: tensor {number} has the shape {build.show(shape)} and tensor 0 "
                f"{build.show(first)}; they must have as many axes"
            )
        for other, (size, expected) in enumerate(zip(shape, first, strict=True)):
            if other != axis and size != expected:
                raise ShapeError(
                    f"cat along axis {axis}: tensor {number} has the shape {build.show(shape)} and "
                    f"tensor 0 {build.show(first)}, which differ on axis {other}"
                    f"{difference((size,), (expected,))}"
                )


def join(nodes: list[UOp], axis: int) -> UOp:
    """Join parts: each is padded to its place, and a tree of comparisons selects by position.

    a ++ b   →   WHERE(position < len(a), PAD(a), PAD(b))

    Many parts are joined in groups first, which are materialized.
    """
    filled = [node for node in nodes if node.shape[axis] != 0] or nodes[:1]
    if len(filled) == 1:
        return filled[0]
    if len(filled) > GROUP:
        groups = [join(filled[at : at + GROUP], axis) for at in range(0, len(filled), GROUP)]
        return join([make(Op.CONTIGUOUS, part.dtype, (part,), ()) for part in groups], axis)
    starts: list[Dim] = []
    total: Dim = 0
    for node in filled:
        starts.append(total)
        total = as_length(total + node.shape[axis])
    rest = filled[0].shape
    shape = (*rest[:axis], total, *rest[axis + 1 :])
    padded = []
    for node, start in zip(filled, starts, strict=True):
        pads: list[tuple[Dim, Dim]] = [(0, 0)] * len(shape)
        pads[axis] = (start, as_length(total - start - node.shape[axis]))
        padded.append(build.pad(node, tuple(pads)))
    line = tuple([total if other == axis else 1 for other in range(len(shape))])
    position = build.reshape(build.count(total), line)

    def choose(first: int, end: int) -> UOp:
        if end - first == 1:
            return padded[first]
        middle = (first + end) // 2
        bound = build.index_value(starts[middle])
        if bound.op not in build.SCALARS:
            bound = build.expand_to(bound, line)
        before = build.expand(make(Op.CMPLT, dtypes.bool_, (position, bound)), shape)
        return make(Op.WHERE, padded[0].dtype, (before, choose(first, middle), choose(middle, end)))

    return choose(0, len(padded))
