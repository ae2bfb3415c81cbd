"""Named tuples and records whose classes are made quickly.

A process that runs a cached program makes sixty such classes, and does little else in its first
milliseconds. `typing.NamedTuple` and `dataclass` compile functions for each class, which takes 0.2
to 1 ms. Here a class takes 0.03 ms. What makes its instances is compiled with the first record, and
with a later tuple: few classes of a start have more than two, and those need no function.
"""

from __future__ import annotations

import functools
import operator
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, Any

__all__ = ["NamedTuple", "record"]

if TYPE_CHECKING:
    from dataclasses import dataclass as record
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter

    class _NamedTupleMeta(type):
        """Makes a named tuple class: annotated names are fields, other members stay."""

        def __new__(
            cls, name: str, bases: tuple[type, ...], body: dict[str, Any]
        ) -> type[tuple[Any, ...]]:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            body["_fields"] = body["__match_args__"] = fields
            body["_field_defaults"] = {field: body[field] for field in fields if field in body}
            body["__slots__"] = ()
            body["__new__"], body["_slow_turns"] = _make_slowly, iter(range(_MADE_SLOWLY))
            for place, field in enumerate(fields):
                body[field] = _tuplegetter(place, field)
            return type(name, (_Tuple,), body)

    _MADE_SLOWLY = 16
    """So many instances are made without a function: that takes as long as to compile one."""

    def _make_slowly(cls, *values: Any, **named: Any) -> Any:
        """One of the first instances of a class."""
        if next(cls._slow_turns, None) is None:
            return _compile_new(cls, *values, **named)
        fields, defaults = cls._fields, cls._field_defaults
        if named:
            given = dict(zip(fields, values, strict=False))
            filled = {**defaults, **given, **named}
            fits = len(given) == len(values) and named.keys().isdisjoint(given)
            if not fits or filled.keys() != set(fields):
                return _compile_new(cls, *values, **named)  # which raises the error
            values = tuple([filled[field] for field in fields])
        elif missing := len(fields) - len(values):
            if not 0 < missing <= len(defaults):
                return _compile_new(cls, *values)
            values += tuple(defaults.values())[-missing:]
        return tuple.__new__(cls, values)

    def _compile_new(cls, *values: Any, **named: Any) -> Any:
        """Make an instance, after the class has been given a `__new__` of its own."""
        (owner,) = [each for each in cls.__mro__ if vars(each).get("_fields") is cls._fields][-1:]
        names = "".join([f"{field}, " for field in owner._fields])
        make = eval(f"lambda cls, {names}: new(cls, ({names}))", {"new": tuple.__new__})
        make.__defaults__ = tuple(owner._field_defaults.values())
        make.__name__ = make.__qualname__ = f"{owner.__name__}.__new__"
        owner.__new__ = make
        return make(cls, *values, **named)

    class _Tuple(tuple):
        """The base of named tuples, with the methods of those of `typing`."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            fields = zip(self._fields, self, strict=True)
            values = [changes.pop(name, value) for name, value in fields]
            if changes:
                raise ValueError(f"{type(self).__name__} has no fields {', '.join(changes)}")
            return tuple.__new__(type(self), values)

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            fields = zip(self._fields, self, strict=True)
            texts = [f"{name}={value!r}" for name, value in fields]
            return f"{type(self).__name__}({', '.join(texts)})"

        def __getnewargs__(self):
            return tuple(self)

    class NamedTuple(metaclass=_NamedTupleMeta):
        """A tuple whose items have names."""

    def record(cls=None, /, *, frozen=False, eq=True):
        """Like `dataclass`, but `__init__` is compiled at first use and all classes share the other
        methods. `fields`, `replace` and the like work."""
        if cls is None:
            return functools.partial(record, frozen=frozen, eq=eq)
        own = set(vars(cls))
        dataclass(init=False, eq=False, repr=False)(cls)
        methods = {"__repr__": _describe}
        if eq:
            compared = [field.name for field in fields(cls) if field.compare]
            cls._compared = operator.attrgetter(*compared) if compared else _nothing
            methods |= {"__eq__": _are_equal, "__hash__": _hash_compared if frozen else None}
        if frozen:
            methods |= {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
        for name, method in methods.items():
            if name not in own:
                setattr(cls, name, method)
        if "__init__" not in own:
            cls.__init__ = _Initializer(cls)
        return cls

    class _Initializer:
        """A descriptor in place of a record's `__init__`, which it compiles at first use."""

        def __init__(self, cls: type) -> None:
            self._cls = cls

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            initializer = self._cls.__init__ = _make_initializer(self._cls)
            return initializer.__get__(instance, owner)

    def _make_initializer(cls: type) -> Any:
        """The function that sets the fields of a new record."""
        given, lines, known = [], [], {"__name__": cls.__module__, "put": object.__setattr__}
        for field in fields(cls):
            name = value = field.name
            if field.default_factory is not MISSING:
                known[f"make_{name}"], known["absent"] = field.default_factory, MISSING
                value = f"make_{name}() if {name} is absent else {name}"
                given.append(f"{name}=absent")
            elif field.default is not MISSING:
                known[f"usual_{name}"] = field.default
                given.append(f"{name}=usual_{name}")
            else:
                given.append(name)
            lines.append(f"put(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append("self.__post_init__()")
        body = "\n ".join(lines or ["pass"])
        exec(f"def __init__(self, {', '.join(given)}):\n {body}", known)
        constructor = known["__init__"]
        constructor.__qualname__ = f"{cls.__qualname__}.__init__"
        return constructor

    def _nothing(value: Any) -> tuple[()]:
        return ()

    def _are_equal(self: Any, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        compared = type(self)._compared
        return self is other or compared(self) == compared(other)

    def _hash_compared(self: Any) -> int:
        return hash(type(self)._compared(self))

    def _describe(self: Any) -> str:
        texts = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self)]
        return f"{type(self).__qualname__}({', '.join(texts)})"

    def _refuse_to_set(self: Any, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _refuse_to_delete(self: Any, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")
