"""Tensors whose operations are done at once, by NumPy.

A compiler pays where there is much to compute, or where the same is computed often. Most everyday
programs do neither: they add up a few numbers, look at the result and go on. So under `ogive.torch`
small tensors are *eager*: they hold an array instead of a node of a graph.

    torch.tensor([1., 2.])        Eager: value = array([1., 2.])
    _ + 1                         Eager: value = array([2., 3.]), computed by now

An eager tensor becomes a plain one, for good as a rule, when an operation comes that has no form
here (`forms.py`), meets tensors that are large or lazy, or is being captured. It *settles* then:

    before   Eager, value = array([2., 3.])
    after    Tensor, node = BUFFER over these numbers

Who looks at `tensor.node` settles it, so all of the library works on eager tensors as it stands.
What a record (`tape.py`) says it was computed from becomes the same expression of plain tensors.

Tensors that share memory are a `Family`, and settle together: views of arrays become views of a
storage. Nothing but `write` (`writing.py`) changes an array that a tensor holds.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from ogive.devices.write_clock import clock, is_disturbed
from ogive.errors import user_origin
from ogive.ir.dtype import DType, to_dtype
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import history, registry
from ogive.live.registry import graph_lock
from ogive.live.waiting_plans import is_unexecuted
from ogive.nn.parameter import Parameter
from ogive.tensor.core import DEFAULT_DEVICE, Core
from ogive.tensor.creation import user_data
from ogive.tensor.memory import views
from ogive.tensor.tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ogive.eager.tape import Record

MOST_ELEMENTS = 1 << 16
"""How large an eager operand may be. At 65536 floats an operation takes NumPy about 20 µs, and a
compiled graph, found again, 100 µs in all (AMD EPYC, one thread)."""

MOST_SETTLINGS = 3
"""How often a tensor may settle and be taken up again before it stays plain."""

_PLAIN_DTYPES = ("float32", "float64", "int64", "int32", "int16", "int8", "uint8", "bool")
DTYPES: dict[Any, DType] = {numpy.dtype(name): to_dtype(name) for name in _PLAIN_DTYPES}
"""The dtypes that eager tensors have, by NumPy's."""

_SLOTS: dict[str, Any] = {name: Core.__dict__[name] for name in ("node", "shared", "is_flagged")}
"""The slots of tensors, as they are while no function is traced."""


class Family:
    """Tensors that lie in the same memory, the first of which shows all of it.

    What is `saved` for a gradient must not be written to: it is left to the record, and the family
    moves to a copy.
    """

    __slots__ = ("members", "saved")

    def __init__(self, first: Tensor) -> None:
        self.members = [weakref.ref(first)]
        self.saved = False

    def living(self) -> list[Tensor]:
        """The members that are alive and eager, in the order in which they were made."""
        found = [tensor for reference in self.members if (tensor := reference()) is not None]
        if len(found) < len(self.members):
            self.members = [weakref.ref(tensor) for tensor in found]
        return [tensor for tensor in found if tensor.is_eager]


def _settled(name: str) -> Any:
    """An attribute that only plain tensors have: asking for it settles an eager one."""

    def get(self: Tensor) -> Any:
        settle(self)
        return getattr(self, name)

    def put(self: Tensor, value: Any) -> None:
        settle(self)
        setattr(self, name, value)

    return property(get, put)


class Eager(Tensor):
    """A tensor that holds an array. `record` says what it was computed by, where gradients flow
    through it; `shown` which view of which other tensor it is, if it is one."""

    __slots__ = ()

    is_eager = True
    device = DEFAULT_DEVICE
    node = _settled("node")
    id = _settled("id")
    origin = _settled("origin")
    shared = _settled("shared")
    layout = _settled("layout")
    shows = _settled("shows")


class EagerParameter(Eager, Parameter):
    """A parameter that holds an array."""

    __slots__ = ()


PLAIN_CLASS: dict[type, type] = {Eager: Tensor, EagerParameter: Parameter}
EAGER_CLASS: dict[type, type] = {plain: eager for eager, plain in PLAIN_CLASS.items()}

_new: Any = Eager.__new__


def give(array: Any, record: Record | None = None) -> Tensor:
    """An eager tensor that holds what was computed, which nobody else has."""
    made: Tensor = _new(Eager)
    made.value = array if array.__class__ is numpy.ndarray else numpy.asarray(array)
    made.record = record
    made.family = None
    return made


def show(
    source: Tensor, array: NDArray[Any], record: Record | None, call: tuple[Any, ...]
) -> Tensor:
    """An eager tensor that is a view of another: `call` is the function and what else it is given.

    An array that is no view, since NumPy had to copy, belongs to nobody else.
    """
    made = give(array, record)
    own = source.value
    base = array.base
    if base is not None and (base is own or base is own.base):
        family = source.family
        if family is None:
            family = source.family = Family(source)
        made.family = family
        made.shown = (source, *call)
        family.members.append(weakref.ref(made))
        if len(family.members) > 64:
            family.living()
    return made


def is_alone(tensor: Tensor) -> bool:
    """Whether no other living tensor shows the memory of an eager one."""
    family = tensor.family
    if family is None:
        return True
    if len(family.living()) > 1:
        return False
    if not family.saved and getattr(tensor, "shown", None) is None:
        tensor.family = None
    return True


# From eager to plain


def settle(tensor: Tensor) -> None:
    """Let an eager tensor, and those that share its memory, be plain ones."""
    with graph_lock:
        if tensor.is_eager:
            for member in [tensor] if tensor.family is None else tensor.family.living():
                if member.is_eager:
                    _settle(member)


def _settle(tensor: Tensor) -> None:
    shown = getattr(tensor, "shown", None)
    if shown is not None:
        _settle_view(tensor, *shown)
        return
    record = tensor.record
    if record is None or record.is_leaf:
        node = user_data.node_of(tensor.value, None, DEFAULT_DEVICE)
        _become(tensor, node)
        if record is not None:
            history.mark_leaf(tensor)
    else:
        _become(tensor, record.plain().node)


def _settle_view(
    tensor: Tensor, source: Tensor, function: Callable[..., Any], args: Any, kwargs: Any
) -> None:
    if source.is_eager:
        _settle(source)
    recording = history.set_recording(tensor.record is not None)
    try:
        made = function(source, *args, **kwargs)
    finally:
        history.set_recording(recording)
    _become(tensor, made.node)
    del tensor.shown
    if made.shared is not None:
        made.shared.admit(tensor, made.shows)


def _become(tensor: Tensor, node: UOp) -> None:
    """Let a tensor hold a node in place of its array. A trace finds it as one that was there."""
    tensor.__class__ = PLAIN_CLASS[tensor.__class__]
    tensor.settlings = getattr(tensor, "settlings", 0) + 1
    registry.connect(node)
    _SLOTS["node"].__set__(tensor, node)
    _SLOTS["shared"].__set__(tensor, None)
    tensor.device = DEFAULT_DEVICE
    tensor.layout = None
    tensor.origin = user_origin(2)
    if node.origin is None:
        node.origin = tensor.origin
    registry.add_tensor(tensor, is_old=True)
    tensor.value = tensor.family = None


# From plain to eager


def take_up(tensor: Any) -> bool:
    """Let a plain tensor that is small and in memory of its own be eager. False if it is not."""
    kind = EAGER_CLASS.get(tensor.__class__)
    if kind is None or tensor.device is not DEFAULT_DEVICE:
        return False
    if getattr(tensor, "settlings", 0) >= MOST_SETTLINGS or _is_traced():
        return False
    is_leaf = history.is_flagged(tensor)
    if not is_small(tensor.node) or (is_leaf and getattr(tensor, "hooks", None) is not None):
        return False
    if is_leaf and memory_leaf(tensor.node).op is not Op.BUFFER:
        tensor.realize()
    with graph_lock:
        if tensor.shared is not None and views.shared_storage(tensor) is not None:
            return False
        value = _own_memory(tensor, is_leaf)
        if value is not None:
            _become_eager(tensor, kind, value, is_leaf)
        return value is not None


def _own_memory(tensor: Tensor, is_leaf: bool) -> NDArray[Any] | None:
    """A copy of what lies in the memory of a tensor that nothing else is to be known of."""
    node = tensor.node
    base = memory_leaf(node)
    if base.op is not Op.BUFFER or history.has_record(base):
        return None
    if history.is_version(base) != is_leaf:
        return None
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
    if getattr(tensor, "settlings", 0) >= MOST_SETTLINGS or _is_traced():
        return False
    if not is_small(tensor.node):
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
            _become_eager(member, EAGER_CLASS[member.__class__], value, is_leaf)
        for member in members:
            if member is not first:
                _join(member, first)
        return True


def _is_part(tensor: Any) -> bool:
    return tensor.shared is not None and bool(tensor.shows.moves)


def _join(tensor: Tensor, first: Tensor) -> None:
    if first.family is None:
        first.family = Family(first)
    first.family.members.append(weakref.ref(tensor))
    tensor.family = first.family
    tensor.shown = (first, Tensor.detach, (), {})


def _become_eager(tensor: Tensor, kind: type, value: NDArray[Any], is_leaf: bool) -> None:
    from ogive.eager.tape import Leaf

    registry.forget_tensor(tensor)
    if tensor.shared is not None:
        tensor.shared = None
    tensor.__class__ = kind
    tensor.value = value
    tensor.record = Leaf(tensor) if is_leaf else None
    tensor.family = None


def is_small(node: UOp) -> bool:
    """Whether an eager tensor could hold the value of a node."""
    count = 1
    for length in node.shape:
        if length.__class__ is not int:
            return False
        count *= length
    return count <= MOST_ELEMENTS and node.dtype.numpy in DTYPES


def _is_traced() -> bool:
    return bool(history.traced) and threading.get_ident() in history.traced
