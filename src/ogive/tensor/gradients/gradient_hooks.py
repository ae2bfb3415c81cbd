"""Hooks: functions that a backward pass calls with the gradient of a tensor.

    y   →   GRADIENT(y, y)     the value of y; a backward pass calls the hooks on its way to y

A backward pass only builds the graph of the gradients. So a hook gets a lazy gradient, and the one
that it returns becomes part of that graph. The hooks of leaves are attributes of the leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ogive.errors import ArgumentTypeError
from ogive.ir.dtype import DType
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import history, registry
from ogive.live.registry import graph_lock, make
from ogive.live.substitution import substitute_everywhere
from ogive.tensor.core import Core, hold
from ogive.tensor.method_functions import eager_calls

Hook = Callable[[Any], Any]


class Hooks:
    """The hooks of a tensor, and the rule of the `GRADIENT` node that calls them.

    The `functions` may change the gradient. `keep`, the hook of `retain_grad`, is called last, with
    the result. The hooks `afterwards` are called with a leaf whose gradient has been accumulated.
    """

    __slots__ = ("_device", "afterwards", "functions", "keep")

    def __init__(self, device: str) -> None:
        self._device = device
        self.functions: list[Hook] = []
        self.afterwards: list[Hook] = []
        self.keep: Hook | None = None

    def changed(self, gradient: UOp) -> UOp:
        """Call all hooks with the gradient of a backward pass. Returns the changed gradient."""
        gradient = self.seen(gradient)
        if self.keep is not None:
            self.keep(hold(gradient, self._device))
        return gradient

    def seen(self, gradient: UOp) -> UOp:
        """Call the hooks, except `keep`, with a gradient. Returns the changed gradient."""
        for function in list(self.functions):
            returned = function(hold(gradient, self._device))
            if returned is not None:
                gradient = checked(returned, gradient.shape, gradient.dtype).node
        return gradient

    def call_afterwards(self, leaf: Any) -> None:
        """Call the hooks for a leaf whose gradient has been accumulated."""
        for function in list(self.afterwards):
            function(leaf)

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        """Return the gradient of the input: the upstream gradient after the hooks."""
        return [self.changed(upstream)]


def checked(returned: Any, shape: Any, dtype: DType) -> Any:
    """Return the result of a hook. Raises unless it is a tensor like the gradient."""
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
    """The handle of a hook: `remove()` removes the hook."""

    def __init__(self, functions: list[Hook], function: Hook) -> None:
        self._functions = functions
        self._function = function

    def remove(self) -> None:
        """Remove the hook. It is not called any more."""
        if self._function in self._functions:
            self._functions.remove(self._function)


def hooks_of(tensor: Any) -> Hooks:
    """Return the hooks of a tensor, made if it has none.

    They are also called by backward passes of tensors that were computed from it before.
    """
    if tensor.is_eager and (eager_hooks := eager_calls[hooks_of](tensor)) is not None:
        return eager_hooks  # type: ignore[no-any-return]
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
            hooked_node = hooked(node, hooks)
            _replace_node(tensor, hooked_node)
            _replace_views(tensor, hooked_node)
        return hooks


def hooked(node: UOp, hooks: Hooks) -> UOp:
    """Return the value of a node, with hooks that backward passes call on their way to it."""
    return make(Op.GRADIENT, node.dtype, (node, node), hooks)


def keeps_gradient(tensor: Any) -> bool:
    """Whether `retain_grad` was called on a tensor that is not a leaf."""
    if tensor.is_eager:
        hooks = None if tensor.is_leaf else tensor.record.hooks
        return hooks is not None and hooks.keep is not None
    hooks = None if history.is_flagged(tensor) else hooks_on(tensor)
    return hooks is not None and hooks.keep is not None


def hooks_on(tensor: Any) -> Hooks | None:
    """The hooks of a tensor; None if it has none."""
    if history.is_flagged(tensor):
        return getattr(tensor, "hooks", None)
    with graph_lock:
        node = tensor.node
        record = history.record_of(node)
        if record is not None:  # the tensor is realized
            node = record.expression
        is_hooked = node.op is Op.GRADIENT and isinstance(node.arg, Hooks)
        return node.arg if is_hooked else None


def _replace_node(tensor: Any, node: UOp) -> None:
    if history.is_version(memory_leaf(tensor.node)):
        registry.move_tensor(tensor, node)  # a clone of a leaf: the leaf's own uses stay
    else:
        substitute_everywhere({tensor.node: node}, walk=True)


def _replace_views(tensor: Any, node: UOp) -> None:
    """Let views of a view read its hooked node as well, instead of the storage.

        before   s = y[1:5]   z = s[1:3]   z is SHRINK (2, 4) of y
        after                              z is SHRINK (1, 3) of GRADIENT of s
    """
    storage = tensor.shared
    prefix = [] if storage is None else tensor.shows.steps
    for other in storage.tensors() if prefix else []:
        steps = other.shows.steps
        pairs = zip(prefix, steps, strict=False)
        if len(steps) > len(prefix) and all(step is known for known, step in pairs):
            _replace_node(other, other.shows.cut(len(prefix))[1].forward(node))
