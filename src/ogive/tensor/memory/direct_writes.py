"""Writes to realized memory in place: `x[i] = v` needs no graph and no kernel.

    before   x = AFTER(BUFFER, ASSIGN(SHRINK(BUFFER), v))    until x is computed
    after    v is in the memory of BUFFER, which x still is

This is done only if the difference cannot be seen: no lazy tensor and no history reads the old
values, no gradient flows, and the new values are available. A constant of which a part is written
becomes memory first.
"""

from __future__ import annotations

from itertools import starmap
from typing import TYPE_CHECKING, Any

import numpy

from ogive.at_once import at_once
from ogive.compiler.devices.buffer import Buffer
from ogive.compiler.devices.write_clock import clock
from ogive.compiler.ir.device_names import DEFAULT_DEVICE
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.ir.shape import element_count
from ogive.compiler.live import history, registry
from ogive.compiler.live.readers import read_outside
from ogive.compiler.live.waiting_plans import is_unexecuted
from ogive.tensor.core import Core
from ogive.tensor.creation import user_data
from ogive.tensor.memory.movement_chains import View
from ogive.tensor.values.direct_access import OPERATIONS, PLAIN, may_be_shown, shown_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.tensor.memory.views import Storage

MOST_BYTES = 1 << 16
"""The most bytes that are written directly, or filled for that. Kernels copy more much faster."""

_CONSTANT = frozenset({Op.RESHAPE, Op.EXPAND})
_SHOWN = frozenset({Op.RESHAPE, Op.EXPAND, Op.SHRINK, Op.PERMUTE, Op.FLIP, Op.DETACH})


def write_directly(
    tensor: Core, storage: Storage | None, view: View, part: UOp, given: Core | None = None
) -> bool:
    """Write the values of `part` where `view` shows the memory of a tensor, or of its `storage`.

    They are the values of the tensor `given`, which need not read the memory for them again. False
    if that is not possible, and then nothing has changed. `graph_lock` is held.
    """
    holder: Core = tensor if storage is None else storage
    size = part.dtype.itemsize
    if holder.device != DEFAULT_DEVICE or part.dtype not in PLAIN or not _may_be_there(part):
        return False
    if not all(isinstance(length, int) for length in part.shape):
        return False
    if element_count(part.shape) * size > MOST_BYTES:
        return False
    taken: list[bool] = []
    try:
        # Acquired and recorded by one C call: an exception between would leave the lock held.
        taken.extend(starmap(registry.effect_lock.acquire, [(False,)]))
        if not taken[0] or clock.writers:
            return False  # another thread is writing; it may be waiting for `graph_lock`
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
        changes = [] if storage is None else _others(storage, leaf)
        at_once([*clock.overwriting(memory, place, values), *changes])
        return True
    finally:
        if taken and taken[0]:
            registry.effect_lock.release()


def _may_be_there(part: UOp) -> bool:
    """Whether values may be available without a kernel: a quick test that is enough for most."""
    while part.op is Op.DETACH:
        part = part.operand
    return may_be_shown(part)


def _values_of(part: UOp) -> NDArray[Any] | None:
    """The values to write, if they are available."""
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
    """The constant that a node repeats, if it is a constant under movements; else None."""
    while node.op in _CONSTANT and len(node.src) == 1:
        node = node.operand
    return node if node.op is Op.CONST else None


def _memory_of(
    holder: Core, storage: Storage | None, view: View
) -> tuple[UOp, Buffer] | None:
    """The buffer node of a holder, and its memory, if we may write to it."""
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
    """Whether the present values, or their gradients, may still be needed."""
    live = leaf.live
    if live.remembered or live.history is not None:
        return True
    shown = [tensor] if storage is None else [storage, *storage.tensors()]
    if live.leaf is not None and not any(history.is_flagged(each) for each in shown):
        return True
    if history.is_tracking() and any(each.shows.is_detached for each in shown if each.shared):
        return True
    return bool(read_outside((leaf,), besides={each.id for each in shown}))


def shown_by(view: View, array: NDArray[Any]) -> NDArray[Any] | None:
    """The elements of an array that a view shows, without a copy; None if that is not possible."""
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


def _others(storage: Storage, leaf: UOp) -> list[Any]:
    """The changes that give the new values to tensors of a storage with memory of their own."""
    changes: list[Any] = []
    for tensor in storage.tensors():
        node = tensor.node
        while node.op in _SHOWN:
            node = node.operand
        if node is not leaf:
            changes += registry.moves_to(tensor, tensor.shows.forward(storage.node))
    return changes
