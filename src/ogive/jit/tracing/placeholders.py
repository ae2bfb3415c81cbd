"""Tensors without values: the arguments of a function that is being traced, and donated ones."""

from __future__ import annotations

from ogive.compiler.engine.writes.missing_values import flat_without_memory
from ogive.compiler.ir.memory import shaped
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live import registry
from ogive.tensor.core import wrap
from ogive.tensor.tensor import Tensor

__all__ = ["flat_without_memory", "tensor_on"]  # transforms reach the engine through these


def tensor_on(flat: UOp, shape: Shape, device: str) -> Tensor:
    """A tensor of `shape` on flat memory."""
    with registry.graph_lock:
        node = shaped(flat, shape)
        registry.connect(node)
        return wrap(node, device)
