"""Inputs of changing sizes: from the second size on, what changes is a variable.

The first sizes are captured as they are. Axes that then have another length become variables, and
one capture serves all their lengths, up to the room there is; axes that never change stay numbers,
since kernels of fixed lengths are faster. A length that has always been another plus a number, or
the sum of two others (as keys are the cached ones plus the new ones), is written as that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from ogive.compiler.ir.symbolic.variable import Variable
from ogive.onnx.graph import Info
from ogive.onnx.table import Value
from ogive.tensor.tensor import Tensor

Sizes = dict[str, int]
"""The lengths of dynamic axes by name."""

LEAST_ROOM = 64
"""A variable may be at least so large, and four times what has been seen."""

REMEMBERED = 16
"""So many sizes are looked at to find out how lengths depend on each other."""


class VariableAxes:
    """The dynamic axes of a model: those that change, how far, and how together."""

    def __init__(self, inputs: Sequence[Info]) -> None:
        self._names = [_axis_names(info) for info in inputs]
        self._seen: list[Sizes] = []
        self._changing: set[str] = set()
        self._rooms: dict[str, int] = {}
        self._failed: set[frozenset[str]] = set()

    def sizes(self, values: Sequence[Value]) -> Sizes | None:
        """The lengths of dynamic axes; None where one name has two, or a length is 0."""
        sizes: Sizes = {}
        for names, value in zip(self._names, values, strict=True):
            if value is None:  # an input that a capture is for one value of
                continue
            for name, length in zip(names, value.shape, strict=False):
                if name is not None and sizes.setdefault(name, int(length)) != length:
                    return None
        return None if 0 in sizes.values() else sizes

    def wants_variables(self, sizes: Sizes) -> bool:
        """Whether a call of these sizes is one of those that variables serve."""
        if not self._seen:
            self._seen.append(sizes)
        first = self._seen[0]
        if sizes == first:
            return False
        if sizes not in self._seen:
            del self._seen[1 : max(len(self._seen) - REMEMBERED, 1)]
            self._seen.append(sizes)
        self._changing |= {name for name, length in sizes.items() if length != first[name]}
        for name in self._changing:
            if sizes[name] > self._rooms.get(name, 0):
                self._rooms[name] = max(LEAST_ROOM, 4 * sizes[name])
        return frozenset(self._changing) not in self._failed

    def give_up(self) -> None:
        """Remember that the axes that change now cannot be variables together."""
        self._failed.add(frozenset(self._changing))

    def view(self, values: Sequence[Value], sizes: Sizes) -> list[Tensor]:
        """The inputs in memory with room, as views whose changing lengths are variables."""
        lengths = self._expressions(sizes)
        views = []
        for names, value in zip(self._names, values, strict=True):
            if value is None or not any(name in lengths for name in names if name is not None):
                views.append(value)
                continue
            axes = [
                (int(length), None if name is None else lengths.get(name))
                for name, length in zip(names, value.shape, strict=True)
            ]
            room = [size if each is None else int(each.vmax) for size, each in axes]
            array = value.numpy() if isinstance(value, Tensor) else value
            memory = numpy.empty(room, array.dtype)
            memory[tuple(slice(size) for size in array.shape)] = array
            cut = tuple(slice(None) if each is None else slice(each) for _, each in axes)
            views.append(Tensor.from_numpy(memory)[cut])
        return views

    def _expressions(self, sizes: Sizes) -> dict[str, Any]:
        """For each axis that changes, a bound variable or an expression of others."""
        expressions: dict[str, Any] = {}
        for name in sorted(self._changing, key=lambda each: (sizes[each], each)):
            expressions[name] = self._relation(name, expressions)
            if expressions[name] is None:
                variable = Variable(_identifier(name), 1, self._rooms[name])
                expressions[name] = variable.bind(sizes[name])
        return expressions

    def _relation(self, name: str, expressions: dict[str, Any]) -> Any:
        for other in expressions:
            differences = {sizes[name] - sizes[other] for sizes in self._seen}
            if len(differences) == 1:
                return expressions[other] + differences.pop()
        for other in expressions:
            for third in expressions:
                if other < third and all(
                    sizes[name] == sizes[other] + sizes[third] for sizes in self._seen
                ):
                    return expressions[other] + expressions[third]
        return None


def _axis_names(info: Info) -> list[str | None]:
    """The name of each axis that may change; one that has none is known by where it stands."""
    return [
        None if isinstance(length, int) else length or f"{info.name} axis {axis}"
        for axis, length in enumerate(info.shape or ())
    ]


def _identifier(name: str) -> str:
    """A name as variables have them."""
    return "axis_" + "".join(letter if letter.isalnum() else "_" for letter in name)
