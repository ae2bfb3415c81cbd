"""`x.data = y`: gives a tensor other values, perhaps of another shape or dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history, registry
from ogive.compiler.live.registry import graph_lock
from ogive.tensor.core import to_tensor, wrap
from ogive.tensor.memory.movement_chains import Lineage, View
from ogive.tensor.memory.shared_arrays import is_in_array, share, share_array
from ogive.tensor.memory.views import Storage, cut_others, shared_storage
from ogive.tensor.method_functions import eager_calls
from ogive.tensor.tensor import Tensor


def set_data(tensor: Tensor, value: Any) -> None:
    """`tensor.data = value`: the tensor shares the memory of the value from now on.

    Other tensors that showed the same memory keep their values. A value that shows the same memory
    in the same way changes nothing, since `w.data -= x` first writes to it and then sets it.
    """
    if isinstance(value, Tensor) and value.is_eager and eager_calls[set_data](tensor, value):
        return
    given = value if isinstance(value, Tensor) else to_tensor(numpy.asarray(value))
    with graph_lock:
        is_same = tensor.shared is not None and tensor.shared is given.shared
        if is_same and given.shows.movements == tensor.shows.movements:
            return
        tensor.shared = tensor.memory_strides = None
        is_own = not is_in_array(tensor.node)  # otherwise the array would be written
    if is_own and given.shape == tensor.shape and given.dtype is tensor.dtype:
        _unseen(lambda: tensor.assign(given.detach()))
    else:
        replace_value(tensor, given)
    share_memory(tensor, given)


def share_memory(tensor: Tensor, given: Tensor) -> None:
    """Make a tensor that is alone and has the values of `given` share one storage with it.

        before   p = BUFFER 1                 t = BUFFER 2       equal values
        after    p shows storage (BUFFER 1)   t shows DETACH of it

    A storage has at most one leaf, which shows all of it. Where that is not possible, both are in
    the memory of an array. A value computed from leaves is copied, and so is every value while a
    function is captured.
    """
    is_leaf = history.is_flagged(tensor)
    if history.is_traced() or given is tensor or tensor.device != given.device or 0 in given.shape:
        return
    if (given.requires_grad and not given.is_leaf) or (tensor.requires_grad and not is_leaf):
        return
    with graph_lock:
        storage = shared_storage(given) or Storage(given)
        view = given.shows
        if not is_leaf:
            mark = View(view.shape).add(Op.DETACH, Lineage(), view.shape)
            storage.admit(tensor, view.then(mark))
            registry.move_tensor(tensor, tensor.shows.forward(storage.node))
            return
        if not view.moves and not any(history.is_flagged(each) for each in storage.tensors()):
            storage.admit(tensor, View(tensor.node.shape))
            cut_others(tensor, storage)
            registry.move_tensor(storage, tensor.node)
            return
    array = share(given)
    if array is not None and array.flags.c_contiguous:
        with graph_lock:
            registry.move_tensor(tensor, share_array(array).node)


def replace_value(tensor: Tensor, value: Tensor) -> None:
    """Give a tensor other values, perhaps of another dtype or device, in its own memory.

    Its views have them too if shape, dtype and device stay the same.
    """
    if value.is_eager and eager_calls[replace_value](tensor, value):
        return
    with graph_lock:
        copy = wrap(value.detach().node, value.device).contiguous()
        is_alike = copy.shape == tensor.shape and copy.dtype is tensor.dtype
        if is_alike and copy.device == tensor.device and shared_storage(tensor) is not None:
            _unseen(lambda: tensor.assign(copy))
            return
        tensor.shared = tensor.memory_strides = None
    copy.realize()
    with graph_lock:
        tensor.device = copy.device
        registry.move_tensor(tensor, copy.node)


def _unseen(change: Callable[[], Any]) -> None:
    """Make a change that the recording of gradients does not notice."""
    before = history.set_recording(False)
    try:
        change()
    finally:
        history.set_recording(before)
