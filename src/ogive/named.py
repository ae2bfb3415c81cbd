"""Tuples and records with named fields, whose classes are made quickly.

A process that only runs what is on disk makes sixty such classes, and does little else in its first
milliseconds. `typing.NamedTuple` and `dataclass` compile functions for each class, which takes 0.2
to 1 ms. Here a named tuple takes 0.03 ms; what makes its instances is compiled with the first.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    from collections import _tuplegetter

    class _NamedTupleMeta(type):
        """Makes a named tuple of a class body: annotated names are fields, the rest is kept."""

        def __new__(
            cls, name: str, bases: tuple[type, ...], body: dict[str, Any]
        ) -> type[tuple[Any, ...]]:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            body["_fields"] = body["__match_args__"] = fields
            body["_field_defaults"] = {field: body[field] for field in fields if field in body}
            body["__slots__"] = ()
            body["__new__"] = _compile_new
            for place, field in enumerate(fields):
                body[field] = _tuplegetter(place, field)
            return type(name, (_Tuple,), body)

    def _compile_new(cls, *values: Any, **named: Any) -> Any:
        """The first instance of a class: from then on it has a `__new__` of its own."""
        defaults = cls._field_defaults
        if not values and not named and len(defaults) == len(cls._fields):
            return tuple.__new__(cls, defaults.values())
        (owner,) = [each for each in cls.__mro__ if vars(each).get("_fields") is cls._fields][-1:]
        names = "".join([f"{field}, " for field in owner._fields])
        make = eval(f"lambda cls, {names}: new(cls, ({names}))", {"new": tuple.__new__})
        make.__defaults__ = tuple(owner._field_defaults.values())
        make.__name__ = make.__qualname__ = f"{owner.__name__}.__new__"
        owner.__new__ = make
        return make(cls, *values, **named)

    class _Tuple(tuple):
        """The base of named tuples, as those of `typing` have it."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, /, **changes):
            return type(self)(**{**self._asdict(), **changes})

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



class Compared:
    """The methods that `@dataclass(frozen=True)` would make for each class, made once.

    Declare `@dataclass(frozen=True, eq=False, repr=False) class Config(Compared)`: it then compiles
    three functions instead of six.
    """

    def _compared(self: Any) -> tuple[Any, ...]:
        names = [field.name for field in fields(self) if field.compare]
        return tuple([getattr(self, name) for name in names])

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self is other or self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def __repr__(self: Any) -> str:
        texts = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self)]
        return f"{type(self).__qualname__}({', '.join(texts)})"
