"""Watching a function while it is traced: which tensors it reads and changes, what it may not do.

The tensors that a function finds by itself (in closures, globals, objects) leave no sure mark in
the graph it builds: movements fold and constants are converted on the spot. So the attributes
`node` and `gradient` of tensors are watched themselves while a trace is running, for the tracing
thread; the rest of the time, they are plain slots and cost nothing.

In place of the memory of a tensor that it finds, the function gets a placeholder, as it does for an
argument. Meanwhile other threads see the tensor as it was, may let it stand in other memory, and
the trace remains true.

    w = RESHAPE(BUFFER)     inside   w = RESHAPE(placeholder)     outside   w = RESHAPE(BUFFER)

In the end all is put back. An exception may come in the middle of that; then it is the first thing
that is done whenever something watched is touched again.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from ogive.errors import PACKAGE_FOLDER, TraceError
from ogive.ir.memory import memory_leaf
from ogive.ir.node import UOp, substitute
from ogive.ir.ops import Op
from ogive.live import history, registry
from ogive.tensor.core import Core
from ogive.tensor.memory.views import Storage, shared_storage, traced
from ogive.tensor.tensor import Tensor

_plain_node: Any = Core.__dict__["node"]
_plain_shared: Any = Core.__dict__["shared"]
_watches: dict[int, Watch] = {}
_inlining: dict[int, list[threading.Lock]] = {}
"""For each thread, locks that are held as long as it is inside a function that is transformed."""
trace_lock = threading.RLock()
"""Held while a function is traced: one at a time, since a trace moves tensors to and fro."""


class Found:
    """A tensor that was there before and that the function read, changed or returned.

    It stood for `seen` when the function came upon it, which took it to be `given` and left it as
    `final`; for other threads it stands for `outside` meanwhile, and shows the storage `shared`.
    What is a view of a storage that is found itself has no memory of its own; it has `left` where
    the function let it show another.
    """

    __slots__ = (
        "final", "given", "is_view", "left", "outside", "seen", "shared", "shows", "tensor",
    )  # fmt: skip

    def __init__(self, tensor: Any, seen: UOp, given: UOp, is_view: bool) -> None:
        self.tensor = tensor
        self.seen = self.outside = seen
        self.given = self.final = given
        self.is_view = is_view
        self.left = False
        self.shared = tensor.shared
        self.shows = getattr(tensor, "shows", None)


class Watch:
    """What one trace saw. Tensors with an id from `first` on were made by the function itself.

    `message` is for whoever asks for values of a placeholder. `running` is locked until the
    function is left: `with` lets go of it whatever happens. `plain` is what is watched, as it was.
    """

    def __init__(self, first: int, message: str) -> None:
        self.first = first
        self.message = message
        self.running = threading.Lock()
        self.undo: Callable[[], None] = _nothing
        self.plain: list[tuple[type, str, Any]] = []
        self.found: dict[int, Found] = {}
        self.placeholders: dict[UOp, UOp] = {}
        # Weak, so that what is left after the function was left somewhere by it.
        self.made: list[weakref.ref[Any]] = []
        # For each tensor whose gradient was looked at or set: the tensor, and what it was.
        self.gradients: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.cleared: set[int] = set()  # those whose gradient was set to None
        self.discarded: set[int] = set()  # and those that nobody had looked at before
        # Arguments that have a gradient, which the function does not get: how they are called.
        self.withheld: dict[int, str] = {}
        # For each tensor of which it was asked: whether it is a leaf, and its hooks.
        self.flags: dict[int, tuple[Any, bool]] = {}
        self.hooks: dict[int, tuple[Any, Any]] = {}

    def is_old(self, tensor: Any) -> bool:
        """Whether a tensor was there before the function was called."""
        return getattr(tensor, "id", self.first) < self.first

    def find(self, tensor: Any) -> None:
        """Give a placeholder to a tensor that the function comes upon, if it was there before."""
        if not self.is_old(tensor) or tensor.id in self.found:
            return
        with registry.graph_lock:
            seen = _plain_node.__get__(tensor)
            storage = shared_storage(tensor)
            if storage is None or not self.is_old(storage):
                given = self._stand_in(seen)
                self.found[tensor.id] = Found(tensor, seen, given, is_view=False)
            else:
                self.find(storage)
                given = tensor.shows.forward(_plain_node.__get__(storage))
                self.found[tensor.id] = Found(tensor, seen, given, is_view=True)
            _plain_node.__set__(tensor, given)
        history.is_flagged(tensor)  # noted

    def _stand_in(self, node: UOp) -> UOp:
        """What the function gets for a tensor on `node`; the node itself where it is no memory."""
        from ogive.jit.placeholder import flat_without_memory

        flat = memory_leaf(node)
        if flat.op is not Op.BUFFER:
            return node
        if flat not in self.placeholders:
            device, count = flat.arg
            borrowed = registry.buffer_of(flat).borrowed
            self.placeholders[flat] = placeholder = flat_without_memory(
                (count,), flat.dtype, device, TraceError, self.message, borrowed
            )
            history.stand_for(flat, placeholder)
        given = substitute((node,), {flat: self.placeholders[flat]}, revisit=False)[0]
        registry.connect(given)
        return given


def _nothing() -> None:
    """Undo nothing."""


def _own_watch() -> Watch | None:
    """The trace that this thread is in, if it is in one."""
    watch = _watches.get(get_ident())
    if watch is not None and not watch.running.locked():
        _put_back(get_ident(), watch)  # which an exception has ended before
        return None
    return watch


def is_tracing() -> bool:
    """Whether this thread is inside a function that is being traced."""
    return bool(_watches) and _own_watch() is not None


@contextmanager
def inlining() -> Iterator[None]:
    """Let captured functions that this thread calls run as they are: a transform looks into them.

    A replay would give values, of which no gradient is known and which have no further axis.
    """
    inside = threading.Lock()
    with inside:
        _inlining.setdefault(get_ident(), []).append(inside)
        yield


def is_inlining() -> bool:
    """Whether this thread is inside a function that is being traced or transformed."""
    if not _watches and not _inlining:
        return False
    thread = get_ident()
    while (left := _inlining.get(thread)) and not left[-1].locked():
        left.pop()
    if not left:
        _inlining.pop(thread, None)
    return bool(left) or _own_watch() is not None


@contextmanager
def watching(watch: Watch, undo: Callable[[], None]) -> Iterator[None]:
    """Watch what this thread does; `trace_lock` is held.

    In the end all is put back, what `undo` knows of and the tensors, in one step for others.
    """
    for thread, left in list(_watches.items()):
        _put_back(thread, left)
    watch.undo = undo
    watch.plain = [(owner, name, owner.__dict__[name]) for owner, name in _WATCHED]
    thread = get_ident()
    try:
        with watch.running:
            with registry.graph_lock:
                _watches[thread] = watch
                traced.add(thread)
                for owner, name, original in watch.plain:
                    type.__setattr__(owner, name, _WATCHED[owner, name](original))
            yield
    finally:
        _put_back(thread, watch)


def _put_back(thread: int, watch: Watch) -> None:
    """End a trace. If an exception ends this first, it is done again."""
    with registry.graph_lock, watch.running:
        watch.undo()
        # The tensors first: who reads a plain slot does not wait for the lock.
        for found in watch.found.values():
            tensor = found.tensor
            found.final = _plain_node.__get__(tensor)
            registry.move_tensor(tensor, found.outside)
            _plain_node.__set__(tensor, found.outside)
            found.left = _plain_shared.__get__(tensor) is not found.shared
            if found.shows is not None:
                tensor.shows = found.shows
            _plain_shared.__set__(tensor, found.shared)
        for owner, name, original in watch.plain:
            type.__setattr__(owner, name, original)
        _watches.pop(thread, None)
        traced.discard(thread)
        watch.undo = _nothing  # it knows what is traced, which may go now


class _WatchedNode:
    """`Core.node`, noting what old tensors stand for before they are read or changed.

    Other threads do not see the changes: for them, a tensor stands for what it was, or for what
    they let it stand for since.
    """

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        watch = _own_watch()
        if watch is not None:
            watch.find(tensor)
            return self.slot.__get__(tensor)
        with registry.graph_lock:
            found = _found_by_others(tensor)
            return self.slot.__get__(tensor) if found is None else found.outside

    def __set__(self, tensor: Any, node: UOp) -> None:
        watch = _own_watch()
        if watch is not None:
            if not hasattr(tensor, "id") and not isinstance(tensor, Storage):
                watch.made.append(weakref.ref(tensor))
            watch.find(tensor)
            self.slot.__set__(tensor, node)
            return
        with registry.graph_lock:
            found = _found_by_others(tensor)
            if found is None:
                self.slot.__set__(tensor, node)
            else:
                found.outside = node


def _found_by_others(tensor: Any) -> Found | None:
    """What a function that is traced has made of a tensor. `graph_lock` is held."""
    number = getattr(tensor, "id", 0)
    return next((watch.found[number] for watch in _watches.values() if number in watch.found), None)


class _WatchedStorage:
    """`Core.shared`: views that the function makes of old tensors are no matter of others."""

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        if _own_watch() is None:
            with registry.graph_lock:
                found = _found_by_others(tensor)
                if found is not None:
                    return found.shared
        return self.slot.__get__(tensor)

    def __set__(self, tensor: Any, storage: Storage | None) -> None:
        if _own_watch() is None:
            with registry.graph_lock:
                found = _found_by_others(tensor)
                if found is not None:
                    found.shared = storage
                    return
        self.slot.__set__(tensor, storage)


class _WatchedGradient:
    """`Core.gradient`, noting what that of old tensors is before it is looked at or changes.

    Here as well other threads see and set what was there before.
    """

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        watch = _own_watch()
        if watch is not None:
            self._note(watch, tensor)
            return self.slot.__get__(tensor)
        with registry.graph_lock:
            other = self._noted_by_others(tensor)
            return self.slot.__get__(tensor) if other is None else other.gradients[tensor.id][1]

    def __set__(self, tensor: Any, gradient: Any) -> None:
        watch = _own_watch()
        if watch is not None:
            is_first = tensor.id not in watch.gradients
            self._note(watch, tensor)
            if gradient is None and tensor.id in watch.gradients:
                watch.cleared.add(tensor.id)
                if is_first:
                    watch.discarded.add(tensor.id)
            self.slot.__set__(tensor, gradient)
            return
        with registry.graph_lock:
            other = self._noted_by_others(tensor)
            if other is None:
                self.slot.__set__(tensor, gradient)
            else:
                other.gradients[tensor.id] = tensor, gradient

    def _note(self, watch: Watch, tensor: Any) -> None:
        if tensor.id in watch.withheld:
            raise TraceError(
                f"{watch.withheld[tensor.id]} has a gradient, which a captured function can "
                "neither read nor add to where the tensor is an argument; set grad to None first, "
                "or let the function find the tensor by itself"
            )
        if not watch.is_old(tensor) or tensor.id in watch.gradients:
            return
        with registry.graph_lock:
            try:
                before = self.slot.__get__(tensor)
            except AttributeError:
                before = None
            watch.gradients[tensor.id] = tensor, before

    def _noted_by_others(self, tensor: Any) -> Watch | None:
        return next((each for each in _watches.values() if tensor.id in each.gradients), None)


class _WatchedFact:
    """A slot of old tensors that is noted when it is first looked at or set."""

    def __init__(self, slot: Any, noted: str, absent: Any) -> None:
        self.slot = slot
        self.noted = noted
        self.absent = absent

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        self._note(tensor)
        return self.slot.__get__(tensor)

    def __set__(self, tensor: Any, value: Any) -> None:
        self._note(tensor)
        self.slot.__set__(tensor, value)

    def _note(self, tensor: Any) -> None:
        watch = _watches.get(get_ident())
        if watch is None or not watch.is_old(tensor):
            return
        noted = getattr(watch, self.noted)
        if tensor.id not in noted:
            try:
                noted[tensor.id] = tensor, self.slot.__get__(tensor)
            except AttributeError:
                noted[tensor.id] = tensor, self.absent


_SHOWN = {
    "to_bool": "bool", "to_int": "int", "to_float": "float", "to_complex": "complex",
    "to_array": "asarray", "to_index": "__index__", "formatted": "format",
    "contains": "__contains__", "get_item": "__getitem__", "set_item": "__setitem__",
}  # fmt: skip
"""Functions that are methods by another name: what the user wrote."""


def _refuse_values(original: Any) -> Callable[..., Any]:
    def numpy(self: Tensor, **keywords: Any) -> Any:
        if is_tracing() and not _is_known(self):
            name = _called()
            raise TraceError(
                f"{_SHOWN.get(name, name)}() asks for values inside a function that ogive.jit is "
                "capturing, where there are none yet; compute with tensors (ogive.where instead of "
                "if), return what you need, or call this part outside"
            )
        return original(self, **keywords)

    return numpy


def _is_known(tensor: Tensor) -> bool:
    """Whether the values are in the program and not in memory."""
    return tensor.node.op.name == "CONST" or 0 in tensor.shape


def _called() -> str:
    """The name of the function of ours that the user called."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(PACKAGE_FOLDER):
        frame = frame.f_back
    return frame.f_code.co_name


def _refuse_plans(original: Any) -> Any:
    def prepare_batch(*args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            raise TraceError("a plan cannot be prepared inside a function that ogive.jit captures")
        return original.__func__(*args, **kwargs)

    return staticmethod(prepare_batch)


def _skip_realize(original: Any) -> Callable[..., Any]:
    # The function becomes one graph: what it computes half-way is computed with the rest.
    def realize(self: Tensor, config: Any = None) -> Tensor:
        return self if is_tracing() else original(self, config)

    return realize


def _skip_realize_batch(original: Any) -> Any:
    def realize_batch(*args: Any, **kwargs: Any) -> None:
        if not is_tracing():
            original.__func__(*args, **kwargs)

    return staticmethod(realize_batch)


def _without_values(original: Any) -> Callable[[Tensor], str]:
    def __repr__(self: Tensor) -> str:
        if not is_tracing():
            return str(original(self))
        facts = f"shape={self.shape}, dtype={self.dtype.name}, device={self.device}"
        return f"Tensor({facts}, inside a captured function)"

    return __repr__


_WATCHED: dict[tuple[type, str], Callable[[Any], Any]] = {
    (Core, "node"): _WatchedNode,
    (Core, "shared"): _WatchedStorage,
    (Core, "gradient"): _WatchedGradient,
    (Core, "is_flagged"): lambda slot: _WatchedFact(slot, "flags", False),
    (Core, "hooks"): lambda slot: _WatchedFact(slot, "hooks", None),
    (Tensor, "numpy"): _refuse_values,
    (Tensor, "__dlpack__"): _refuse_values,
    (Tensor, "realize"): _skip_realize,
    (Tensor, "realize_batch"): _skip_realize_batch,
    (Tensor, "prepare_batch"): _refuse_plans,
    (Tensor, "__repr__"): _without_values,
}


if hasattr(os, "register_at_fork"):
    # A child must not inherit tensors in the middle of another thread's trace.
    os.register_at_fork(
        before=trace_lock.acquire,
        after_in_parent=trace_lock.release,
        after_in_child=trace_lock.release,
    )
