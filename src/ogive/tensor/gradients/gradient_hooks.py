"""Functions that are shown the gradient of a tensor when a backward pass comes by.

    y   →   GRADIENT(y, y)     the value of y; going back, the hooks are called on the way to y

A pass only builds the graph of the gradients, so what a hook is given is lazy, and what it returns
is more of that graph. Leaves, where a pass ends, have their hooks themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.errors import ArgumentTypeError
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import history, registry
from ogive.live.registry import graph_lock, make
from ogive.live.substitution import substitute_everywhere
from ogive.tensor.core import Core, hold

Hook = Callable[[Any], Any]


class Hooks:
    """The hooks of a tensor, and the rule of the `GRADIENT` node that calls them.

    `keep`, if there is one, is called last, with what the others have made of the gradient.
    """

    __slots__ = ("_device", "functions", "keep")

    def __init__(self, device: str) -> None:
        self._device = device
        self.functions: list[Hook] = []
        self.keep: Hook | None = None

    def changed(self, gradient: UOp) -> UOp:
        """What the hooks make of a gradient."""
        for function in self.functions:
            returned = function(hold(gradient, self._device))
            if returned is not None:
                gradient = _checked(returned, gradient)
        if self.keep is not None:
            self.keep(hold(gradient, self._device))
        return gradient

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        """What the input gets."""
        return [self.changed(upstream)]


def _checked(returned: Any, gradient: UOp) -> UOp:
    if not isinstance(returned, Core):
        found = type(returned).__name__
    elif returned.shape != gradient.shape or returned.dtype is not gradient.dtype:
        found = f"{returned.dtype.name} of shape {returned.shape}"
    else:
        return returned.node
    raise ArgumentTypeError(
        f"a hook returned {found} for a gradient of {gradient.dtype.name} and shape "
        f"{gradient.shape}; it returns one like it, or None to change nothing"
    )


class Handle:
    """What `register_hook` gives: `remove()` takes the hook away again."""

    def __init__(self, hooks: Hooks, function: Hook) -> None:
        self._hooks = hooks
        self._function = function

    def remove(self) -> None:
        """Call the hook no more."""
        if self._function in self._hooks.functions:
            self._hooks.functions.remove(self._function)


def hooks_of(tensor: Any) -> Hooks:
    """The hooks of a tensor, which are called by what it is used in already as well."""
    with graph_lock:
        node = tensor.node
        if history.is_flagged(tensor):
            hooks = tensor.hooks = getattr(tensor, "hooks", None) or Hooks(tensor.device)
        elif node.op is Op.GRADIENT and isinstance(node.arg, Hooks):
            hooks = node.arg
        else:
            hooks = Hooks(tensor.device)
            record = getattr(tensor, "record", None)
            if record is not None and not record.is_leaf:  # eager tensors follow from it
                record.watch(hold(node, tensor.device))
            _go_through(tensor, make(Op.GRADIENT, node.dtype, (node, node), hooks))
        return hooks


def keeps_gradient(tensor: Any) -> bool:
    """Whether backward passes leave a gradient in a tensor that is no leaf."""
    with graph_lock:
        node = tensor.node
        record = history.record_of(node)
        if record is not None:  # it is computed
            node = record.expression
        return node.op is Op.GRADIENT and isinstance(node.arg, Hooks) and node.arg.keep is not None


def _go_through(tensor: Any, node: UOp) -> None:
    if history.is_version(memory_leaf(tensor.node)):
        registry.move_tensor(tensor, node)  # it only repeats a leaf, as `clone()` does
    else:
        substitute_everywhere({tensor.node: node}, walk=True)
