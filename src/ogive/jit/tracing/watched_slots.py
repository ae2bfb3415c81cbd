"""The slots of tensors while a function is traced: the one place where classes are changed.

Every operation reads `tensor.node`, which is a slot: a load of 20 ns. A property that asked whether
somebody is tracing would cost each of them five times as much, so the descriptors are exchanged for
the time of a trace, for the whole process:

    Core.node     slot ── trace begins ── _WatchedNode(slot) ── trace ends ── slot

Why that is safe for threads that do not trace:
1. The exchange is one store into the class, under `graph_lock`. A thread that loaded the plain
   descriptor before it reads and writes the same slot: what it wrote then is what `find` sees.
2. No tensor stands for a placeholder before all descriptors are exchanged, and none does any more
   when they are put back: `put_back` moves the tensors first. So the plain slot never shows one.
3. In between, the watched descriptors show others `CapturedTensor.outside`, and keep what they
   store there, under `graph_lock`, until it goes into the slot.
4. One trace at a time exchanges anything (`trace_lock`), and a fork waits for its end.
5. An exception may come anywhere: `Watch.running` tells that a trace was left, and the next who
   touches anything watched puts all back, which may be repeated. (`tests/injection` raises one
   between any two instructions.)
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.live import registry
from ogive.compiler.live.history import traced
from ogive.errors import PACKAGE_FOLDER, TraceError
from ogive.jit.tracing.watch import CapturedTensor, Watch, is_tracing, own_watch, put_back, watches
from ogive.tensor.core import Core
from ogive.tensor.memory.views import Storage
from ogive.tensor.tensor import Tensor


@contextmanager
def watching(watch: Watch, undo: Callable[[], None]) -> Iterator[None]:
    """Watch what this thread does; `trace_lock` is held.

    In the end all is put back, what `undo` knows of and the tensors, in one step for others.
    """
    for thread, left in list(watches.items()):
        put_back(thread, left)
    watch.undo = undo
    watch.plain = [(owner, name, owner.__dict__[name]) for owner, name in _WATCHED]
    thread = get_ident()
    try:
        with watch.running:
            with registry.graph_lock:
                watches[thread] = watch
                traced.add(thread)
                for owner, name, original in watch.plain:
                    type.__setattr__(owner, name, _WATCHED[owner, name](original))
            yield
    finally:
        put_back(thread, watch)


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
        watch = own_watch()
        if watch is not None:
            watch.find(tensor)
            return self.slot.__get__(tensor)
        with registry.graph_lock:
            record = _captured_by_others(tensor)
            return self.slot.__get__(tensor) if record is None else record.outside

    def __set__(self, tensor: Any, node: UOp) -> None:
        watch = own_watch()
        if watch is not None:
            if not hasattr(tensor, "id") and not isinstance(tensor, Storage):
                watch.made.append(weakref.ref(tensor))
            watch.find(tensor)
            self.slot.__set__(tensor, node)
            return
        with registry.graph_lock:
            record = _captured_by_others(tensor)
            if record is None:
                self.slot.__set__(tensor, node)
            else:
                record.outside = node


def _captured_by_others(tensor: Any) -> CapturedTensor | None:
    """The record of a tensor that another thread's trace has captured. `graph_lock` is held."""
    number = getattr(tensor, "id", 0)
    records = [watch.captured[number] for watch in watches.values() if number in watch.captured]
    return records[0] if records else None


class _WatchedStorage:
    """`Core.shared`: views that the function makes of old tensors are no matter of others."""

    def __init__(self, slot: Any) -> None:
        self.slot = slot

    def __get__(self, tensor: Any, owner: Any = None) -> Any:
        if tensor is None:
            return self
        if own_watch() is None:
            with registry.graph_lock:
                record = _captured_by_others(tensor)
                if record is not None:
                    return record.shared
        return self.slot.__get__(tensor)

    def __set__(self, tensor: Any, storage: Storage | None) -> None:
        if own_watch() is None:
            with registry.graph_lock:
                record = _captured_by_others(tensor)
                if record is not None:
                    record.shared = storage
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
        watch = own_watch()
        if watch is not None:
            self._note(watch, tensor)
            return self.slot.__get__(tensor)
        with registry.graph_lock:
            other = self._noted_by_others(tensor)
            return self.slot.__get__(tensor) if other is None else other.gradients[tensor.id][1]

    def __set__(self, tensor: Any, gradient: Any) -> None:
        watch = own_watch()
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
        return next((each for each in watches.values() if tensor.id in each.gradients), None)


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
        watch = watches.get(get_ident())
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
    def numpy(self: Tensor, *args: Any, **keywords: Any) -> Any:
        if is_tracing() and not _is_known(self):
            name = _called()
            raise TraceError(
                f"{_SHOWN.get(name, name)}() asks for values inside a function that ogive.jit is "
                "capturing, where there are none yet; compute with tensors (ogive.where instead of "
                "if), return what you need, or call this part outside"
            )
        return original(self, *args, **keywords)

    return numpy


def _refuse_array(original: Any) -> Callable[..., Any]:
    refusing = _refuse_values(original)

    def to_array(self: Tensor, *args: Any, **keywords: Any) -> Any:
        return refusing(self, *args, **keywords)

    return to_array


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
    (Tensor, "__array__"): _refuse_array,
    (Tensor, "__dlpack__"): _refuse_values,
    (Tensor, "realize"): _skip_realize,
    (Tensor, "realize_batch"): _skip_realize_batch,
    (Tensor, "prepare_batch"): _refuse_plans,
    (Tensor, "__repr__"): _without_values,
}
