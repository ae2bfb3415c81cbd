"""`backward`: gradients of one tensor, left in the leaves that it was computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ogive.autograd.formulas import ones_like
from ogive.autograd.gradient import gradient, total
from ogive.errors import GradientError
from ogive.ir import history
from ogive.ir.memory import upper_shape
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.registry import graph_lock, make
from ogive.ir.shape import Shape
from ogive.tensor import build
from ogive.tensor.core import hold

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def run_backward(root: Tensor, upstream: Tensor | None, create_graph: bool) -> None:
    """Add the gradient of `root` to every leaf under it. Raises `GradientError`."""
    with graph_lock:
        node = root.node
        if upstream is None and root.numel() != 1:
            raise GradientError(
                f"backward() of a tensor of shape {root.shape} needs a gradient of that shape; "
                "only one of a single element can do without, such as what sum() and mean() give"
            )
        seed = ones_like(node) if upstream is None else upstream.node
        found = gradient([(node, seed)], lambda each: history.leaf_of(each) is not None)
        leaves: dict[int, tuple[Tensor, list[UOp]]] = {}
        for version, value in found.items():
            leaf: Any = history.leaf_of(version)
            _, parts = leaves.setdefault(leaf.id, (leaf, []))
            parts.append(as_shape(value, leaf.shape))
        if not leaves and not history.leads_to_leaf(node):
            raise GradientError(
                f"backward() of a tensor of shape {root.shape} and dtype {root.dtype.name} reaches "
                "no tensor that requires gradients: it was computed from none, or behind detach(), "
                "no_grad() or ogive.jit"
            )
        for leaf, parts in leaves.values():
            _accumulate(leaf, total(parts), create_graph)


def as_shape(value: UOp, shape: Shape) -> UOp:
    """A gradient of memory as one of the value that lies in it."""
    if value.shape == shape:
        return value
    whole = build.reshape(value, upper_shape(shape))
    return build.shrink(whole, tuple([(0, size) for size in shape]))


def _accumulate(leaf: Tensor, value: UOp, create_graph: bool) -> None:
    if not create_graph:
        value = make(Op.DETACH, value.dtype, (value,), None, value.shape)
    made = hold(value, leaf.device)
    if leaf.grad is None:
        leaf.grad = made
    else:
        leaf.grad.assign(leaf.grad + made)
