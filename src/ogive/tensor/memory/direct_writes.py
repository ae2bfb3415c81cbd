"""Writing to realized memory directly: `x[i] = v` without a graph and without a kernel.

    before   x = AFTER(BUFFER, ASSIGN(SHRINK(BUFFER), v))    until x is asked for
    after    x = BUFFER, whose memory holds v

This is done only where it changes no result: no lazy tensor and no history reads the old values, no
gradient flows, and the new values are known. A constant tensor becomes memory before a part of it
is written.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy

from ogive.at_once import at_once
from ogive.devices.buffer import Buffer
from ogive.devices.write_clock import clock
from ogive.ir.device_names import DEFAULT_DEVICE
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.ir.shape import element_count
from ogive.live import history, registry
from ogive.live.readers import read_outside
from ogive.live.waiting_plans import is_unexecuted
from ogive.tensor.core import Core
from ogive.tensor.creation import user_data
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.values.direct_access import OPERATIONS, PLAIN, may_be_shown, shown_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.memory.views import Storage

MOST_BYTES = 1 << 16
"""How much is written directly, or filled in order to write a part. A kernel is faster for more."""

_CONSTANT = frozenset({Op.RESHAPE, Op.EXPAND})
_SHOWN = frozenset({Op.RESHAPE, Op.EXPAND, Op.SHRINK, Op.PERMUTE, Op.FLIP, Op.DETACH})


def write_directly(
    tensor: Core, storage: Storage | None, view: View, part: UOp, given: Core | None = None
) -> bool:
    """Write the values of `part` to the memory that `view` shows of a tensor, or of its `storage`.

    Returns False, and changes nothing, where that is not possible. `given` is the tensor with the
    values of `part`. If it is an expression of one element, it is replaced by its value, so that it
    does not read the memory that is about to change. The caller holds `graph_lock`.
    """
    holder: Core = tensor if storage is None else storage
    size = part.dtype.itemsize
    if holder.device != DEFAULT_DEVICE or part.dtype not in PLAIN or not _may_be_there(part):
        return False
    if not all(isinstance(length, int) for length in part.shape):
        return False
    if element_count(part.shape) * size > MOST_BYTES:
        return False
    acquired: list[bool] = []
    try:
        # The lock is acquired and recorded in one call of C. An exception from a signal handler
        # between the two would leave it locked for good.
        acquired.extend(starmap(registry.effect_lock.acquire, [(False,)]))
        if not acquired[0] or clock.writers:
            return False  # another thread is writing, and may be waiting for `graph_lock`
        values = _values_of(part)
        if values is None:
            return False
        leaf_and_memory = _memory_of(holder, storage, view)
        if leaf_and_memory is None:
            return False
        leaf, memory = leaf_and_memory
        if given is not None and given.node.op in OPERATIONS and values.size == 1:
            own = user_data.node_of(values.reshape(given.node.shape), None, DEFAULT_DEVICE)
            if own.dtype is given.node.dtype:
                registry.move_tensor(given, own)
        if is_unexecuted(memory) or _is_needed(leaf, tensor, storage):
            return False
        array = memory.as_numpy(leaf.dtype.numpy, holder.node.shape)
        place = shown_by(view, array)
        if place is None:
            return False
        changes = [] if storage is None else _changes_of_copies(storage, leaf)
        at_once([*clock.overwriting(memory, place, values), *changes])
        return True
    finally:
        if acquired and acquired[0]:
            registry.effect_lock.release()


def _may_be_there(part: UOp) -> bool:
    """Whether values are perhaps known without a kernel: a quick test that settles most cases."""
    while part.op is Op.DETACH:
        part = part.operand
    return may_be_shown(part)


def _values_of(part: UOp) -> NDArray[Any] | None:
    """Return the values to write; None if they are not known, or have a history."""
    constant = constant_of(part)
    if constant is not None:
        return numpy.full(part.shape, constant.arg, constant.dtype.numpy)
    while part.op is Op.DETACH:
        part = part.operand
    shown = shown_values(part, [])
    if shown is None:
        return None
    if history.is_tracking() and history.is_recording() and history.leads_to_leaf(part):
        return None
    return numpy.array(shown, dtype=part.dtype.numpy)


def constant_of(node: UOp) -> UOp | None:
    """Return the CONST node of which `node` is an expansion; None if it is no such node."""
    while node.op in _CONSTANT and len(node.src) == 1:
        node = node.operand
    return node if node.op is Op.CONST else None


def _memory_of(
    holder: Core, storage: Storage | None, view: View
) -> tuple[UOp, Buffer] | None:
    """Return the buffer node and the memory of a holder; None if it cannot be written to.

    A small constant of which a part is written becomes memory.
    """
    node = holder.node
    constant = constant_of(node)
    if constant is not None:
        count = element_count(node.shape)
        if not view.moves or node.dtype not in PLAIN or not isinstance(count, int):
            return None
        if not count or count * node.dtype.itemsize > MOST_BYTES:
            return None
        filled = numpy.full(node.shape, constant.arg, constant.dtype.numpy)
        memory = user_data.node_of(filled, node.dtype, DEFAULT_DEVICE)
        at_once(registry.moves_to(holder, memory) if storage is None else storage.moves_to(memory))
        node = memory
    leaf = memory_leaf(node)
    if leaf.op is not Op.BUFFER or leaf.size != element_count(node.shape):
        return None
    buffer: Buffer | None = registry.buffer_of(leaf)
    if buffer is None or buffer.version is None or buffer.base is not buffer:
        return None
    return (leaf, buffer) if buffer.allocated else None


def _is_needed(leaf: UOp, tensor: Core, storage: Storage | None) -> bool:
    """Whether the present values, or their gradients, may still be asked for."""
    live = leaf.live
    if live.remembered or live.history is not None:
        return True
    holders = [tensor] if storage is None else [storage, *storage.tensors()]
    if live.leaf is not None and not any(history.is_flagged(each) for each in holders):
        return True
    if history.is_tracking() and any(each.shows.is_detached for each in holders if each.shared):
        return True
    return bool(read_outside((leaf,), besides={each.id for each in holders}))


def shown_by(view: View, array: NDArray[Any]) -> NDArray[Any] | None:
    """Return the part of an array that a view shows; None if it is not a view of the array."""
    for op, argument, _ in view.steps:
        if op is Op.SHRINK:
            if not all(isinstance(bound, int) for span in argument for bound in span):
                return None
            array = array[tuple([slice(begin, end) for begin, end in argument])]
        elif op is Op.PERMUTE:
            array = array.transpose(argument)
        elif op is Op.FLIP:
            array = numpy.flip(array, argument)
        elif op is Op.RESHAPE:
            shaped = array.reshape(argument)
            if not numpy.shares_memory(shaped, array):
                return None
            array = shaped
        elif op is not Op.CONTIGUOUS and op is not Op.DETACH:
            return None
    return array


def _changes_of_copies(storage: Storage, leaf: UOp) -> list[Any]:
    """Return the changes that update tensors of a storage whose nodes do not read its memory.

    Their nodes were computed into memory of their own.
    """
    changes: list[Any] = []
    for tensor in storage.tensors():
        node = tensor.node
        while node.op in _SHOWN:
            node = node.operand
        if node is not leaf:
            changes += registry.moves_to(tensor, tensor.shows.forward(storage.node))
    return changes
