"""Plain tensors that become eager, and those that are read where they are.

A plain tensor that is small, in memory and alone is *taken up* when an eager one meets it. Where no
gradients flow it is only read, and stays plain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ogive.at_once import at_once
from ogive.compiler.devices.write_clock import clock, is_disturbed
from ogive.compiler.ir.memory import memory_leaf
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history, registry
from ogive.compiler.live.registry import graph_lock
from ogive.compiler.live.waiting_plans import is_unexecuted
from ogive.eager.constant_nodes import constant_value
from ogive.eager.gradients.records import Leaf
from ogive.eager.tensors import DTYPES, EAGER_CLASS, Eager, Family, eager_class
from ogive.tensor.core import DEFAULT_DEVICE
from ogive.tensor.creation import user_data
from ogive.tensor.eager_sizes import allowance
from ogive.tensor.memory import views
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SETTLINGS = 3
"""How often a tensor may settle and be taken up again before it stays plain."""


def take_up(tensor: Any) -> bool:
    """Let a plain tensor that is small and in memory of its own be eager. False if it is not."""
    kind = EAGER_CLASS.get(tensor.__class__)
    if kind is None or tensor.device is not DEFAULT_DEVICE:
        return False
    if getattr(tensor, "settlings", 0) >= MOST_SETTLINGS or history.is_traced():
        return False
    is_leaf = history.is_flagged(tensor)
    if not is_small(tensor.node) or (is_leaf and getattr(tensor, "hooks", None) is not None):
        return False
    if tensor.node.dtype.is_complex and (is_leaf or kind is not Eager):
        return False
    if is_leaf and memory_leaf(tensor.node).op is not Op.BUFFER:
        tensor.realize()
    with graph_lock:
        if tensor.shared is not None and views.shared_storage(tensor) is not None:
            return False
        value = _own_memory(tensor, is_leaf)
        if value is not None:
            _become_eager(tensor, value, is_leaf)
        return value is not None


def read_memory(tensor: Any) -> NDArray[Any] | None:
    """The values in the memory of a small plain tensor, which stays plain. Captured steps know
    their parameters by their memory: who only reads these leaves them where they are."""
    if EAGER_CLASS.get(tensor.__class__) is None or tensor.device is not DEFAULT_DEVICE:
        return None
    node: UOp = tensor.node
    if not is_small(node):
        return None
    base = memory_leaf(node)
    if base.op is Op.BUFFER:
        return _contents(node, base)
    return constant_value(node, lambda buffer: _contents(buffer, buffer))


def show_memory(tensor: Any, readings: list[Any]) -> NDArray[Any] | None:
    """The values in the memory of a plain tensor of any size, where they lie. An operation that
    does little with each element computes with them at once. Afterwards,
    `is_of_one_piece(readings)` says whether nobody wrote to them meanwhile."""
    if EAGER_CLASS.get(tensor.__class__) is None or tensor.device is not DEFAULT_DEVICE:
        return None
    node: UOp = tensor.node
    base = memory_leaf(node)
    if base.op is not Op.BUFFER or node.dtype.numpy not in DTYPES or history.is_traced():
        return None
    if any(length.__class__ is not int for length in node.shape):
        return None
    memory = registry.buffer_of(base)
    if memory is None or memory.is_absent or memory.borrowed or memory.volatile:
        return None
    if memory.is_shown or is_unexecuted(memory):
        return None
    readings.append((clock.moment_of(memory), memory))
    value: NDArray[Any] = memory.contents(node.dtype.numpy, node.shape)
    value.setflags(write=False)
    return value


def is_of_one_piece(readings: list[Any]) -> bool:
    """Whether nobody wrote to memory that was shown, meanwhile."""
    return not any(is_disturbed(moment, (memory,)) for moment, memory in readings)


def read_constant(tensor: Any) -> NDArray[Any] | None:
    """The value of a small plain tensor that follows from constants and of which no gradient is
    wanted: a view, say, that cannot be eager by itself."""
    if EAGER_CLASS.get(tensor.__class__) is None or tensor.device is not DEFAULT_DEVICE:
        return None
    if history.is_traced() or history.is_flagged(tensor) or not is_small(tensor.node):
        return None
    with graph_lock:
        return constant_value(tensor.node, _apart_from_gradients)


def _own_memory(tensor: Tensor, is_leaf: bool) -> NDArray[Any] | None:
    """A copy of what lies in the memory of a tensor that nothing else is to be known of."""
    node = tensor.node
    base = memory_leaf(node)
    if base.op is not Op.BUFFER:
        return None if is_leaf else constant_value(node, _apart_from_gradients)
    if history.has_record(base):
        return None
    return _contents(node, base) if history.is_version(base) == is_leaf else None


def _apart_from_gradients(base: UOp) -> NDArray[Any] | None:
    """The values in memory that no gradient flows to."""
    if history.has_record(base) or history.is_version(base) or not is_small(base):
        return None
    return _contents(base, base)


def _contents(node: UOp, base: UOp) -> NDArray[Any] | None:
    """A copy of what lies in memory of ours that nobody else writes to; None if it is no such."""
    memory = registry.buffer_of(base)
    if memory is None or memory.is_absent or memory.borrowed or memory.volatile:
        return None
    if memory.is_shown or is_unexecuted(memory):
        return None
    moment = clock.moment_of(memory)
    value: NDArray[Any] = numpy.array(memory.contents(node.dtype.numpy, node.shape), order="C")
    return None if is_disturbed(moment, (memory,)) else value


def receive(tensor: Any, value: NDArray[Any]) -> bool:
    """Let a plain tensor whose values are replaced whole be eager, and so those that show all of
    the same memory. False if that cannot be."""
    if EAGER_CLASS.get(tensor.__class__) is None or tensor.device is not DEFAULT_DEVICE:
        return False
    if getattr(tensor, "settlings", 0) >= MOST_SETTLINGS or history.is_traced():
        return False
    if not is_small(tensor.node) or tensor.node.dtype.is_complex:
        return False
    with graph_lock:
        storage = None if tensor.shared is None else views.shared_storage(tensor)
        memory = user_data.memory_of(tensor.node if storage is None else storage.node)
        if memory is None or memory.borrowed or memory.volatile or memory.is_shown:
            return False  # what else shows the memory is to see the values
        members: list[Any] = [tensor] if storage is None else storage.tensors()
        if any(member.__class__ not in EAGER_CLASS or _is_part(member) for member in members):
            return False
        leaves = [member for member in members if history.is_flagged(member)]
        if any(getattr(leaf, "hooks", None) is not None for leaf in leaves):
            return False
        if not leaves and history.is_tracking() and history.leads_to_leaf(tensor.node):
            return False
        first = leaves[0] if leaves else tensor
        for member in members:
            is_leaf = history.is_flagged(member)
            _become_eager(member, value, is_leaf)
        for member in members:
            if member is not first:
                _join(member, first)
        return True


def _is_part(tensor: Any) -> bool:
    return tensor.shared is not None and bool(tensor.shows.moves)


def _join(tensor: Tensor, first: Tensor) -> None:
    if first.family is None:
        first.family = Family(first)
    first.family.admit(tensor)
    tensor.family = first.family
    tensor.shown = (first, Tensor.detach, (), {})


def _become_eager(tensor: Tensor, value: NDArray[Any], is_leaf: bool) -> None:
    """Let a plain tensor hold an array in place of its node, likewise."""
    kind = eager_class(tensor.__class__, value.dtype)
    storage = tensor.shared  # for as long as nothing may run
    at_once(
        [
            (tensor, "value", value),
            (tensor, "record", Leaf(tensor) if is_leaf else None),
            (tensor, "family", None),
            (tensor, "shared", None),
            (tensor, "__class__", kind),
        ]
    )
    registry.forget_tensor(tensor)
    del storage


def is_small(node: UOp) -> bool:
    """Whether an eager tensor could hold the value of a node."""
    count = 1
    for length in node.shape:
        if length.__class__ is not int:
            return False
        count *= length
    return allowance.may_hold(count) and node.dtype.numpy in DTYPES
