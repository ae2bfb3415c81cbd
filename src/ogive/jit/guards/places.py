"""Places that a function read by itself, and the values that were there.

    def step(x):                      Place    globals()["model"] is model
        return x @ model.w * s[0]     Place    model.w is w, globals()["s"] is s
                                      Content  s holds 0.5

Each record knows how it has changed since. A constant that is equal has not.
"""

from __future__ import annotations

import enum
import operator
from collections import OrderedDict, deque
from collections.abc import Iterable
from typing import Any

import numpy

from ogive.compiler.ir.dtype import DType
from ogive.named import NamedTuple
from ogive.tensor.tensor import Tensor

CONSTANTS = (
    bool, int, float, complex, str, bytes, type(None), DType, range, slice, type(Ellipsis),
    enum.Enum,
)  # fmt: skip
CONTAINERS = (list, dict, set, deque, bytearray)
"""Containers that are watched as a whole, since nobody can tell which of its entries are read."""

ABSENT: Any = type("Absent", (), {"__repr__": lambda _: "nothing"})()


class Place(NamedTuple):
    """`container[key]`, or the attribute `key` of `container`, which held `value`."""

    container: Any
    key: Any
    value: Any
    by_attribute: bool
    path: str

    def now(self) -> Any:
        """The value that is there now; `ABSENT` if none is."""
        try:
            if self.by_attribute:
                return getattr(self.container, self.key)
            return self.container[self.key]
        except (LookupError, AttributeError, ValueError):
            return ABSENT

    def restore(self) -> None:
        """Put back what was there."""
        if self.now() is self.value:
            return
        if self.by_attribute:
            setattr(self.container, self.key, self.value)
        else:
            self.container[self.key] = self.value

    def change(self) -> str | None:
        """Its change since then in words, or None."""
        return describe_change(self.path, self.value, self.now())

    def renewed(self) -> Place:
        """The record with the equal constant that is there now."""
        return self._replace(value=self.now())


class Absence(NamedTuple):
    """A mapping without `key`."""

    container: Any
    key: str
    path: str

    def change(self) -> str | None:
        """Its change since then in words, or None."""
        return f"{self.path}: nothing → something" if self.key in self.container else None

    def restore(self) -> None:
        """Take away what was put there."""
        if self.key in self.container:
            del self.container[self.key]

    def renewed(self) -> Absence:
        """The record as it is now."""
        return self


class Content(NamedTuple):
    """All entries of a container; of a dictionary the `keys` too, which are empty for others."""

    container: Any
    keys: tuple[Any, ...]
    values: tuple[Any, ...]
    path: str

    def now(self) -> Content:
        """Its content of now."""
        return content_of(self.container, self.path)

    def change(self) -> str | None:
        """Its change since then in words, or None."""
        now = self.now()
        if len(now.values) != len(self.values):
            return f"{self.path}: {len(self.values)} entries → {len(now.values)}"
        if not all(map(is_same, self.keys, now.keys)):
            return f"{self.path}: other keys, or in another order"
        for key, old, new in zip(self.labels(), self.values, now.values, strict=True):
            if not is_same(old, new):
                return describe_change(f"{self.path}[{key!r}]", old, new)
        return None

    def renewed(self) -> Content:
        """The record with the equal constants that are there now."""
        return self.now()

    def restore(self) -> None:
        """Put back the entries that were there."""
        now = self.now()
        if len(now.values) == len(self.values) and all(
            map(operator.is_, (*self.keys, *self.values), (*now.keys, *now.values))
        ):
            return
        if not isinstance(self.container, dict):
            self.container.clear()
            add = "update" if isinstance(self.container, set) else "extend"
            getattr(self.container, add)(self.values)
            return
        for key in now.keys:
            del self.container[key]
        self.container.update(zip(self.keys, self.values, strict=True))

    def labels(self) -> Iterable[Any]:
        """The key or position of each value."""
        return self.keys if isinstance(self.container, dict) else range(len(self.values))

    def has_grown_to(self, now: Content) -> bool:
        """Whether all that was there is there still, and more."""
        if len(now.values) <= len(self.values):
            return False
        if isinstance(self.container, dict):
            held = dict(zip(now.keys, now.values, strict=True))
            pairs = zip(self.keys, self.values, strict=True)
            return all(held.get(key, ABSENT) is value for key, value in pairs)
        if isinstance(self.container, set):
            return set(self.values) <= set(now.values)
        return all(map(is_same, self.values, now.values[: len(self.values)]))

    def places(self) -> list[Place]:
        """A place for each entry that something leads to."""
        if isinstance(self.container, set):
            return []
        return [
            Place(self.container, key, value, False, f"{self.path}[{key!r}]")
            for key, value in zip(self.labels(), self.values, strict=True)
        ]


class Structure(NamedTuple):
    """The entries of a dictionary that are no numbers, flags or texts, and how many there are."""

    container: dict[str, Any]
    keys: tuple[str, ...]
    values: tuple[Any, ...]
    length: int
    path: str

    def change(self) -> str | None:
        """Its change since then in words, or None."""
        now = structure_of(self.container, self.path)
        if now.length != self.length or now.keys != self.keys:
            return f"{self.path}: other attributes"
        for key, old, new in zip(self.keys, self.values, now.values, strict=True):
            if old is not new:
                return describe_change(f"{self.path}.{key}", old, new)
        return None

    def restore(self) -> None:
        """Put back the entries that were there."""
        for key, value in zip(self.keys, self.values, strict=True):
            if self.container.get(key, ABSENT) is not value:
                self.container[key] = value

    def renewed(self) -> Structure:
        """The record as it is now."""
        return self


class Elements(NamedTuple):
    """The elements of a NumPy array, as bytes."""

    container: Any
    shape: tuple[int, ...]
    dtype: Any
    data: Any
    path: str

    def is_same(self) -> bool:
        """Whether the array holds the same."""
        array = self.container
        if array.shape != self.shape or array.dtype != self.dtype:
            return False
        return numpy.array_equal(_bytes_of(array), self.data)

    def change(self) -> str | None:
        """Its change since then in words, or None."""
        return None if self.is_same() else f"{self.path}: other elements"

    def restore(self) -> None:
        """Put back the elements that were there."""
        if not self.is_same() and self.container.shape == self.shape:
            self.container[...] = self.data.view(self.dtype).reshape(self.shape)

    def renewed(self) -> Elements:
        """The record as it is now."""
        return self


Record = Place | Absence | Content | Structure | Elements


def content_of(container: Any, path: str) -> Content:
    """The content of a container, without entries that it says are data."""
    if not isinstance(container, dict):
        base: Any = next(base for base in CONTAINERS if isinstance(container, base))
        return Content(container, (), tuple(base.__iter__(container)), path)
    kind = OrderedDict if isinstance(container, OrderedDict) else dict  # which has its own order
    keys, values = tuple(kind.__iter__(container)), tuple(kind.values(container))
    data = getattr(type(container), "kept_as_data", ())  # `__getattr__` may be anything
    if data:
        kept = [(key, value) for key, value in zip(keys, values, strict=True) if key not in data]
        keys, values = tuple([key for key, _ in kept]), tuple([value for _, value in kept])
    return Content(container, keys, values, path)


def structure_of(attributes: dict[str, Any], path: str) -> Structure:
    """The structure of an object with these attributes."""
    kept = {key: value for key, value in attributes.items() if not _is_plain(value)}
    return Structure(attributes, tuple(kept), tuple(kept.values()), len(attributes), path)


def _is_plain(value: Any) -> bool:
    return value is not None and isinstance(value, CONSTANTS)


def elements_of(array: Any, path: str) -> Elements:
    """The elements of an array as they are."""
    return Elements(array, array.shape, array.dtype, _bytes_of(array).copy(), path)


def _bytes_of(array: Any) -> Any:
    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)


def is_same(old: Any, new: Any) -> bool:
    """Whether two objects are one, or constants that nobody can tell apart."""
    if new is old:
        return True
    if old.__class__ is not new.__class__:
        return False
    if isinstance(old, tuple):
        return len(old) == len(new) and all(map(is_same, old, new))
    if isinstance(old, numpy.generic):
        return bool(old.dtype == new.dtype and old.tobytes() == new.tobytes())
    return isinstance(old, CONSTANTS) and repr(old) == repr(new)  # tells 0.0 from -0.0


def describe_change(path: str, old: Any, new: Any) -> str | None:
    """`path: old → new`, or None where they are the same."""
    if is_same(old, new):
        return None
    if new is ABSENT:
        return f"{path}: gone"
    if isinstance(old, Tensor) and isinstance(new, Tensor):
        return f"{path}: another tensor"
    return f"{path}: {_show(old)} → {_show(new)}"


def _show(value: Any) -> str:
    return f"{value!r:.60}" if isinstance(value, (*CONSTANTS, tuple)) else type(value).__name__
