"""The methods of tensors for gradients: `requires_grad`, `grad`, `backward`, hooks."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.errors import ArgumentTypeError, DtypeError, GradientError, Origin, ShapeError
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import history, registry
from ogive.live.readers import is_read
from ogive.live.registry import graph_lock, make
from ogive.tensor import build
from ogive.tensor.core import Core
from ogive.tensor.gradients.gradient_hooks import Handle, hooks_of, keeps_gradient
from ogive.tensor.memory import views

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def requires_grad(self: Tensor) -> bool:
    """Whether this tensor is a leaf that requires a gradient, or was computed from one.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> (w * 2).requires_grad, (w.detach() * 2).requires_grad
    (True, False)
    """
    if history.is_flagged(self):
        return True
    with graph_lock:
        node = self.node
        return node.dtype.is_inexact and history.leads_to_leaf(node)


def set_requires_grad(self: Tensor, value: bool) -> None:
    """`x.requires_grad = value`."""
    self.requires_grad_(value)


def is_leaf(self: Tensor) -> bool:
    """Whether this tensor was not computed from one that requires gradients.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> w.is_leaf, (w * 2).is_leaf
    (True, False)
    """
    return history.is_flagged(self) or not self.requires_grad


class GradientFunction:
    """The operation that computed a tensor with a history. It only has a name."""

    __slots__ = ("node", "origin")

    def __init__(self, node: UOp, origin: Origin | None) -> None:
        self.node = node
        self.origin = origin

    def name(self) -> str:
        """Return a name in PyTorch's manner, such as `MulBackward`."""
        node = self.node
        while node.op in (Op.RESHAPE, Op.CONTIGUOUS):
            (node,) = node.src
        return f"{node.op.name.title().replace('_', '')}Backward"

    def __repr__(self) -> str:
        return f"<{self.name()}>"


def grad_fn(self: Tensor) -> GradientFunction | None:
    """The operation that computed a tensor with a history; None for leaves.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> w.grad_fn, (w * 2).grad_fn
    (None, <MulBackward>)
    """
    if self.is_leaf:
        return None
    return GradientFunction(_computed_by(self.node), self.origin)


def _computed_by(node: UOp) -> UOp:
    """Return the expression that a node had before it was realized, if its history keeps that."""
    while True:
        memory = node
        while memory.op in (Op.RESHAPE, Op.CONTIGUOUS):
            (memory,) = memory.src
        record = history.record_of(memory)
        if record is None:
            return node
        node = record.expression


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Make this tensor require a gradient, or no longer. Returns the tensor itself.

    A tensor that requires a gradient is a *leaf*. `backward()` accumulates its gradient in `grad`.
    It has memory of its own, which `assign` changes under `ogive.no_grad()`.

    >>> w = Tensor([1.0, 2.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> w.grad.tolist()
    [2.0, 4.0]

    Raises `GradientError` for a dtype that is neither float nor complex, and for False on a tensor
    that was computed from leaves; use `detach()` there.
    """
    if not requires_grad:
        if not self.is_leaf:
            raise GradientError(
                "only a leaf can be made not to require gradients; use detach() for a tensor that "
                "was computed from one"
            )
        history.unmark_leaf(self)
    elif not self.dtype.is_inexact:
        raise GradientError(
            f"only floats have gradients, and this tensor of shape {self.shape} has the dtype "
            f"{self.dtype.name}; cast it first"
        )
    elif not self.requires_grad:
        _own_memory(self)
        history.mark_leaf(self)
    return self


def detach_(self: Tensor) -> Tensor:
    """Cut this tensor from its history, in place. Returns the tensor itself.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> (w * 2).detach_().requires_grad
    False
    """
    if history.is_flagged(self):
        return self.requires_grad_(False)
    with graph_lock:
        views.show_otherwise(self, views.marked(self, Op.DETACH))
    return self


def data(self: Tensor) -> Tensor:
    """The values as a detached view. Writing to it needs no `no_grad()`.

    `data` can be set: the tensor then shares the memory of the new value.

    Shapes: as this tensor. The value that is set may have another shape or dtype.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> _ = w.data.mul_(10)
    >>> w.data[0] = 0
    >>> w.tolist(), w.data.requires_grad, w.is_leaf
    ([0.0, 20.0], False, True)
    >>> w.data = w.data + 1
    >>> w.tolist()
    [1.0, 21.0]
    """
    return self.detach()


def set_data(self: Tensor, value: Any) -> None:
    """`x.data = value`."""
    from ogive.tensor.memory.data_attribute import set_data

    set_data(self, value)


def grad(self: Tensor) -> Tensor | None:
    """The gradient that `backward()` has accumulated here, or None. It can be set, also to None.

    Shapes: as this tensor.

    >>> w = Tensor([3.0], requires_grad=True)
    >>> w.grad
    >>> (w * w).sum().backward()
    >>> w.grad.tolist()
    [6.0]
    """
    return getattr(self, "gradient", None)


def set_grad(self: Tensor, value: Tensor | None) -> None:
    """`x.grad = value`. Raises `ShapeError` or `DtypeError` for another shape or dtype."""
    if value is not None:
        _check_gradient(self, value, "grad")
    self.gradient = value


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Handle:
    """Call `hook` with the gradient of this tensor in every backward pass that reaches it.

    A tensor that the hook returns replaces the gradient; None changes nothing. The gradient is
    lazy. Returns a handle, whose `remove()` removes the hook. Two tensors of the same expression
    are one node to a backward pass, and have one gradient.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> handle = w.register_hook(lambda gradient: gradient * 10)
    >>> (w * w).sum().backward()
    >>> w.grad.tolist()
    [20.0, 40.0]

    Raises `GradientError` for a tensor that does not require a gradient.
    """
    _check_reached(self, "register_hook")
    hooks = hooks_of(self)
    hooks.functions.append(hook)
    return Handle(hooks.functions, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> Handle:
    """Call `hook` with this leaf whenever a backward pass has accumulated its `grad`.

    An optimizer can use it to step and free gradients one by one. Returns a handle, as
    `register_hook` does.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> handle = w.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad.tolist()))
    >>> (w * w).sum().backward()
    [2.0, 4.0]

    Raises `GradientError` for a tensor that is not a leaf.
    """
    _check_reached(self, "register_post_accumulate_grad_hook")
    if not self.is_leaf:
        raise GradientError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors; use "
            "register_hook there"
        )
    hooks = hooks_of(self)
    hooks.afterwards.append(hook)
    return Handle(hooks.afterwards, hook)


def retain_grad(self: Tensor) -> None:
    """Let backward passes accumulate a gradient in `grad`, as they do for leaves.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> y = w * 3
    >>> y.retain_grad()
    >>> (y * y).sum().backward()
    >>> y.grad.tolist()
    [6.0, 12.0]

    Raises `GradientError` for a tensor that does not require a gradient.
    """
    _check_reached(self, "retain_grad")
    if history.is_flagged(self):
        return
    reference = weakref.ref(self)

    def keep(gradient: Tensor) -> None:
        tensor = reference()
        if tensor is not None:
            value = gradient.detach()
            tensor.grad = value if tensor.grad is None else tensor.grad + value

    hooks_of(self).keep = keep


def retains_grad(self: Tensor) -> bool:
    """Whether `retain_grad` was called on this tensor, and it is not a leaf.

    >>> y = Tensor([1.0], requires_grad=True) * 3
    >>> y.retain_grad()
    >>> y.retains_grad
    True
    """
    return not history.is_flagged(self) and keeps_gradient(self)


def backward(
    self: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Add the gradient of this tensor to `grad` of every leaf that it was computed from.

    `gradient` is the upstream gradient; a tensor of one element needs none. With `create_graph`,
    the gradients can be differentiated themselves. They are lazy, so nothing is computed yet. The
    graph is always kept: `retain_graph` has no effect.

    Shapes: `gradient` has that of this tensor.

    >>> w = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (w ** 2).sum().backward()
    >>> w.grad.tolist()
    [2.0, 4.0, 6.0]

    Raises `GradientError` if no leaf is reached, if `gradient` is missing for several elements, or
    if values that a gradient needs have been overwritten.
    """
    from ogive.autograd.backward import run_backward

    if gradient is not None:
        _check_gradient(self, gradient, "backward")
    run_backward(self, gradient, create_graph)


def _check_reached(tensor: Tensor, name: str) -> None:
    if not tensor.requires_grad:
        raise GradientError(
            f"{name}: this tensor of shape {tensor.shape} does not require a gradient; call "
            "requires_grad_() to make it a leaf"
        )


def _check_gradient(tensor: Core, gradient: Any, name: str) -> None:
    if not isinstance(gradient, Core):
        raise ArgumentTypeError(
            f"{name}: a gradient is a tensor or None, not {type(gradient).__name__}"
        )
    if gradient.shape != tensor.shape:
        raise ShapeError(
            f"{name}: the gradient has the shape {build.show(gradient.shape)}, and the tensor has "
            f"{build.show(tensor.shape)}; they must be equal"
        )
    if gradient.dtype is not tensor.dtype:
        raise DtypeError(
            f"{name}: the gradient has the dtype {gradient.dtype.name}, and the tensor has "
            f"{tensor.dtype.name}; cast it"
        )


def _own_memory(tensor: Tensor) -> None:
    """Move a tensor to memory, or at least to a node, that no other tensor reads.

    Views of the tensor move with it. They become detached, since they were made before it required
    a gradient. A tensor that is itself a view leaves its storage.
    """
    with graph_lock:
        storage = views.shared_storage(tensor)
        if storage is not None:
            views.cut_others(tensor, storage)
    _move_to_own_node(tensor)
    with graph_lock:
        if tensor.shared is not None:
            registry.move_tensor(tensor.shared, tensor.node)


def _move_to_own_node(tensor: Tensor) -> None:
    with graph_lock:
        node = tensor.node
        if _is_own(tensor, memory_leaf(node)):
            return
        cut = make(Op.DETACH, node.dtype, (node,))
        registry.move_tensor(tensor, make(Op.CONTIGUOUS, node.dtype, (cut,), ()))
    tensor.realize()
    with graph_lock:
        node = tensor.node
        if memory_leaf(node).op is not Op.BUFFER:
            # Nothing was computed: it is empty, or a function is being captured.
            registry.move_tensor(tensor, make(Op.GRADIENT, node.dtype, (node,), history.Argument()))


def _is_own(tensor: Tensor, memory: UOp) -> bool:
    if memory.op is not Op.BUFFER or history.record_of(memory) is not None:
        return False
    buffer = registry.buffer_of(memory)
    return buffer.writable and not is_read(memory, besides=[tensor.id])
