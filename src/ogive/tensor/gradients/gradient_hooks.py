"""Gradient hooks: functions that a backward pass calls with the gradient of a tensor.

    y   →   GRADIENT(y, y)     the value of y; a backward pass through it calls the hooks

A pass only builds the graph of the gradients: a hook gets a lazy gradient, and its result is part
of that graph. Leaves, where a pass ends, have their hooks themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.compiler.ir.dtype import DType
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history, registry
from ogive.compiler.live.registry import graph_lock, make
from ogive.compiler.live.substitution import substitute_everywhere
from ogive.errors import ArgumentTypeError
from ogive.tensor.core import Core, hold
from ogive.tensor.method_functions import eager_calls

Hook = Callable[[Any], Any]


class Hooks:
    """The hooks of a tensor, and the rule of the `GRADIENT` node that calls them.

    `keep`, if there is one, is called last, with the gradient after all hooks. The functions in
    `afterwards` are called with a leaf once it has its gradient.
    """

    __slots__ = ("_device", "afterwards", "functions", "keep")

    def __init__(self, device: str) -> None:
        self._device = device
        self.functions: list[Hook] = []
        self.afterwards: list[Hook] = []
        self.keep: Hook | None = None

    def changed(self, gradient: UOp) -> UOp:
        """The gradient of a backward pass after the hooks."""
        gradient = self.seen(gradient)
        if self.keep is not None:
            self.keep(hold(gradient, self._device))
        return gradient

    def seen(self, gradient: UOp) -> UOp:
        """The gradient asked for by `autograd.grad`, after the hooks."""
        seen = hold(gradient, self._device)
        for function in list(self.functions):
            returned = function(seen)
            if returned is not None:
                seen = checked(returned, gradient.shape, gradient.dtype)
        node: UOp = seen.node  # it may have been read meanwhile, or written to
        return node

    def call_afterwards(self, leaf: Any) -> None:
        """Call the functions in `afterwards` with a leaf that has its gradient."""
        for function in list(self.afterwards):
            function(leaf)

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        """The gradient of the input."""
        return [self.changed(upstream)]


def checked(returned: Any, shape: Any, dtype: DType) -> Any:
    """A hook's result, checked to have the shape and dtype of the gradient."""
    if not isinstance(returned, Core):
        description = type(returned).__name__
    elif returned.shape != shape or returned.dtype is not dtype:
        description = f"{returned.dtype.name} of shape {returned.shape}"
    else:
        return returned
    raise ArgumentTypeError(
        f"a hook returned {description} for a gradient of {dtype.name} and shape "
        f"{shape}; it returns one like it, or None to change nothing"
    )


class Handle:
    """The handle of a hook. `remove()` removes the hook."""

    def __init__(self, functions: list[Hook], function: Hook) -> None:
        self._functions = functions
        self._function = function

    def remove(self) -> None:
        """Remove the hook."""
        if self._function in self._functions:
            self._functions.remove(self._function)


def hooks_of(tensor: Any) -> Hooks:
    """The hooks of a tensor. Existing uses of the tensor call them, too."""
    if tensor.is_eager and (own := eager_calls[hooks_of](tensor)) is not None:
        return own  # type: ignore[no-any-return]
    with graph_lock:
        node = tensor.node
        if history.is_flagged(tensor):
            hooks = tensor.hooks = getattr(tensor, "hooks", None) or Hooks(tensor.device)
        elif node.op is Op.GRADIENT and isinstance(node.arg, Hooks):
            hooks = node.arg
        else:
            hooks = Hooks(tensor.device)
            record = getattr(tensor, "record", None)
            if record is not None and not record.is_leaf:  # eager tensors were computed from it
                record.watch(hooks, hold(node, tensor.device))
            through = hooked(node, hooks)
            _go_through(tensor, through)
            _lead_views_through(tensor, through)
        return hooks


def hooked(node: UOp, hooks: Hooks) -> UOp:
    """The value of a node, with hooks that a backward pass calls."""
    return make(Op.GRADIENT, node.dtype, (node, node), hooks)


def keeps_gradient(tensor: Any) -> bool:
    """Whether backward passes store a gradient in a tensor that is not a leaf."""
    if tensor.is_eager:
        hooks = None if tensor.is_leaf else tensor.record.hooks
        return hooks is not None and hooks.keep is not None
    hooks = None if history.is_flagged(tensor) else hooks_on(tensor)
    return hooks is not None and hooks.keep is not None


def hooks_on(tensor: Any) -> Hooks | None:
    """The hooks of a tensor that is in a graph, or None."""
    if history.is_flagged(tensor):
        return getattr(tensor, "hooks", None)
    with graph_lock:
        node = tensor.node
        record = history.record_of(node)
        if record is not None:  # it is computed
            node = record.expression
        is_hooked = node.op is Op.GRADIENT and isinstance(node.arg, Hooks)
        return node.arg if is_hooked else None


def _go_through(tensor: Any, node: UOp) -> None:
    if history.is_version(memory_leaf(tensor.node)):
        registry.move_tensor(tensor, node)  # it is only another node of a leaf, as of `clone()`
    else:
        substitute_everywhere({tensor.node: node}, walk=True)


def _lead_views_through(tensor: Any, node: UOp) -> None:
    """Make views of a view go through its hooks, too. They start at the storage:

        before   s = y[1:5]   z = s[1:3]   z is SHRINK (2, 4) of y
        after                              z is SHRINK (1, 3) of GRADIENT of s
    """
    storage = tensor.shared
    own = [] if storage is None else tensor.shows.steps
    for other in storage.tensors() if own else []:
        steps = other.shows.steps
        shared = zip(own, steps, strict=False)
        if len(steps) > len(own) and all(one is another for one, another in shared):
            _go_through(other, other.shows.cut(len(own))[1].forward(node))
