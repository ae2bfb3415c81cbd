"""The methods and attributes of tensors for gradients: leaves, `backward`, `grad`, hooks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history, registry
from ogive.compiler.live.readers import is_read
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import ArgumentTypeError, DtypeError, GradientError, Origin, ShapeError
from ogive.tensor import build
from ogive.tensor.core import Core
from ogive.tensor.gradients.gradient_hooks import Handle, hooks_of, keeps_gradient
from ogive.tensor.memory import views

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


def requires_grad(self: Tensor) -> bool:
    """Whether `backward()` of this tensor reaches a tensor that requires gradients.

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
    """The operation that computed a tensor through which gradients flow, by name."""

    __slots__ = ("node", "origin")

    def __init__(self, node: UOp, origin: Origin | None) -> None:
        self.node = node
        self.origin = origin

    def name(self) -> str:
        """A name like PyTorch's, made from that of the operation."""
        node = self.node
        while node.op in (Op.RESHAPE, Op.CONTIGUOUS):
            (node,) = node.src
        return f"{node.op.name.title().replace('_', '')}Backward"

    def __repr__(self) -> str:
        return f"<{self.name()}>"


def grad_fn(self: Tensor) -> GradientFunction | None:
    """The operation that computed a tensor, if gradients flow through it; None for leaves.

    >>> w = Tensor([1.0], requires_grad=True)
    >>> w.grad_fn, (w * 2).grad_fn
    (None, <MulBackward>)
    """
    if self.is_leaf:
        return None
    return GradientFunction(computed_by(self.node), self.origin)


def computed_by(node: UOp) -> UOp:
    """The expression in place of which the memory of a value stands now, maybe under a shape."""
    while True:
        below = node
        while below.op in (Op.RESHAPE, Op.CONTIGUOUS):
            (below,) = below.src
        record = history.record_of(below)
        if record is None:
            return node
        node = record.expression


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """Set whether this tensor requires gradients. Returns the tensor itself.

    Such a tensor is a *leaf*: it has memory of its own, which `assign` under `ogive.no_grad()`
    changes, and `backward()` adds to its `grad`.

    >>> w = Tensor([1.0, 2.0]).requires_grad_()
    >>> (w * w).sum().backward()
    >>> w.grad.tolist()
    [2.0, 4.0]

    Raises `GradientError` for a dtype other than a float, and for False on a tensor that was
    computed from leaves: use `detach()` for that.
    """
    if not requires_grad:
        if not self.is_leaf:
            raise GradientError(
                "only a leaf can be made not to require gradients; use detach() for what was "
                "computed from one"
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
    """Cut the flow of gradients through this tensor from now on. Returns the tensor itself.

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
    """The values without gradients: a view, like that of `detach()`. They can be changed without
    `no_grad()`, or replaced as a whole, which gives the tensor other memory.

    Shapes: as this tensor; what is set may have another shape or dtype.

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
    """The gradient that `backward()` has added up here, or None. It can be set, also to None.

    Shapes: as this tensor.

    >>> w = Tensor([3.0], requires_grad=True)
    >>> w.grad
    >>> (w * w).sum().backward()
    >>> w.grad.tolist()
    [6.0]
    """
    return getattr(self, "gradient", None)


def set_grad(self: Tensor, value: Tensor | None) -> None:
    """`x.grad = value`. Raises an error for another shape or dtype."""
    if value is not None:
        _check_gradient(self, value, "grad")
    self.gradient = value


def register_hook(self: Tensor, hook: Callable[[Tensor], Tensor | None]) -> Handle:
    """Call `hook` with the gradient of this tensor in every backward pass that reaches it.

    Its result replaces the gradient; None changes nothing. The gradient is lazy, as always. Returns
    a handle whose `remove()` removes the hook. Equal expressions of the same tensors are one value
    to a backward pass, which has one gradient for them.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> handle = w.register_hook(lambda gradient: gradient * 10)
    >>> (w * w).sum().backward()
    >>> w.grad.tolist()
    [20.0, 40.0]

    Raises `GradientError` for a tensor to which no gradient flows.
    """
    _check_reached(self, "register_hook")
    hooks = hooks_of(self)
    hooks.functions.append(hook)
    return Handle(hooks.functions, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], None]) -> Handle:
    """Call `hook` with this leaf whenever a backward pass has added to its `grad`.

    So an optimizer may step and free gradients one by one. Returns a handle, like `register_hook`.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> handle = w.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad.tolist()))
    >>> (w * w).sum().backward()
    [2.0, 4.0]

    Raises `GradientError` for a tensor that is not a leaf.
    """
    _check_reached(self, "register_post_accumulate_grad_hook")
    if not self.is_leaf:
        raise GradientError(
            "post accumulate grad hooks cannot be registered on non-leaf tensors: register_hook "
            "is called for what was computed from some"
        )
    hooks = hooks_of(self)
    hooks.afterwards.append(hook)
    return Handle(hooks.afterwards, hook)


def retain_grad(self: Tensor) -> None:
    """Make backward passes store a gradient in `grad`, as they do for leaves.

    >>> w = Tensor([1.0, 2.0], requires_grad=True)
    >>> y = w * 3
    >>> y.retain_grad()
    >>> (y * y).sum().backward()
    >>> y.grad.tolist()
    [6.0, 12.0]

    Raises `GradientError` for a tensor that no gradient flows to.
    """
    _check_reached(self, "retain_grad")
    if history.is_flagged(self):
        return
    own = weakref.ref(self)

    def keep(gradient: Tensor) -> None:
        tensor = own()
        if tensor is not None:
            value = gradient.detach()
            tensor.grad = value if tensor.grad is None else tensor.grad + value

    hooks_of(self).keep = keep


def retains_grad(self: Tensor) -> bool:
    """Whether `retain_grad` was called and this is not a leaf.

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
    inputs: Tensor | Sequence[Tensor] | None = None,
) -> None:
    """Add the gradient of this tensor to `grad` of every leaf that it was computed from, or of the
    `inputs` alone.

    Shapes: `gradient`, the weight of each element, has the shape of this tensor; a tensor of one
    element needs none. With `create_graph` the gradients can be differentiated themselves. Nothing
    is computed yet: gradients are lazy. The graph is always retained, so `retain_graph` has no
    effect.

    >>> w = Tensor([1.0, 2.0, 3.0], requires_grad=True)
    >>> (w ** 2).sum().backward()
    >>> w.grad.tolist()
    [2.0, 4.0, 6.0]

    Raises `GradientError` if no leaf is reached, if several elements have no `gradient`, or if
    values that a gradient needs have been overwritten.
    """
    from ogive.autograd.backward import run_backward

    if inputs is not None:
        _add_to_inputs(self, gradient, create_graph, inputs)
        return
    if gradient is not None:
        _check_gradient(self, gradient, "backward")
    run_backward(self, gradient, create_graph)


def _add_to_inputs(
    tensor: Tensor, gradient: Tensor | None, create_graph: bool, inputs: Tensor | Sequence[Tensor]
) -> None:
    from ogive.autograd.tensor_gradients import grad

    given: list[Any] = [inputs] if isinstance(inputs, Core) else list(inputs)
    gradients = grad(tensor, given, gradient, create_graph=create_graph, allow_unused=True)
    for each, part in zip(given, gradients, strict=True):
        if part is not None:
            each.grad = part if each.grad is None else each.grad + part


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
            f"{name}: the gradient has the shape {build.show(gradient.shape)}, and the tensor "
            f"{build.show(tensor.shape)}; they must be equal"
        )
    if gradient.dtype is not tensor.dtype:
        raise DtypeError(
            f"{name}: the gradient has the dtype {gradient.dtype.name}, and the tensor "
            f"{tensor.dtype.name}; cast it"
        )


def _own_memory(tensor: Tensor) -> None:
    """Give a tensor memory, or at least a node, that nothing else reads.

    Its views follow it, without gradients, since they were made before it required any. A tensor
    that is a view of another one has left that.
    """
    with graph_lock:
        storage = views.shared_storage(tensor)
        if storage is not None:
            views.cut_others(tensor, storage)
    _move_apart(tensor)
    with graph_lock:
        if tensor.shared is not None:
            registry.move_tensor(tensor.shared, tensor.node)


def _move_apart(tensor: Tensor) -> None:
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
            # Nothing was computed, because it is empty or a function is being captured.
            registry.move_tensor(tensor, make(Op.GRADIENT, node.dtype, (node,), history.Argument()))


def _is_own(tensor: Tensor, memory: UOp) -> bool:
    if memory.op is not Op.BUFFER or history.record_of(memory) is not None:
        return False
    buffer = registry.buffer_of(memory)
    return buffer.writable and not is_read(memory, besides=[tensor.id])
