"""Tensors under a function that is traced: how it uses them, and what it may not do.

The tensors that a function finds by itself (in closures, globals, objects) leave no sure mark in
the graph it builds: movements fold and constants are converted on the spot. So the attributes of
tensors are watched themselves meanwhile (`watched_slots.py`).

In place of the memory of a tensor that it finds, the function gets a placeholder, as it does for an
argument. Meanwhile other threads see the tensor as it was, may let it stand in other memory, and
the trace remains true.

    w = RESHAPE(BUFFER)     inside   w = RESHAPE(placeholder)     outside   w = RESHAPE(BUFFER)

In the end all is put back. An exception may come in the middle of that; then it is the first thing
that is done whenever something watched is touched again.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from ogive.compiler.ir.layouts import without_mark
from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.traversal import substitute
from ogive.compiler.live import history, registry
from ogive.compiler.live.history import traced
from ogive.errors import TraceError
from ogive.jit.memories import are_there, leaves_of
from ogive.tensor.core import Core
from ogive.tensor.memory.views import shared_storage
from ogive.tensor.tensor import Tensor

plain_node: Any = Core.__dict__["node"]
_plain_shared: Any = Core.__dict__["shared"]
watches: dict[int, Watch] = {}
"""The traces that threads are in."""
_outside: set[int] = set()
"""The threads that are in a trace, and do something that is none of it."""
_inlining: dict[int, list[threading.Lock]] = {}
"""For each thread, locks that are held as long as it is inside a function that is transformed."""
trace_lock = threading.RLock()
"""Held while a function is traced: one at a time, since a trace moves tensors to and fro."""


class CapturedTensor:
    """A tensor that was there before and that the function read, changed or returned.

    It stood for `seen` when the function came upon it, which took it to be `given` and left it as
    `final`; for other threads it stands for `outside` meanwhile, and shows the storage `shared`.
    A view of a storage that is captured itself has no memory of its own; it has `left` where the
    function let it show another.
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
    """The tensors that one trace saw. The function made those with an id from `first` on.

    `message` is for whoever asks for values of a placeholder. `running` is locked until the
    function is left: `with` lets go of it whatever happens. `plain` is what is watched, as it was.
    """

    def __init__(self, first: int, message: str) -> None:
        self.first = first
        # Storages that are not of the function's making, whatever their ids: see `find`.
        self.outside: set[int] = set()
        self.message = message
        self.running = threading.Lock()
        self.undo: Callable[[], None] = _nothing
        self.plain: list[tuple[type, str, Any]] = []
        self.captured: dict[int, CapturedTensor] = {}
        self.placeholders: dict[UOp, UOp] = {}
        # All that show a storage which is found. None of them goes meanwhile: the last that stays
        # leaves the storage, and would be written apart from it.
        self.showing: list[Tensor] = []
        # Weak, so that what is left after the function was left somewhere by it.
        self.made: list[weakref.ref[Any]] = []
        # State that was added for this and all later calls: what each tensor of it began as.
        self.begun: dict[int, UOp] = {}
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
        number = getattr(tensor, "id", self.first)
        return number < self.first or number in self.outside

    def find(self, tensor: Any) -> None:
        """Give a placeholder to a tensor that the function comes upon, if it was there before."""
        if not self.is_old(tensor) or tensor.id in self.captured:
            return
        with registry.graph_lock:
            seen = plain_node.__get__(tensor)
            showing = [] if tensor.shared is None else tensor.shared.tensors()
            storage = shared_storage(tensor)
            if storage is not None:
                # The function has not had this tensor yet, so that it cannot have made the storage.
                # An eager tensor with views gets one as it settles, which may be just now.
                self.outside.add(storage.id)
            if storage is None:
                given = self._stand_in(seen)
                self.captured[tensor.id] = CapturedTensor(tensor, seen, given, is_view=False)
            else:
                self.showing += showing
                self.find(storage)
                given = tensor.shows.forward(plain_node.__get__(storage))
                self.captured[tensor.id] = CapturedTensor(tensor, seen, given, is_view=True)
            plain_node.__set__(tensor, given)
        history.is_flagged(tensor)  # noted

    def _stand_in(self, node: UOp) -> UOp:
        """The node that the function gets for a tensor on `node`: itself where it is no memory."""
        from ogive.jit.tracing.placeholders import flat_without_memory

        if not are_there(node):
            return node
        flats = leaves_of(node)
        for flat in flats:
            if flat not in self.placeholders:
                device, count = flat.arg
                borrowed = registry.buffer_of(flat).borrowed
                self.placeholders[flat] = placeholder = flat_without_memory(
                    (count,), flat.dtype, device, TraceError, self.message, borrowed
                )
                history.stand_for(flat, placeholder)
        exchanged = {flat: self.placeholders[flat] for flat in flats}
        given = substitute((node,), exchanged, revisit=False)[0]
        registry.connect(given)
        if len(flats) > 1:
            history.stand_for(without_mark(node), without_mark(given))
        return given


def _nothing() -> None:
    """Undo nothing."""


def own_watch() -> Watch | None:
    """The trace that this thread is in, if it is in one."""
    thread = get_ident()
    watch = watches.get(thread)
    if watch is not None and not watch.running.locked():
        put_back(thread, watch)  # which an exception has ended before
        return None
    return None if thread in _outside else watch


@contextmanager
def stepping_out() -> Iterator[None]:
    """Inside, this thread sees tensors as other threads do, whatever it traces."""
    thread = get_ident()
    if thread not in watches or thread in _outside:
        yield
        return
    _outside.add(thread)
    traced.discard(thread)
    try:
        yield
    finally:
        _outside.discard(thread)
        if thread in watches:
            traced.add(thread)


def is_tracing() -> bool:
    """Whether this thread is inside a function that is being traced."""
    return bool(watches) and own_watch() is not None


def begin_state(tensor: Any) -> None:
    """Take the present value of a tensor for its value at the beginning of the call: a captured
    function that adds state runs again with it there, and only then changes it."""
    watch = own_watch()
    if watch is not None:
        watch.begun[tensor.id] = tensor.node


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
    if not watches and not _inlining:
        return False
    thread = get_ident()
    while (left := _inlining.get(thread)) and not left[-1].locked():
        left.pop()
    if not left:
        _inlining.pop(thread, None)
    return bool(left) or own_watch() is not None


def put_back(thread: int, watch: Watch) -> None:
    """End a trace. If an exception ends this first, it is done again."""
    with registry.graph_lock, watch.running:
        watch.undo()
        # The tensors first: who reads a plain slot does not wait for the lock.
        for captured in watch.captured.values():
            tensor = captured.tensor
            captured.final = plain_node.__get__(tensor)
            registry.move_tensor(tensor, captured.outside)
            plain_node.__set__(tensor, captured.outside)
            captured.left = _plain_shared.__get__(tensor) is not captured.shared
            if captured.shows is not None:
                tensor.shows = captured.shows
            _plain_shared.__set__(tensor, captured.shared)
        for owner, name, original in watch.plain:
            type.__setattr__(owner, name, original)
        watches.pop(thread, None)
        traced.discard(thread)
        watch.undo = _nothing  # it knows what is traced, which may go now
        watch.showing = []


# A child must not inherit tensors in the middle of another thread's trace.
os.register_at_fork(
    before=trace_lock.acquire,
    after_in_parent=trace_lock.release,
    after_in_child=trace_lock.release,
)
