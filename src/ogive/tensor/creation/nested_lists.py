"""Nested lists with tensors of one element among their numbers."""

from __future__ import annotations

from typing import Any

from ogive.compiler.ir.dtype import DType, promote, to_dtype
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live.registry import make
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, to_operand
from ogive.tensor.movement.joining import join

_MOST_AXES = 64


def holds_tensors(data: list[Any] | tuple[Any, ...]) -> bool:
    """Whether nested lists contain a tensor."""
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
    """The node of nested lists of numbers and tensors of one element, without gradients.

    [[a, 1], [b, c]]   →   RESHAPE(a ++ 1 ++ b ++ c, (2, 2))

    Python's numbers count as float32, int64, bool and complex64 in the common dtype. Raises
    `ShapeError` for ragged lists and tensors of several elements.
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
    """The shape of nested lists, and their entries."""
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
                f"ragged list: at depth {len(shape)} its entries have different lengths, or only "
                "some are lists"
            )
        shape.append(*lengths)
        level = [inner for entry in level for inner in entry]
    return tuple(shape), level


def _element(leaf: Any, dtype: DType) -> UOp:
    """The node of one element, of shape (1,)."""
    if not isinstance(leaf, Core):
        if dtype.is_integer and isinstance(leaf, float):
            return build.cast(build.filled(to_dtype(float), leaf, (1,)), dtype)
        return build.expand_to(build.fitting(dtype, leaf), (1,))
    if leaf.numel() != 1:
        raise ShapeError(
            f"a list holds a tensor of shape {build.show(leaf.shape)}; those of one element become "
            "numbers, others are joined with ogive.stack or ogive.cat"
        )
    node = make(Op.DETACH, leaf.node.dtype, (leaf.node,))
    return build.cast(build.reshape(node, (1,)), dtype)
