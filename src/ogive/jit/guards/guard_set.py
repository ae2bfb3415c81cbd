"""Whether everything that a function read is as it was: what every call of it asks.

All objects are compared by identity, by expressions that run in C: containers that are asked in the
same way are asked together. Equal constants are told from others where that says no.
"""

from __future__ import annotations

import operator
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from ogive.jit.guards.places import Absence, Content, Elements, Place, Record, Structure

_Getter = Callable[[Any], Any]


class _Asked:
    """Objects, the ways to ask them, and what each of them gave."""

    __slots__ = ("_expected", "expected", "getters", "objects")

    def __init__(self) -> None:
        self._expected: dict[Any, tuple[_Getter, list[Any], list[Any]]] = {}

    def add(self, way: Any, getter: _Getter, asked: Any, expected: Iterable[Any]) -> None:
        """Expect something of an object. `way` is equal for those who are asked alike."""
        _, objects, values = self._expected.setdefault(way, (getter, [], []))
        objects.append(asked)
        values.extend(expected)

    def close(self) -> None:
        """Put together what was added."""
        groups = self._expected.values()
        self.getters = [getter for getter, _, _ in groups]
        self.objects = [objects for _, objects, _ in groups]
        self.expected = list(chain.from_iterable([values for _, _, values in groups]))
        self._expected = {}

    def answers(self) -> Iterable[Any]:
        """The objects' answers of now."""
        return chain.from_iterable(map(map, self.getters, self.objects))


class Guards:
    """The values that must still be where they were for a trace to be valid."""

    __slots__ = ("_absent", "_arrays", "_counts", "_rows", "_values", "_without")

    def __init__(self, records: Iterable[Record]) -> None:
        self._counts, self._rows, self._values = _Asked(), _Asked(), _Asked()
        self._absent: list[str] = []
        self._without: list[Any] = []
        self._arrays: list[Elements] = []
        grouped: dict[tuple[int, bool], list[Place]] = {}
        for record in records:
            if isinstance(record, Place):
                grouped.setdefault((id(record.container), record.by_attribute), []).append(record)
            elif isinstance(record, Content):
                self._add_content(record)
            elif isinstance(record, Structure):
                self._add_structure(record)
            elif isinstance(record, Absence):
                self._absent.append(record.key)
                self._without.append(record.container)
            else:
                self._arrays.append(record)
        for places in grouped.values():
            self._add_places(places)
        for asked in (self._counts, self._rows, self._values):
            asked.close()

    def _add_places(self, places: list[Place]) -> None:
        container, by_attribute = places[0].container, places[0].by_attribute
        keys = tuple([place.key for place in places])
        make: Any = operator.attrgetter if by_attribute else operator.itemgetter
        asked = self._rows if len(keys) > 1 else self._values  # of one key, there is no tuple
        way = by_attribute, tuple([(key.__class__, key) for key in keys])
        asked.add(way, make(*keys), container, [place.value for place in places])

    def _add_content(self, record: Content) -> None:
        container = record.container
        kind = _kind_of(container)
        if getattr(type(container), "kept_as_data", None) is not None:
            if record.keys:
                self._add_places(record.places())
        else:
            if issubclass(kind, dict):
                self._rows.add((kind, "keys"), kind.__iter__, container, record.keys)
            self._rows.add(kind, _ENTRIES[kind], container, record.values)
        count = len(container) if issubclass(kind, dict) else len(record.values)
        self._counts.add(kind, kind.__len__, container, [count])

    def _add_structure(self, record: Structure) -> None:
        self._counts.add(dict, dict.__len__, record.container, [record.length])
        if record.keys:
            pairs = zip(record.keys, record.values, strict=True)
            self._add_places([Place(record.container, *pair, False, "") for pair in pairs])

    def hold(self) -> bool:
        """Whether the same objects are in all places."""
        # What there is none of takes no time: small functions are called most often.
        counts, rows, values, same = self._counts, self._rows, self._values, operator.is_
        try:
            if counts.expected and list(counts.answers()) != counts.expected:
                return False
            if rows.expected and not all(
                map(same, chain.from_iterable(rows.answers()), rows.expected)
            ):
                return False
            if values.expected and not all(map(same, values.answers(), values.expected)):
                return False
            if self._absent and any(map(operator.contains, self._without, self._absent)):
                return False
            return not self._arrays or all(array.is_same() for array in self._arrays)
        except (LookupError, AttributeError, ValueError, RuntimeError):
            return False  # gone, an empty cell, or changed by another thread meanwhile


_ENTRIES: dict[type, _Getter] = {
    list: list.__iter__,
    OrderedDict: OrderedDict.values,
    dict: dict.values,
    set: set.__iter__,
    deque: deque.__iter__,
    bytearray: bytearray.__iter__,
}


def _kind_of(container: Any) -> Any:
    """The kind of container that it is, whatever a derived class has made of its methods."""
    return next(base for base in _ENTRIES if isinstance(container, base))
