"""Assignment makes a new version of a tensor. Tensors computed before keep the old values.

    x.assign(v)   x = BUFFER   →   x = AFTER(BUFFER, ASSIGN(BUFFER, v))

A tensor that is not a buffer of Ogive's own simply gets the new node. Borrowed memory is never
written to. Tensors that show the same storage change together (`views.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.errors import ShapeError
from ogive.ir.dtype import DType, Scalar
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import Shape
from ogive.live import history
from ogive.live.registry import graph_lock, make
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
    """Write `value` to this tensor. It is broadcast to its shape and cast to its dtype.

    Shapes: unchanged. Returns the tensor itself. Tensors that show the same memory (views of this
    tensor, its `detach()`, the tensor that it is a view of) show the new values. Tensors that were
    computed from this one before keep their values.

    >>> x = Tensor([1, 2, 3])
    >>> before = x * 10
    >>> x.assign(x + 1).tolist(), before.tolist()
    ([2, 3, 4], [10, 20, 30])

    Raises `ShapeError` if `value` does not broadcast, or if this tensor shows an element more than
    once (`expand`), and `GradientError` for a tensor that requires gradients outside of
    `no_grad()`. Nothing changes then.
    """
    is_eager_to_lazy = isinstance(value, Core) and value.is_eager and not self.is_eager
    if is_eager_to_lazy and eager_calls[assign](self, value):
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
    """Return `value` cast and broadcast to the dtype and shape of the tensor that is assigned to.

    Leading axes of length 1 are dropped. Raises `ShapeError` if it does not broadcast.
    """
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
