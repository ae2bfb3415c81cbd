"""Assignment makes a new version of a tensor. Values computed from the old one do not change.

    x.assign(v)   x = BUFFER   →   x = AFTER(BUFFER, ASSIGN(BUFFER, v))

A tensor that is not in our own memory just gets the new value. Borrowed memory is never written.
Tensors that show the same storage change together (`views.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.dtype import DType, Scalar
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live import history
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core, memory_device, to_operand
from ogive.tensor.elementwise.binary_operations import to_node
from ogive.tensor.lengths import difference
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.memory.shared_arrays import settle
from ogive.tensor.memory.views import write
from ogive.tensor.method_functions import eager_calls

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def assign(self: Tensor, value: Any) -> Tensor:
    """Give this tensor other values; `value` broadcasts to its shape and is cast to its dtype.

    Shapes: unchanged. Returns the tensor itself. Tensors that share its memory (views of it,
    `detach()`, the tensor of which it is a view) have the new values. Tensors that were computed
    from it before keep their values.

    >>> x = Tensor([1, 2, 3])
    >>> before = x * 10
    >>> x.assign(x + 1).tolist(), before.tolist()
    ([2, 3, 4], [10, 20, 30])

    Raises `ShapeError` if `value` does not broadcast, or for a tensor that shows an element more
    than once (`expand`), and `GradientError` for one that requires gradients outside of
    `no_grad()`. Nothing changes then.
    """
    is_first = isinstance(value, Core) and value.is_eager and not self.is_eager
    if is_first and eager_calls[assign](self, value):
        return self
    operand = to_operand(value, "assign")
    if isinstance(operand, Core):
        operand = operand.to(memory_device(self))
    with graph_lock:
        old = self.node
        write(self, View(old.shape), fit(operand, old.dtype, old.shape))
    settle()
    return self


def fit(value: Core | Scalar, dtype: DType, shape: Shape) -> UOp:
    """`value` in the dtype and shape of the values that it replaces."""
    node = to_node(value, dtype)
    own = node.shape
    if len(own) > len(shape):
        own = own[len(own) - len(shape) :] if set(own[: len(own) - len(shape)]) == {1} else own
        node = build.reshape(node, own)
    fits = len(own) <= len(shape) and all(
        size in (1, wanted) for size, wanted in zip(reversed(own), reversed(shape), strict=False)
    )
    if not fits:
        raise ShapeError(
            f"assignment: shape {build.show(node.shape)} does not broadcast to {build.show(shape)}"
            f"{difference(node.shape, shape)}"
        )
    node = build.expand_to(node, shape)
    return make(Op.DETACH, dtype, (node,)) if history.needs_cut(node) else node
