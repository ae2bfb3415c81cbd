"""Memory that tensors and NumPy arrays share, to which both write, as in PyTorch.

    n = t.numpy()              n shares the memory of t
    t = torch.from_numpy(n)    t shares the memory of n

Values written by NumPy are read when a tensor is next computed with. Values written to a tensor
must be in the memory when the call returns, so they are computed at once (`settle`), after lazy
tensors that still read the old values. The layout of an array's memory may not suit kernels, so
values are computed elsewhere and copied there.

    before   t.add_(1)   t = ADD(BUFFER of n, 1)
    after                t = BUFFER of n, which holds the sum
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy

from ogive.at_once import at_once
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.write_clock import clock
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.dtype import to_dtype
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.live import history, registry
from ogive.compiler.live.attached import WeakList
from ogive.compiler.live.history import is_traced
from ogive.compiler.live.readers import holders_showing, read_outside, tensors_reading
from ogive.compiler.live.waiting_plans import is_unexecuted
from ogive.tensor.core import Core, hold
from ogive.tensor.creation import user_data
from ogive.tensor.memory.direct_writes import constant_of, shown_by
from ogive.tensor.memory.memory_nodes import memory_node
from ogive.tensor.values import evaluation, python_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.memory.views import Storage
    from ogive.tensor.tensor import Tensor

_is_used = [False]
"""Whether memory was ever shared. In most programs it is not, and writes need no further test."""

_in_arrays = WeakList()
"""The nodes of memory that belongs to arrays. Several may be in one array."""

_written: list[tuple[Core, UOp, Buffer]] = []
"""The writes that are not settled yet: the holder, its node before, and its memory."""


def share(tensor: Tensor) -> NDArray[Any] | None:
    """An array in the memory of a tensor; None if it has no memory that can be shared."""
    if tensor.device != DEFAULT_DEVICE or 0 in tensor.node.shape or is_traced():
        return None
    if not all(isinstance(length, int) for length in tensor.node.shape):
        return None
    storage: Storage | None = tensor.shared
    if storage is not None and not storage.is_reader:
        storage = None  # it is alone, and has left it
    holder: Core = tensor if storage is None else storage
    _be_memory(holder, storage)
    with registry.graph_lock:
        node = holder.node
        leaf = memory_leaf(node)
        memory = user_data.memory_of(node)
        if memory is None or memory.base is not memory or memory.volatile or not memory.allocated:
            return None
        if is_unexecuted(memory) or leaf.size * leaf.dtype.itemsize != memory.nbytes:
            return None
        if _array_of(memory) is None and _is_read_by_others(leaf, holder, storage):
            memory = _take_copy(memory, holder, storage)
        array = _array_on(memory).view(leaf.dtype.numpy).reshape(node.shape)
        return array if storage is None else shown_by(tensor.shows, array)


def share_array(array: NDArray[Any]) -> Tensor:
    """A tensor in the memory of a C-contiguous array."""
    buffer = Buffer.borrow(array)
    if array.flags.writeable:
        _note_array(buffer, array)
    with registry.graph_lock:
        node = memory_node(buffer, array.shape, to_dtype(array.dtype))
        _in_arrays.add(weakref.ref(memory_leaf(node)))
        return hold(node, DEFAULT_DEVICE)


def shared_memory(node: UOp) -> Buffer | None:
    """The memory of a node, if an array shares it."""
    if not _is_used[0]:
        return None
    memory = user_data.memory_of(node)
    return memory if memory is not None and _array_of(memory) is not None else None


def is_in_array(node: UOp) -> bool:
    """Whether a node shows memory that an array shares, without gradients."""
    if not _is_used[0] or is_traced():
        return False
    while node.op in registry.VIEWS:
        node = node.operand
    return shared_memory(node) is not None and not history.leads_to_leaf(node)


def note_written(holder: Core, before: UOp, memory: Buffer) -> None:
    """Record that memory that an array shares must get new values."""
    if not is_traced():
        _written.append((holder, before, memory))


def settle() -> None:
    """Compute the pending writes into shared memory. `graph_lock` is not held."""
    while _written:
        _bring_back(*_written.pop())


def _bring_back(holder: Core, before: UOp, memory: Buffer) -> None:
    array = _array_of(memory)
    if array is None:
        return
    realize: Any = evaluation.realize_batch
    places = _places_in(array, besides=memory)
    if memory.borrowed:
        places.append(memory_leaf(before))
    if places:
        readers = [each for each in tensors_reading(places) if each is not holder]
        realize([each for each in readers if hasattr(each, "numpy")])
    _copy_for_others(holder, before)
    realize([holder])
    with registry.effect_lock, registry.graph_lock:
        computed = user_data.memory_of(holder.node)
        if computed is None or computed is memory:
            return
        leaf = memory_leaf(holder.node)
        values = computed.contents(leaf.dtype.numpy, leaf.shape).reshape(-1)
        place = array.reshape(-1).view(leaf.dtype.numpy)
        changes: list[Any] = clock.overwriting(memory, place, values)
        if not history.leads_to_leaf(holder.node):
            moves: Any = getattr(holder, "moves_to", None)
            changes += registry.moves_to(holder, before) if moves is None else moves(before)
        at_once(changes)


def _places_in(array: NDArray[Any], besides: Buffer) -> list[UOp]:
    """The nodes of other memory that overlaps an array."""
    nodes = [node for reference in _in_arrays if (node := reference()) is not None]
    return [
        node
        for node in nodes
        if (memory := registry.buffer_of(node)) is not None and memory is not besides
        and (other := _array_of(memory)) is not None and numpy.may_share_memory(other, array)
    ]  # fmt: skip


def _copy_for_others(holder: Core, before: UOp) -> None:
    """Copy memory that is about to change for tensors that show it but are not views of it.

    before   y = x.flip(0)   y = FLIP(BUFFER of n), which is never computed, as it is no work
    after    x.add_(1)       y = another BUFFER, which holds what n held
    """
    storage: Any = holder if hasattr(holder, "tensors") else None
    own = {holder.id} if storage is None else {holder.id, *[x.id for x in storage.tensors()]}
    leaf = memory_leaf(before)
    for other in holders_showing(leaf):
        node, shared = other.node, other.shared
        if other.id in own or history.leads_to_leaf(node):
            continue
        if shared is not None and shared.is_reader:
            continue  # it moves with its storage
        values = python_values.to_numpy(hold(node, DEFAULT_DEVICE))
        with registry.graph_lock:
            copy = user_data.node_of(values, None, DEFAULT_DEVICE)
            moves: Any = getattr(other, "moves_to", None)
            at_once(registry.moves_to(other, copy) if moves is None else moves(copy))


def _move_to(node: UOp, holder: Core, storage: Storage | None) -> None:
    """Make a holder, or all tensors of its `storage`, hold another node."""
    at_once(registry.moves_to(holder, node) if storage is None else storage.moves_to(node))


def _be_memory(holder: Core, storage: Storage | None) -> None:
    """Realize a holder, if possible: a lazy value, or a constant, is not memory."""
    constant = constant_of(holder.node)
    if constant is not None:
        try:
            filled = numpy.full(holder.node.shape, constant.arg, constant.dtype.numpy)
        except (MemoryError, ValueError):
            return  # it is too large for NumPy; the copy that follows reports it
        with registry.graph_lock:
            filled_node = user_data.node_of(filled, constant.dtype, DEFAULT_DEVICE)
            _move_to(filled_node, holder, storage)
    elif user_data.memory_of(holder.node) is None:
        realize: Any = evaluation.realize_batch
        realize([holder])
        if storage is not None:
            with registry.graph_lock:
                at_once(storage.moves_to(storage.node))


def _is_read_by_others(leaf: UOp, holder: Core, storage: Storage | None) -> bool:
    """Whether NumPy's writes would change more than a tensor and its views.

    Equal expressions share memory, and lazy tensors read it.
    """
    live = leaf.live
    if live.leaf is not None or live.history is not None:
        return False  # the other readers of a leaf's value are histories
    own = [holder] if storage is None else [holder, *storage.tensors()]
    return bool(live.remembered or read_outside((leaf,), besides={each.id for each in own}))


def _take_copy(memory: Buffer, holder: Core, storage: Storage | None) -> Buffer:
    """Give a holder a copy of its values in memory of its own."""
    node = holder.node
    values = memory.contents(node.dtype.numpy, node.shape)
    copy = user_data.node_of(values, None, DEFAULT_DEVICE)
    _move_to(copy, holder, storage)
    own = user_data.memory_of(copy)
    assert own is not None, "a copy is memory"
    return own


def _array_on(memory: Buffer) -> NDArray[Any]:
    """The array of bytes on the whole memory."""
    known = _array_of(memory)
    if known is not None:
        return known.reshape(-1).view(numpy.uint8)
    array: NDArray[Any] = numpy.asarray(memory)  # all its views keep it alive
    if not memory.borrowed:
        _note_array(memory, array)
    return array


def _note_array(memory: Buffer, array: NDArray[Any]) -> None:
    memory.array = weakref.ref(array)
    _is_used[0] = True


def _array_of(memory: Buffer) -> NDArray[Any] | None:
    return None if memory.array is None else memory.array()
