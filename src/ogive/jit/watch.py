"""Watching a function while it is traced: which tensors it reads and changes, what it may not do.

The tensors that a function finds by itself (in closures, globals, objects) leave no sure mark in
the graph it builds: movements fold and constants are converted on the spot. So the attributes
`node` and `gradient` of tensors are watched themselves while a trace is running, for the tracing
thread; the rest of the time, they are plain slots and cost nothing.
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
from ogive.ir.node import UOp
from ogive.tensor.core import Core, hold
from ogive.tensor.interchange import Interchange
from ogive.tensor.tensor import Tensor

_watches: dict[int, Watch] = {}
_inlining: dict[int, int] = {}
trace_lock = threading.RLock()
"""Held while a function is traced: one at a time, since a trace moves tensors to and fro."""


class Watch:
    """What one trace saw. Tensors with an id from `first` on were made by the function itself."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.read: dict[int, Tensor] = {}
        # Weak, so that what is left after the function was left somewhere by it.
        self.made: list[weakref.ref[Any]] = []
        # For each tensor that was assigned to: the tensor, and one that stands for what it was.
        self.changed: dict[int, tuple[Tensor, Tensor]] = {}
        # For each tensor whose gradient was looked at or set: the tensor, and what it was.
        self.gradients: dict[int, tuple[Tensor, Tensor | None]] = {}
        self.cleared: set[int] = set()  # those whose gradient was set to None

    def is_old(self, tensor: Any) -> bool:
        """Whether a tensor was there before the function was called."""
        return getattr(tensor, "id", self.first) < self.first


def is_tracing() -> bool:
    """Whether this thread is inside a function that is being traced."""
    return bool(_watches) and get_ident() in _watches


@contextmanager
def inlining() -> Iterator[None]:
    """Let captured functions that this thread calls run as they are: a transform looks into them.

    A replay would give values, of which no gradient is known and which have no further axis.
    """
    thread = get_ident()
    _inlining[thread] = _inlining.get(thread, 0) + 1
    try:
        yield
    finally:
        _inlining[thread] -= 1
        if not _inlining[thread]:
            del _inlining[thread]


def is_inlining() -> bool:
    """Whether this thread is inside a function that is being traced or transformed."""
    if not _watches and not _inlining:
        return False
    thread = get_ident()
    return thread in _watches or thread in _inlining


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Watch what this thread does. `trace_lock` is held."""
    assert not _watches, "one trace at a time"
    plain = [(owner, name, owner.__dict__[name]) for owner, name in _WATCHED]
    for owner, name, original in plain:
        type.__setattr__(owner, name, _WATCHED[owner, name](original))
    _watches[get_ident()] = watch
    try:
        yield
    finally:
        del _watches[get_ident()]
        for owner, name, original in plain:
            type.__setattr__(owner, name, original)


class _WatchedNode:
    """`Core.node`, noting what old tensors stand for when they are read and before they change.

    Other threads do not see the changes: for them, a tensor stands for what it was.
    """

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        watch = _watches.get(get_ident())
        if watch is None:
            tensor = _as_before(tensor)
        elif watch.is_old(tensor):
            watch.read.setdefault(tensor.id, tensor)
        return self.slot.__get__(tensor)

    def __set__(self, tensor: Any, node: UOp) -> None:
        watch = _watches.get(get_ident())
        if watch is None:
            tensor = _as_before(tensor)
        elif not hasattr(tensor, "id"):
            watch.made.append(weakref.ref(tensor))
        elif watch.is_old(tensor) and tensor.id not in watch.changed:
            watch.changed[tensor.id] = tensor, hold(self.slot.__get__(tensor), tensor.device)
        self.slot.__set__(tensor, node)


class _WatchedGradient:
    """`Core.gradient`, noting what that of old tensors is before it is looked at or changes.

    Here as well other threads see and set what was there before.
    """

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        watch = self._note(tensor)
        if watch is not None and get_ident() not in _watches:
            return watch.gradients[tensor.id][1]
        return self.slot.__get__(tensor)

    def __set__(self, tensor: Any, gradient: Any) -> None:
        watch = self._note(tensor)
        if watch is not None and get_ident() not in _watches:
            watch.gradients[tensor.id] = tensor, gradient
            return
        if watch is not None and gradient is None:
            watch.cleared.add(tensor.id)
        self.slot.__set__(tensor, gradient)

    def _note(self, tensor: Any) -> Watch | None:
        """The watch that has noted the gradient of a tensor, by now."""
        watch = _watches.get(get_ident())
        if watch is not None and watch.is_old(tensor) and tensor.id not in watch.gradients:
            try:
                before = self.slot.__get__(tensor)
            except AttributeError:
                before = None
            watch.gradients[tensor.id] = tensor, before
        return next((each for each in _watches.values() if tensor.id in each.gradients), None)


def _as_before(tensor: Any) -> Any:
    """The tensor, or one that stands for what it was before a function changed it."""
    for watch in list(_watches.values()):
        _, tensor = watch.changed.get(getattr(tensor, "id", 0), (None, tensor))
    return tensor


_SHOWN = {"__bool__": "bool", "__int__": "int", "__float__": "float", "__array__": "asarray"}


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
    (Core, "gradient"): _WatchedGradient,
    (Tensor, "numpy"): _refuse_values,
    (Interchange, "__dlpack__"): _refuse_values,
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
