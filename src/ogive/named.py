"""`NamedTuple` as `typing` has it, made in half the time.

That of `typing` compiles every annotation, in case somebody evaluates it. A process that only runs
what is on disk makes sixty such classes, and does little else in its first milliseconds.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:

    class _NamedTupleMeta(type):
        """Makes a named tuple of a class body: annotated names are fields, the rest is kept."""

        def __new__(
            cls, name: str, bases: tuple[type, ...], body: dict[str, Any]
        ) -> type[tuple[Any, ...]]:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for key, value in body.items():
                if key not in fields and key != "__module__":
                    setattr(made, key, value)
            return made

    class NamedTuple(metaclass=_NamedTupleMeta):
        """A tuple whose items have names."""
