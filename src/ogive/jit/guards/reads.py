"""Reads of a function that is traced, besides its arguments.

Functions are entered by their code: the globals it names, the cells of its closure, its defaults.
Objects that are found there are *known*, and which of their attributes are read is watched: their
classes have a `__getattribute__` of ours meanwhile, for the tracing thread. What is read from a
known object is known in turn. Lists, dictionaries and the like are taken as a whole. Classes and
modules are looked into for the names that the entered code uses.

    model.layers[0].scale     Place(globals, "model"), Place(model, "layers"), Content(layers),
                              Place(layers[0], "scale")

What is noted is what was there before the function: what it has put there itself is no matter of
its caller's.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import os
import sys
import types
from collections import deque
from collections.abc import Iterable
from threading import get_ident
from typing import Any

import numpy

from ogive.compiler.ir.node import UOp
from ogive.jit.guards.codes import is_users, names_in
from ogive.jit.guards.places import (
    ABSENT,
    CONSTANTS,
    CONTAINERS,
    Absence,
    Content,
    Place,
    Record,
    content_of,
    elements_of,
    is_same,
    structure_of,
)
from ogive.jit.guards.reachable import attributes_of, is_open, parts_of
from ogive.jit.guards.unwatched import why_uncalled, why_unwatched
from ogive.tensor.creation.supplied_numbers import Supplier
from ogive.tensor.tensor import Tensor

_LEAVES = (*CONSTANTS, Tensor, Supplier, UOp, numpy.generic)
_reading: dict[int, Reads] = {}

OBJECT_LIMIT = 100_000
"""Most objects that are known, in case a function can reach the whole program."""

_TOO_MANY = f"it reaches more than {OBJECT_LIMIT} objects, and not all of them are watched"


class Reads:
    """The reads of one trace. `first` is the least id of a tensor that the function makes."""

    def __init__(self, first: int) -> None:
        self.unwatched: dict[str, str] = {}
        self._first = first
        self._records: dict[tuple[Any, ...], Record] = {}
        self._before: list[Record] = []
        self._known: dict[int, tuple[Any, str]] = {}
        # Of each known object its attributes, and what they were.
        self._attributes: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._read: set[tuple[int, str]] = set()
        self._waiting: deque[tuple[Any, str]] = deque()
        self._names: set[str] = set()
        # Of classes and modules: where they are defined, how they are called, what they hold.
        self._entries: dict[int, tuple[str, str, Any]] = {}
        self._patched: list[type] = []

    def begin(self, function: Any, owners: Iterable[tuple[str, Any]]) -> None:
        """Watch this thread, which is about to call `function` with the objects `owners`."""
        _reading[get_ident()] = self
        self.come_upon(function, "")
        for path, owner in owners:
            self.come_upon(owner, path)

    def end(self) -> None:
        """Watch no more."""
        _reading.pop(get_ident(), None)
        for kind in reversed(self._patched):
            type.__delattr__(kind, "__getattribute__")
        self._patched.clear()

    def settle(self) -> list[Record]:
        """All records, once the function has returned.

        What a function adds to a container is added while it is traced, as whatever it does
        besides: a list that it has made longer is taken to be a log, and only what was in it
        before is watched; a dictionary is a cache, and watched as it is now. A container in whose
        place it has left an equal one is that one from now on.
        """
        before = list(self._records.values())
        held = {id(record.container): record for record in before if isinstance(record, Content)}
        self._before = _without_replaced(before, held)
        records: list[Record] = []
        for record in before:
            if isinstance(record, Place) and isinstance(record.value, CONTAINERS):
                records.append(_exchanged(record, held))
            elif not isinstance(record, Content):
                records.append(record)
        for content in held.values():
            if not content.has_grown_to(now := content.now()):
                records.append(content)
            elif isinstance(now.container, dict | set):
                records.append(now)
            else:
                records += content.places()
        # Else what the function has made and left in a container would seem to be kept outside.
        for entries in (self._known, self._attributes, self._records):
            entries.clear()
        self._records.update({(at,): record for at, record in enumerate(records)})
        return records

    def undo(self) -> None:
        """Put back what was there before the function, in all that it has read: it could not be
        captured, and may be called as it is."""
        for record in self._before or list(self._records.values()):
            with contextlib.suppress(AttributeError, TypeError):  # what refuses was not changed
                record.restore()

    def places_of_tensors(self) -> list[Place]:
        """The places where tensors were."""
        places: list[Place] = []
        for record in self._records.values():
            if isinstance(record, Content):
                places += [each for each in record.places() if isinstance(each.value, Tensor)]
            elif isinstance(record, Place) and isinstance(record.value, Tensor):
                places.append(record)
        return places

    # Coming upon things

    def come_upon(self, value: Any, path: str) -> None:
        """Know an object, and what can be read through it at once."""
        self._waiting.append((value, path))
        while self._waiting:
            self._know(*self._waiting.popleft())

    def _know(self, value: Any, path: str) -> None:
        if isinstance(value, _LEAVES) or id(value) in self._known:
            return
        if len(self._known) > OBJECT_LIMIT:
            self.unwatched["too many objects"] = _TOO_MANY
            return
        self._known[id(value)] = value, path
        reason = why_unwatched(value)
        if reason is not None:
            self.unwatched.setdefault(path, reason)
        elif isinstance(value, types.FunctionType):
            # What is defined in a bare dictionary, by exec, says that it is of `builtins`.
            if is_users(value.__module__) or "__name__" not in value.__globals__:
                self._enter(value, path)
        elif isinstance(value, type):
            self._own(value)
        elif isinstance(value, types.ModuleType):
            if is_users(value.__name__):
                self._entries[id(value)] = value.__name__, path, vars(value)
                self._look_into(*self._entries[id(value)], self._names)
        elif isinstance(value, numpy.ndarray):
            self._note(elements_of(value, path))
        elif isinstance(value, tuple | frozenset):
            for position, entry in enumerate(value):
                self._waiting.append((entry, f"{path}[{position}]"))
        else:
            self._know_object(value, path)

    def _know_object(self, value: Any, path: str) -> None:
        for attribute in parts_of(value):
            self._waiting.append((getattr(value, attribute), path))
        if isinstance(value, CONTAINERS):
            content = content_of(value, path)
            if not getattr(type(value), "is_fixed", False):
                self._note(content)
            for key, entry in zip(content.labels(), content.values, strict=True):
                self._waiting.append((entry, f"{path}[{key!r}]"))
        if is_open(type(value)):
            attributes = attributes_of(value)
            if attributes is not None:
                self._attributes[id(value)] = attributes, dict(attributes)
            if not self._patch(type(value)) and attributes is not None:
                self._waiting.append((attributes, path))
            self._own(type(value))

    def _enter(self, function: types.FunctionType, path: str) -> None:
        """Look into all that a function can read: its globals, its closure, its defaults."""
        code = function.__code__
        names = names_in(code)
        shown = path or function.__name__
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            self._find(Place(function, name, getattr(function, name), True, f"{shown}.{name}"))
        modules = []
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            place = Place(cell, "cell_contents", None, True, name)
            value = place.now()
            if value is not ABSENT:
                self._find(place._replace(value=value))
                modules.append(value)
        namespace = function.__globals__
        for name in sorted(names.globals):
            if name in namespace:
                place = Place(namespace, name, namespace[name], False, name)
                is_module = isinstance(place.value, types.ModuleType)
                (self._note if is_module else self._find)(place)
            elif not hasattr(builtins, name):
                self._note(Absence(namespace, name, name))
            else:
                self._check_call("builtins", name, getattr(builtins, name))
        modules += [namespace[name] for name in names.globals if name in namespace]
        modules += [sys.modules[name] for name in names.imported if name in sys.modules]
        self._look_into_modules(modules, names.attributes)
        fresh = names.attributes - self._names
        self._names |= fresh
        for module, shown, entries in list(self._entries.values()):
            self._look_into(module, shown, entries, fresh)

    def _own(self, owner: type) -> None:
        """Look into a class and its bases for the names that the code uses."""
        for kind in owner.__mro__:
            if id(kind) in self._entries or kind is object:
                continue
            entries = vars(kind)
            self._entries[id(kind)] = kind.__module__, kind.__name__, entries
            special = [name for name in entries if name.startswith("__")]
            names = [*special, *self._names] if is_users(kind.__module__) else self._names
            self._look_into(*self._entries[id(kind)], names)

    def _look_into_modules(self, values: list[Any], names: frozenset[str]) -> None:
        """Look into modules, and modules in them, for the names that code uses which has them."""
        waiting = [(each, names) for each in values if isinstance(each, types.ModuleType)]
        seen = {id(module) for module, _ in waiting}
        while waiting:
            module, asked = waiting.pop()
            entries = vars(module)
            self._look_into(module.__name__, module.__name__, entries, asked)
            for name in names.intersection(entries):
                inner = entries[name]
                if isinstance(inner, types.ModuleType) and id(inner) not in seen:
                    seen.add(id(inner))
                    # `numpy.random.rand` names `random` for the sake of the module.
                    rest = names - {name}
                    waiting.append((inner, names if rest.isdisjoint(vars(inner)) else rest))

    def _look_into(self, module: str, path: str, entries: Any, names: Iterable[str]) -> None:
        for name in list(names):
            if name not in entries or name in ("__dict__", "__weakref__", "__doc__"):
                continue
            value = entries[name]
            if not is_users(module):
                self._check_call(path if path == module else f"{module}.{path}", name, value)
                if isinstance(value, type) or value is os.environ:
                    self._waiting.append((value, name))
            elif not isinstance(value, _SLOTS) and not _is_ours(value):
                self._find(Place(entries, name, value, False, f"{path}.{name}"))

    def _check_call(self, owner: str, name: str, value: Any) -> None:
        reason = why_uncalled(owner, name, value)
        if reason is not None:
            shown = name if owner == "builtins" else f"{owner}.{name}"
            self.unwatched.setdefault(f"{shown}()", reason)

    def _find(self, place: Place) -> None:
        """Note a place, and know what is there."""
        value = place.value
        if isinstance(value, Tensor) and value.id >= self._first:
            return
        self._note(place)
        if not isinstance(value, _LEAVES):
            self._waiting.append((value, place.path))

    def _note(self, record: Record) -> None:
        key = record.key if isinstance(record, Place | Absence) else ""
        self._records.setdefault((type(record), id(record.container), key), record)

    # Attributes

    def _patch(self, kind: Any) -> bool:
        """Watch the attributes of a class's objects; False where it cannot be changed."""
        original = kind.__getattribute__
        if _is_ours(original):
            return True
        if "__getattribute__" in vars(kind):
            return False
        try:
            type.__setattr__(kind, "__getattribute__", _watched(original))
        except TypeError:
            return False
        self._patched.append(kind)
        return True

    def read(self, owner: Any, name: str, value: Any) -> None:
        """Note that the function has read an attribute of an object."""
        known = self._known.get(id(owner))
        if known is None or (id(owner), name) in self._read:
            return
        self._read.add((id(owner), name))
        path = f"{known[1]}.{name}" if known[1] else name
        attributes, before = self._attributes.get(id(owner), ({}, {}))
        if name == "__dict__":
            self._read_all(attributes, known[1])
        elif name in attributes and attributes[name] is value:
            if before.get(name, ABSENT) is value:
                # Not the object itself, which would never be let go.
                self._find(Place(attributes, name, value, False, path))
        elif not name.startswith("__"):
            self._read_from_class(owner, name, value, path)
        while self._waiting:
            self._know(*self._waiting.popleft())

    def _read_from_class(self, owner: Any, name: str, value: Any, path: str) -> None:
        for kind in type(owner).__mro__:
            entries = self._entries[id(kind)][2] if id(kind) in self._entries else vars(kind)
            member = entries.get(name, ABSENT)
            if member is ABSENT:
                self._note(Absence(entries, name, path))
                continue
            if isinstance(member, _SLOTS):
                self._find(Place(owner, name, value, True, path))
                return
            shown = f"{kind.__name__}.{name}" if hasattr(type(member), "__get__") else path
            self._find(Place(entries, name, member, False, shown))
            if id(owner) in self._attributes and not hasattr(type(member), "__set__"):
                self._note(Absence(self._attributes[id(owner)][0], name, path))
            return

    def _read_all(self, attributes: dict[str, Any], path: str) -> None:
        """The function goes through all attributes. Modules look for tensors and modules only."""
        caller = sys._getframe(3).f_globals.get("__name__", "")
        if str(caller).startswith("ogive."):
            structure = structure_of(attributes, path)
            self._note(structure)
            for key, entry in zip(structure.keys, structure.values, strict=True):
                self._waiting.append((entry, f"{path}.{key}" if path else key))
        else:
            self._waiting.append((attributes, path))

    def miss(self, owner: Any, name: str) -> None:
        """Note that an object has no such attribute."""
        if id(owner) in self._attributes and not name.startswith("__"):
            attributes, before = self._attributes[id(owner)]
            if name not in attributes and name not in before:
                self._note(Absence(attributes, name, f"{self._known[id(owner)][1]}.{name}"))


def _without_replaced(records: list[Record], held: dict[int, Content]) -> list[Record]:
    """The same records, with copies in place of containers that the function has replaced.

    Such a container may hold tensors that the function made, which would seem to be kept outside.
    """
    copies: dict[int, Any] = {}
    for record in records:
        if not isinstance(record, Place) or id(record.value) in copies:
            continue
        if id(record.value) in held and record.now() is not record.value:
            copies[id(record.value)] = copied = copy.copy(record.value)
            held[id(record.value)]._replace(container=copied).restore()
    exchanged: list[Record] = []
    for record in records:
        if isinstance(record, Place) and id(record.value) in copies:
            record = record._replace(value=copies[id(record.value)])
        elif isinstance(record, Content) and id(record.container) in copies:
            record = record._replace(container=copies[id(record.container)])
        exchanged.append(record)
    return exchanged


def _exchanged(place: Place, held: dict[int, Content]) -> Place:
    """The place of a container, after the function has put another there perhaps."""
    now, before = place.now(), held.pop(id(place.value), None)
    if before is None or now is place.value:
        if before is not None:
            held[id(now)] = before
        return place
    if type(now) is type(place.value):
        after = content_of(now, before.path)
        if is_same(before.keys, after.keys) and is_same(before.values, after.values):
            held[id(now)] = after
            return place._replace(value=now)
    return place._replace(value=ABSENT)  # it will be traced again, whatever is there


def _watched(original: Any) -> Any:
    def __getattribute__(self: Any, name: str) -> Any:
        reads = _reading.get(get_ident())
        try:
            value = original(self, name)
        except AttributeError:
            if reads is not None:
                reads.miss(self, name)
            raise
        if reads is not None:
            reads.read(self, name, value)
        return value

    __getattribute__.is_ours = True  # type: ignore[attr-defined]
    return __getattribute__


def _is_ours(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and hasattr(value, "is_ours")


_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
