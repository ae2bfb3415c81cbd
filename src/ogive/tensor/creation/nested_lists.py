"""Nested lists of numbers and tensors of one element: `Tensor([a, 1, b])`."""

from __future__ import annotations

from typing import Any

from ogive.errors import ArgumentError, ShapeError
from ogive.ir.dtype import DType, promote, to_dtype
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live.registry import make
from ogive.tensor import build
from ogive.tensor.core import Core, to_operand
from ogive.tensor.movement.joining import join

_MOST_AXES = 64


def holds_tensors(data: list[Any] | tuple[Any, ...]) -> bool:
    """Whether there is a tensor anywhere in nested lists."""
    lists = [data]
    for _ in range(_MOST_AXES):
        kinds = {kind for entry in lists for kind in set(map(type, entry))}
        if any(issubclass(kind, Core) for kind in kinds):
            return True
        if not any(issubclass(kind, list | tuple) for kind in kinds):
            return False
        lists = [inner for entry in lists for inner in entry if isinstance(inner, list | tuple)]
    return False


def join_nested(data: list[Any] | tuple[Any, ...], dtype: DType | None) -> UOp:
    """Return the node of nested lists of numbers and tensors of one element, which are detached.

    [[a, 1], [b, c]]   →   RESHAPE(a ++ 1 ++ b ++ c, (2, 2))

    Without `dtype`, the dtypes of the entries are promoted; Python's numbers count as float32,
    int64, bool and complex64. Raises `ShapeError` for ragged lists and for tensors of several
    elements.
    """
    shape, leaves = _flatten(data)
    operands = [to_operand(leaf, "a tensor") for leaf in leaves]
    kinds = [leaf.dtype if isinstance(leaf, Core) else to_dtype(type(leaf)) for leaf in operands]
    chosen = dtype or kinds[0]
    for kind in kinds if dtype is None else ():
        chosen = promote(chosen, kind)
    parts = [_element(leaf, chosen) for leaf in operands]
    return build.reshape(join(parts, 0), shape)


def _flatten(data: Any) -> tuple[tuple[int, ...], list[Any]]:
    """Return the shape of nested lists, and their entries in row-major order."""
    shape: list[int] = []
    level = [data]
    while any(isinstance(entry, list | tuple) for entry in level):
        if len(shape) == _MOST_AXES:
            raise ArgumentError(
                f"lists are nested more than {_MOST_AXES} deep, or contain themselves"
            )
        lengths = {len(entry) if isinstance(entry, list | tuple) else -1 for entry in level}
        if len(lengths) > 1:
            raise ShapeError(
                f"ragged list: at depth {len(shape)} the entries have different lengths, or only "
                "some of them are lists"
            )
        shape.append(*lengths)
        level = [inner for entry in level for inner in entry]
    return tuple(shape), level


def _element(leaf: Any, dtype: DType) -> UOp:
    """Return the node of one entry. Shapes: (1,)."""
    if not isinstance(leaf, Core):
        if dtype.is_integer and isinstance(leaf, float):
            return build.cast(build.filled(to_dtype(float), leaf, (1,)), dtype)
        return build.expand_to(build.fitting(dtype, leaf), (1,))
    if leaf.numel() != 1:
        raise ShapeError(
            f"a list holds a tensor of shape {build.show(leaf.shape)}; only tensors of one element "
            "become numbers; join others with ogive.stack or ogive.cat"
        )
    node = make(Op.DETACH, leaf.node.dtype, (leaf.node,))
    return build.cast(build.reshape(node, (1,)), dtype)
