"""A tensor is a view of a storage.

A *view* is a chain of movements from a storage to the part that a tensor shows. Tensors that are
made from one another by movements alone, by `detach()` or by `data` show one storage:

    x = Tensor([[1, 2], [3, 4]])     x shows all of it
    r = x.T[0]                       r shows PERMUTE · SHRINK · RESHAPE of it

Nodes are values and never change. A storage goes from one value to the next: writing to any of its
tensors makes the next value, and all of them show it from then on:

    r.assign(5)                      storage   X   →   AFTER(X, ASSIGN(SHRINK(PERMUTE(X)), 5))

Values computed from them before read the old value. `graph_lock` is held in all functions.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ogive.at_once import Change, at_once
from ogive.compiler.devices.known_devices import READ_ONLY
from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.device_names import DEFAULT_DEVICE, FILES
from ogive.compiler.ir.memory import is_memory, memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import MOVEMENT, Op
from ogive.compiler.ir.shape import Shape
from ogive.compiler.live import history, registry
from ogive.compiler.live.attached import WeakList
from ogive.compiler.live.history import is_traced
from ogive.compiler.live.registry import make
from ogive.errors import DeviceError, GradientError, ShapeError, user_origin
from ogive.tensor import build
from ogive.tensor.core import Core, hold, placed, wrap
from ogive.tensor.memory.direct_writes import write_directly
from ogive.tensor.memory.movement_chains import UNNOTICED, Lineage, Restride, View, detach
from ogive.tensor.memory.shared_arrays import note_written, shared_memory
from ogive.tensor.memory.strides import Strides, are_contiguous, has_repeated
from ogive.tensor.values.sharding import lay_out_as

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


class Storage(Core):
    """A value that several tensors show, and these tensors.

    It is registered as tensors are, so that its node is replaced when theirs are.
    """

    __slots__ = ("_tensors",)

    def __init__(self, tensor: Tensor) -> None:
        self.shared = None
        self.memory_strides = tensor.memory_strides
        self.device = tensor.device
        self.origin = tensor.origin
        self.node = tensor.node
        self._tensors = WeakList()
        registry.add_holder(self)
        self.admit(tensor, View(tensor.node.shape))

    def admit(self, tensor: Tensor, view: View) -> None:
        """Make a tensor show `view` of this storage."""
        tensor.shared = self
        tensor.shows = view
        self._tensors.add(weakref.ref(tensor))

    def tensors(self) -> list[Tensor]:
        """The live tensors that show it."""
        living = [tensor for reference in self._tensors if (tensor := reference()) is not None]
        return [tensor for tensor in living if tensor.shared is self]

    @property
    def is_reader(self) -> bool:
        """Whether its value may still be needed.

        A tensor that is alone needs no storage, since writing to it changes nothing else. It leaves
        its storage.
        """
        tensors = self.tensors()
        if len(tensors) < 2:
            for tensor in tensors:
                leave_storage(tensor)
            return False
        return True

    def moves_to(
        self, node: UOp, besides: Core | None = None, behind: Change | None = None
    ) -> list[Change]:
        """The changes that make it and its tensors show the next value, except one that does.

        The change `behind`, of a history behind a `detach()`, is made with them.
        """
        changes = registry.moves_to(self, node)
        for tensor in self.tensors():
            if tensor is not besides:
                changes += registry.moves_to(tensor, tensor.shows.forward(node, behind))
        return changes if behind is None else [*changes, behind]


def shared_storage(tensor: Core) -> Storage | None:
    """The storage that a tensor shows together with others, or None."""
    storage = tensor.shared
    return storage if storage is not None and storage.is_reader else None


# Making views


def show(source: Core, view: View) -> Tensor:
    """A new tensor that shows a view of another one."""
    node = view.forward(source.node)
    shown = wrap(node, source.device)
    if shown.node is not node:
        view = view.then(View(view.shape).add(Op.DETACH, None, view.shape))
    storage = source.shared
    if storage is None:
        storage = Storage(source)  # type: ignore[arg-type]
    storage.admit(shown, source.shows.then(view))
    return shown


def reshaped(source: Core, shape: Shape) -> Tensor:
    """A tensor in another shape: a view if the strides allow it, as in PyTorch."""
    view = View(source.node.shape).add(Op.RESHAPE, shape, shape)
    if is_strided(source, view):
        return show(source, view)
    return wrap(view.forward(source.node), source.device)


def permuted(source: Core, order: tuple[int, ...]) -> Tensor:
    """A view of a tensor with its axes in another order."""
    shape = source.node.shape
    return show(source, View(shape).add(Op.PERMUTE, order, tuple([shape[axis] for axis in order])))


def marked(source: Core, op: Op) -> Tensor:
    """A view of a tensor with a mark: detached, or contiguous."""
    shape = source.node.shape
    return show(source, View(shape).add(op, Lineage() if op is Op.DETACH else None, shape))


def computed(
    source: Core, function: Callable[[UOp], UOp], shape: Shape, restride: Restride
) -> Tensor:
    """A tensor that shows a value computed from another, and cannot be written.

    `restride` gives its strides in PyTorch, where it is a plain view.
    """
    return show(source, View(source.node.shape).add(None, function, shape).restride(restride))


def is_strided(source: Core, view: View) -> bool:
    """Whether the elements of a view have strides in the storage of `source`.

    Symbolic lengths have no strides, and every view counts as strided then.
    """
    storage = source.shared
    if source.memory_strides is None and (storage is None or not source.shows.steps):
        return True
    shown = view if storage is None else source.shows.then(view)
    whole = shown.steps[0][2] if shown.steps else shown.shape
    if any(isinstance(size, UOp) for size in (*whole, *shown.shape)):
        return True
    holder = source if storage is None else storage
    return shown.strides(holder.memory_strides) is not None


def is_contiguous(source: Core) -> bool:
    """Whether a tensor shows the elements of its storage in their order."""
    storage = source.shared
    if storage is not None and source.shows.strides(storage.memory_strides) is None:
        return False
    return layout_of(source) is None


def show_otherwise(tensor: Core, other: Core) -> None:
    """Make a tensor show what `other`, a view of it, shows. Raises the errors of `write`.

    A leaf gets memory of its own, and leaves the tensors that showed it.
    """
    leaf = tensor if history.is_flagged(tensor) and history.is_recording() else None
    _refuse_unwritable(tensor, View(tensor.node.shape), leaf)
    node = other.node
    if history.is_flagged(tensor):
        tensor.memory_strides = layout_of(other)
        tensor.shared = None
        if not is_memory(node):
            node = make(Op.GRADIENT, node.dtype, (node,), history.Argument())
    else:
        tensor.shows = other.shows
    registry.move_tensor(tensor, node)


def leave_storage(tensor: Core) -> None:
    """Make a tensor leave its storage, with the same strides."""
    tensor.memory_strides = layout_of(tensor)
    tensor.shared = None


def layout_of(tensor: Core) -> Strides | None:
    """The strides of a tensor, or None if they are those of row-major memory."""
    if tensor.shared is None:
        return tensor.memory_strides
    strides = tensor.shows.strides(tensor.shared.memory_strides)
    if strides is None or are_contiguous(tensor.shows.shape, strides):
        return None
    return strides


def cut_others(tensor: Core, storage: Storage) -> None:
    """Cut the flow of gradients from a tensor, which becomes a leaf, to others of its storage.

    A tensor that shows a part of the storage leaves it.
    """
    if tensor.shows.moves:
        leave_storage(tensor)
        return
    tensor.shows = View(tensor.node.shape)
    for other in storage.tensors():
        if other is not tensor:
            cut = View(tensor.node.shape).add(Op.DETACH, None, tensor.node.shape)
            other.shows = cut.then(other.shows)


def changes(tensor: Core, node: UOp) -> list[Change]:
    """The changes that make `node` the new memory of a tensor, and show it in its storage."""
    if isinstance(tensor, Storage):
        return tensor.moves_to(node)
    storage = None if tensor.shared is None else shared_storage(tensor)
    moves = registry.moves_to(tensor, node)
    if storage is not None:
        whole = put(storage.node, tensor.shows, node) if tensor.shows.moves else node
        moves += storage.moves_to(whole, besides=tensor)
    return moves


# Writing


class _Replaced:
    """The rule of a `GRADIENT` node for a value that replaced another, which has no influence."""

    __slots__ = ()
    is_fixed = True

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        return [build.filled(source.dtype, 0, source.shape) for source in node.inputs]


_REPLACED = _Replaced()


def write(
    tensor: Core, view: View, part: UOp, is_anew: bool = True, given: Core | None = None
) -> None:
    """Give a view of a tensor other values, which all tensors of the same storage show.

    The caller calls `shared_arrays.settle` after releasing `graph_lock`. A value over several
    devices keeps its layout.

    Gradients do not notice writes through `detach()` or `data`, or under `no_grad()`: they flow as
    before, except those of the detached tensor itself. `is_anew` says that the values were not
    computed from the present ones. `given` is the tensor whose values they are.

    Raises `DeviceError` for files, `GradientError` for a leaf, or a view of one, while gradients
    are recorded, and `ShapeError` if one element would be written several times.
    """
    storage = shared_storage(tensor)
    holder: Core = tensor if storage is None else storage
    whole = view if storage is None else tensor.shows.then(view)
    hidden = whole.is_detached or not history.is_recording()
    leaf = _leaf_among([tensor] if storage is None else storage.tensors())
    _refuse_unwritable(tensor, whole, None if hidden else leaf)
    if holder.memory_strides is not None and leaf is None:
        _refuse_repeated(tensor, has_repeated(holder.node.shape, holder.memory_strides))
    value = part.operand if hidden and part.op is Op.DETACH else part
    is_seen = value is holder.node or value.op in MOVEMENT
    if is_seen and value is whole.forward(holder.node):
        return  # the same value: `x[i] += 1` assigns the part that it has already changed
    shared = shared_memory(holder.node)
    if shared is not None:
        note_written(holder, holder.node, shared)
    if not is_traced() and write_directly(tensor, storage, whole, part, given):
        return
    behind = None
    if hidden and history.is_tracking() and part.dtype.is_inexact:
        if storage is not None and history.is_recording():
            behind = _history_behind(storage, whole, part, is_anew)
        part = part if part.op is Op.CONST else detach(part)
    old = holder.node
    node = put(old, whole, part)
    is_replaced = node is part
    if tensor.device is not DEFAULT_DEVICE:
        node = placed(lay_out_as(holder, node), tensor.device)[0]
    if leaf is not None:
        if not is_memory(node):
            node = make(Op.GRADIENT, node.dtype, (node,), history.Argument())
    elif hidden and history.is_tracking():
        node = _unnoticed(holder, old, node)
    elif is_anew and is_replaced and _loses_gradient(old, part):
        node = make(Op.GRADIENT, node.dtype, (node, old), _REPLACED)
    if node.origin is None:
        node.origin = user_origin(2)
    if storage is None:
        registry.move_tensor(tensor, node)
    else:
        at_once(storage.moves_to(node, behind=behind))


def _history_behind(storage: Storage, view: View, part: UOp, is_anew: bool) -> Change | None:
    """The change to the history behind a detached view of a storage that gets the values of `part`.
    """
    at = max([n for n, (op, _, _) in enumerate(view.steps) if op is Op.DETACH])
    lineage: Lineage | None = view.steps[at][1]
    if lineage is None or is_traced():
        return None
    if lineage.tensor is None and not history.leads_to_leaf(part):
        return None
    before, after = view.cut(at + 1)
    old = before.forward(storage.node)
    node = put(old, after, part)
    if is_anew and node is part and _loses_gradient(old, part):
        node = make(Op.GRADIENT, node.dtype, (node, old), _REPLACED)
    return lineage, "tensor", hold(node, storage.device)


def _unnoticed(holder: Core, old: UOp, new: UOp) -> UOp:
    """`new`, through which gradients flow as they did through `old`, if any did.

    A node found to lead to no leaf is remembered with its successors, so that each is searched
    once.
    """
    if getattr(holder, "apart", 0) != old.id and history.leads_to_leaf(old):
        if old.op is Op.GRADIENT and old.arg is UNNOTICED:
            (old,) = old.inputs
        return make(Op.GRADIENT, new.dtype, (new, old), UNNOTICED)
    holder.apart = new.id
    return new


def _loses_gradient(old: UOp, new: UOp) -> bool:
    """Whether gradients of leaves flowed through `old` and none would through `new`."""
    return history.is_tracking() and history.leads_to_leaf(old) and not history.leads_to_leaf(new)


def _leaf_among(tensors: Sequence[Core]) -> Core | None:
    """The leaf among tensors of a storage, or None. It shows all of the storage."""
    return next((tensor for tensor in tensors if history.is_flagged(tensor)), None)


def _refuse_unwritable(tensor: Core, view: View, leaf: Core | None) -> None:
    if tensor.device == FILES:
        raise DeviceError(f"a tensor on {FILES} cannot be assigned to; {READ_ONLY}")
    if leaf is not None:
        what = "a tensor" if leaf is tensor else "a view of a tensor"
        raise GradientError(
            f"{what} that requires gradients, of shape {leaf.shape}, is assigned to; do it "
            "inside ogive.no_grad(), or assign to a copy made by an operation"
        )
    _refuse_repeated(tensor, view.is_repeated)


def _refuse_repeated(tensor: Core, is_repeated: bool) -> None:
    """Refuse to write to what shows elements several times, also when nobody else is left who shows
    them."""
    if is_repeated:
        raise ShapeError(
            f"this tensor of shape {build.show(tensor.shape)} shows elements of another one more "
            "than once, or computed from them, so that they cannot be written through it; write "
            "to a copy (clone()), or to the tensor that it is a view of"
        )


def put(old: UOp, view: View, part: UOp) -> UOp:
    """The value `old` after a view of it got the values of `part`."""
    writable = is_writable(old)
    if writable and not view.is_padded and not view.is_bitcast:
        return store(old, view.place(old), part)
    if view.moves:
        mask = view.backward(build.filled(dtypes.bool_, True, view.shape), False)
        part = make(Op.WHERE, old.dtype, (mask, view.backward(part, 0), old))
    return store(old, old, part) if writable else part


def is_writable(node: UOp) -> bool:
    """Whether `node` is a version of a buffer of our own."""
    node = memory_leaf(node)
    if node.op is Op.AFTER:
        return True
    if node.op is not Op.BUFFER:
        return False
    buffer = registry.buffer_of(node)
    return buffer is None or not buffer.borrowed


def store(old: UOp, part: UOp, value: UOp) -> UOp:
    """The version of `old` after writing `value` to a `part` of it."""
    return make(Op.AFTER, old.dtype, (old, make(Op.ASSIGN, dtypes.void, (part, value))))
