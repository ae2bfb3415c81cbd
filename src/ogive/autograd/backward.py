"""`backward`: adds the gradients of one tensor to the leaves from which it was computed."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.autograd.gradient import gradient, gradient_of, total
from ogive.autograd.gradient_calls import gradient_calls
from ogive.autograd.rules.formulas import as_value
from ogive.compiler.ir.device_names import is_group
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import GradientError
from ogive.tensor.core import hold

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class _Pass(threading.local):
    """The functions that this thread calls at the end of its backward pass."""

    def __init__(self) -> None:
        self.endings: list[Callable[[], None]] = []


_pass = _Pass()


def run_backward(root: Tensor, upstream: Tensor | None, create_graph: bool) -> None:
    """Add the gradient of `root` to every leaf under it. Raises `GradientError`."""
    try:
        leaves = _add_gradients(root, upstream, create_graph)
    finally:
        endings, _pass.endings = _pass.endings, []
    for leaf in leaves:
        if getattr(leaf, "hooks", None) is not None:
            leaf.hooks.call_afterwards(leaf)
    for function in endings:
        function()


def call_after_pass(function: Callable[[], None]) -> None:
    """Call `function` once all leaves of the pass have their gradients. For hooks of leaves."""
    if function not in _pass.endings:
        _pass.endings.append(function)


def _add_gradients(root: Tensor, upstream: Tensor | None, create_graph: bool) -> list[Tensor]:
    with graph_lock:
        node = root.node
        if upstream is None and root.numel() != 1:
            raise GradientError(
                f"backward() of a tensor of shape {root.shape} needs a gradient of that shape; "
                "only one of a single element can do without, such as what sum() and mean() give"
            )
        if upstream is None and node.dtype.is_complex:
            raise GradientError(
                f"backward() of a tensor of {node.dtype.name} needs a gradient; only a real number "
                "can do without, such as what abs() and real give"
            )
        if upstream is None:
            calls = gradient_calls(node, is_leaf)
            gradients = gradient_of(node, is_leaf) if calls is None else calls
        else:
            gradients = gradient([(node, upstream.node)], is_leaf)
        leaves: dict[int, tuple[Tensor, list[UOp]]] = {}
        for version, value in gradients.items():
            leaf: Any = history.leaf_of(version)
            _, parts = leaves.setdefault(leaf.id, (leaf, []))
            parts.append(as_value(value, leaf.shape))
        if not leaves and not history.leads_to_leaf(node):
            raise GradientError(
                f"backward() of a tensor of shape {root.shape} and dtype {root.dtype.name} reaches "
                "no tensor that requires gradients: it was computed from none, or behind detach(), "
                "no_grad() or ogive.jit"
            )
        # Held by tensors: a hook of one leaf may read values, and so carry out writes that the
        # gradients of others read.
        totals = [(leaf, hold(total(parts), leaf.device)) for leaf, parts in leaves.values()]
        values = []
        for leaf, held in totals:
            hooks = getattr(leaf, "hooks", None)
            value = held.node if hooks is None else hooks.changed(held.node)
            values.append(value if create_graph else _detached(value))
            _accumulate(leaf, values[-1])
        if not create_graph:
            _put_beside(values)
        return [leaf for leaf, _ in leaves.values()]


def is_leaf(node: UOp) -> bool:
    """Whether a node is a version of a leaf. Raises `GradientError` if its history is not known."""
    if node.op in (Op.BUFFER, Op.MULTI) and history.is_cut(node):
        raise GradientError(
            f"a gradient would flow through the result of a function captured by ogive.jit, of "
            f"{math.prod(node.shape)} elements, and it is not known how that was computed; call "
            "backward() inside the function, or detach() the result"
        )
    return history.leaf_of(node) is not None


def _detached(value: UOp) -> UOp:
    return make(Op.DETACH, value.dtype, (value,), None, value.shape)


def _put_beside(values: list[UOp]) -> None:
    """Record the gradients of one pass, which are computed together (`live_values.py`)."""
    references = [value.reference for value in values]
    for value in values:
        if value.live is not None:
            value.live.beside = references


def _accumulate(leaf: Tensor, value: UOp) -> None:
    gradient = hold(value, leaf.device)
    if is_group(leaf.device):
        gradient = gradient.shard_like(leaf)
    if leaf.grad is None:
        leaf.grad = gradient
    else:
        leaf.grad.assign(leaf.grad + gradient)
