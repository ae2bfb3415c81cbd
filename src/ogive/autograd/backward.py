"""`backward`: the gradients of a tensor, accumulated in the leaves that it was computed from."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.autograd.gradient import gradient, gradient_of, total
from ogive.autograd.gradient_calls import gradient_calls
from ogive.autograd.rules.formulas import as_value
from ogive.errors import GradientError
from ogive.ir.device_names import is_group
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import history
from ogive.live.registry import graph_lock, make
from ogive.tensor.core import hold

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class _Pass(threading.local):
    """The functions that this thread calls at the end of its backward pass."""

    def __init__(self) -> None:
        self.endings: list[Callable[[], None]] = []


_pass = _Pass()


def run_backward(root: Tensor, upstream: Tensor | None, create_graph: bool) -> None:
    """Add the gradient of `root` to `grad` of every leaf below it. Raises `GradientError`."""
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
    """Call a function, once, when all leaves of this backward pass have their gradients.

    It is for hooks of leaves.
    """
    if function not in _pass.endings:
        _pass.endings.append(function)


def _add_gradients(root: Tensor, upstream: Tensor | None, create_graph: bool) -> list[Tensor]:
    with graph_lock:
        node = root.node
        if upstream is None and root.numel() != 1:
            raise GradientError(
                f"backward() of a tensor of shape {root.shape} needs a gradient of that shape; "
                "only a tensor of one element needs none, such as the result of sum() or mean()"
            )
        if upstream is None and node.dtype.is_complex:
            raise GradientError(
                f"backward() of a tensor of {node.dtype.name} needs a gradient; only a real number "
                "needs none, such as the result of abs() or real"
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
                "no tensor that requires gradients: it was computed without one, or detach(), "
                "no_grad() or ogive.jit is in between"
            )
        values = []
        for leaf, parts in leaves.values():
            hooks = getattr(leaf, "hooks", None)
            value = total(parts) if hooks is None else hooks.changed(total(parts))
            values.append(value if create_graph else _detached(value))
            _accumulate(leaf, values[-1])
        if not create_graph:
            _note_siblings(values)
        return [leaf for leaf, _ in leaves.values()]


def is_leaf(node: UOp) -> bool:
    """Whether a node is a version of a leaf.

    Raises `GradientError` for the result of a captured function, which has no history.
    """
    if node.op in (Op.BUFFER, Op.MULTI) and history.is_cut(node):
        raise GradientError(
            f"a gradient would flow through the result of a function captured by ogive.jit, of "
            f"{math.prod(node.shape)} elements, whose history is not kept; call backward() inside "
            "the function, or detach() the result"
        )
    return history.leaf_of(node) is not None


def _detached(value: UOp) -> UOp:
    return make(Op.DETACH, value.dtype, (value,), None, value.shape)


def _note_siblings(values: list[UOp]) -> None:
    """Note the gradients of one pass on each other, so that they are computed together.

    See `live_values.py`.
    """
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
