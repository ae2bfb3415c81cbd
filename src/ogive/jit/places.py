"""Where a function finds what is not given to it: closures, globals, attributes, containers.

    def step(x):                      globals()["model"] is model
        return x @ model.w * scale    vars(model)["w"] is w, globals()["scale"] is 0.5

A tensor that the function read is guarded by the places that lead to it, so that `model.w = other`
is noticed, and a supplier of numbers likewise; a number, string or flag by its value, where the
function's code names it. The survey is made before the function runs: what the function itself
replaces counts as changed.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

from ogive.ir.dtype import DType
from ogive.named import NamedTuple
from ogive.tensor.supply import Supplier
from ogive.tensor.tensor import Tensor

OBJECT_LIMIT = 5000
"""Most containers looked into, in case a function can reach the whole program."""

_CONSTANTS = (bool, int, float, complex, str, bytes, type(None), DType)
_OPAQUE = ("ogive.", "numpy", "builtins", "types", "functools", "threading", "logging")
_OPEN = ("ogive.nn.", "ogive.optim.")


class Place(NamedTuple):
    """`container[key]`, or the attribute `key` of `container`, which held `value`."""

    container: Any
    key: Any
    value: Any
    by_attribute: bool
    path: str

    def now(self) -> Any:
        """What is there now; the class `Place` itself if nothing is."""
        try:
            if self.by_attribute:
                return getattr(self.container, self.key)
            return self.container[self.key]
        except (LookupError, AttributeError, ValueError):
            return Place

    def restore(self) -> None:
        """Put back what was there."""
        if self.by_attribute:
            setattr(self.container, self.key, self.value)
        else:
            self.container[self.key] = self.value


class Places:
    """What must still be where it was for a trace to be valid."""

    __slots__ = ("_attributes", "_entries")

    def __init__(self, places: Iterable[Place]) -> None:
        found = list(places)
        self._entries = tuple([p[:3] for p in found if not p.by_attribute])
        self._attributes = tuple([p[:3] for p in found if p.by_attribute])

    def hold(self) -> bool:
        """Whether the same objects are in all places."""
        try:
            for container, key, value in self._entries:
                if container[key] is not value:
                    return False
            for container, key, value in self._attributes:
                if getattr(container, key) is not value:
                    return False
        except (LookupError, AttributeError, ValueError):
            return False
        return True


def changed(places: Iterable[Place]) -> list[Place]:
    """The places where something else is now; an equal constant is not something else."""
    return [place for place in places if not _is_same(place.value, place.now())]


def _is_same(old: Any, new: Any) -> bool:
    if new is old:
        return True
    if old.__class__ is not new.__class__ or not isinstance(old, _CONSTANTS):
        return False
    return repr(old) == repr(new)  # tells 0.0 from -0.0


class Survey:
    """Everything a function could reach when it was about to be traced."""

    def __init__(self, function: Any, owners: Iterable[tuple[str, Any]]) -> None:
        # How each container was come by: its place, and in which container that is.
        self._arrived: dict[int, tuple[Place | None, int]] = {}
        self._constants: list[tuple[Place, int]] = []
        self._watched: dict[int, list[tuple[Place, int]]] = {}
        self._names: set[str] = set()
        self._classes: set[type] = set()
        self._kept: list[Any] = []
        waiting: list[tuple[Any, str]] = []
        for path, start in [("", function), *owners]:
            self._arrived.setdefault(id(start), (None, 0))
            waiting.append((start, path))
        for value, path in waiting:  # grows while we go
            if len(waiting) > OBJECT_LIMIT:
                break
            self._kept.append(value)
            for place in self._inside(value, path):
                self._note(place, id(value), waiting)

    def _note(self, place: Place, owner: int, waiting: list[tuple[Any, str]]) -> None:
        value = place.value
        if isinstance(value, _CONSTANTS):
            self._constants.append((place, owner))
        elif isinstance(value, Tensor | Supplier):
            self._watched.setdefault(id(value), []).append((place, owner))
        elif id(value) not in self._arrived and _is_open(value):
            self._arrived[id(value)] = place, owner
            waiting.append((value, place.path))

    def _inside(self, value: Any, path: str) -> Iterator[Place]:
        if isinstance(value, types.FunctionType):
            yield from self._inside_function(value)
        elif hasattr(value, "__wrapped__"):  # another captured function
            yield Place(value, "__wrapped__", value.__wrapped__, True, path)
        elif isinstance(value, types.MethodType):
            yield Place(value, "__func__", value.__func__, True, path)
            yield Place(value, "__self__", value.__self__, True, "self")
        elif isinstance(value, functools.partial):
            yield Place(value, "func", value.func, True, path)
            yield Place(value, "args", value.args, True, "args")
            yield Place(value, "keywords", value.keywords, True, "keywords")
        elif isinstance(value, list | tuple):
            for position, entry in enumerate(value):
                if not isinstance(entry, _CONSTANTS):
                    yield Place(value, position, entry, False, f"{path}[{position}]")
        elif isinstance(value, dict):
            for key, entry in list(value.items()):
                if not isinstance(entry, _CONSTANTS):
                    yield Place(value, key, entry, False, f"{path}[{key!r}]")
        else:
            self._learn_names(type(value))
            attributes = getattr(value, "__dict__", {})  # what has none is opaque
            for key, entry in list(attributes.items()):
                yield Place(attributes, key, entry, False, f"{path}.{key}" if path else key)

    def _inside_function(self, function: types.FunctionType) -> Iterator[Place]:
        names = _names_in(function.__code__)
        self._names |= names
        for name, cell in zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        ):
            self._names.add(name)
            place = Place(cell, "cell_contents", None, True, name)
            yield place._replace(value=place.now())
        namespace = function.__globals__
        for name in sorted(names & namespace.keys()):
            yield Place(namespace, name, namespace[name], False, name)
        for position, entry in enumerate(function.__defaults__ or ()):
            yield Place(function.__defaults__, position, entry, False, f"default {position}")
        for name, entry in (function.__kwdefaults__ or {}).items():
            yield Place(function.__kwdefaults__, name, entry, False, name)

    def _learn_names(self, kind: type) -> None:
        for base in kind.__mro__:
            if base in self._classes or _is_opaque(base.__module__):
                continue
            self._classes.add(base)
            for member in vars(base).values():
                function = getattr(member, "__wrapped__", getattr(member, "__func__", member))
                if isinstance(function, types.FunctionType):
                    self._names |= _names_in(function.__code__)

    def places_of(self, used: Iterable[Tensor | Supplier]) -> list[Place]:
        """The places that lead to what was `used`, and to the constants that the code names."""
        wanted = [entry for entry in self._constants if _last_name(entry[0]) in self._names]
        for value in used:
            wanted += self._watched.get(id(value), ())
        found: dict[tuple[int, Any], Place] = {}
        for place, owner in wanted:
            way: Place | None = place
            while way is not None and (id(way.container), way.key) not in found:
                if not isinstance(way.container, tuple | types.MethodType | functools.partial):
                    found[id(way.container), way.key] = way
                way, owner = self._arrived[owner]
        return list(found.values())


def _last_name(place: Place) -> Any:
    return place.path if place.key == "cell_contents" else place.key


@functools.lru_cache(maxsize=1024)
def _names_in(code: types.CodeType) -> frozenset[str]:
    """The names of globals and attributes that code reads."""
    names = {
        instruction.argval
        for instruction in dis.get_instructions(code)
        if isinstance(instruction.argval, str)
        and instruction.opname.startswith("LOAD")
        and not instruction.opname.startswith("LOAD_FAST")
    }
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return frozenset(names)


def _is_open(value: Any) -> bool:
    """Whether a function may find tensors inside."""
    if isinstance(value, type | types.ModuleType | types.BuiltinFunctionType):
        return False
    if isinstance(value, types.FunctionType):
        return not _is_opaque(value.__module__ or "")
    if isinstance(value, list | tuple | dict | types.MethodType | functools.partial):
        return True
    if hasattr(value, "__wrapped__"):
        return True
    return hasattr(value, "__dict__") and not _is_opaque(type(value).__module__)


def _is_opaque(module: str) -> bool:
    """Whether what is defined in a module holds nothing of the user's."""
    return module.startswith(_OPAQUE) and not module.startswith(_OPEN)
