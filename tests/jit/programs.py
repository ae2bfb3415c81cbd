"""Programs with functions that are captured or not: each gives the same either way."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ogive
from ogive import Tensor

Capture = Callable[[Any], Any]
Program = Callable[[Capture], Any]


def x() -> Tensor:
    return Tensor([1.0, -2.0, 3.0])


def results(function: Any, *changes: Callable[[], Any]) -> list[Any]:
    """What a function gives, called twice before and twice after each change."""
    found = [function(x()).tolist() for _ in range(2)]
    for change in changes:
        change()
        found += [function(x()).tolist() for _ in range(2)]
    return found


def set_item(container: Any, key: Any, value: Any) -> Callable[[], None]:
    return lambda: operator.setitem(container, key, value)


def set_attribute(owner: Any, name: str, value: Any) -> Callable[[], None]:
    return lambda: setattr(owner, name, value)


class _Holder:
    def __init__(self, **entries: Any) -> None:
        vars(self).update(entries)


Holder: Any = _Holder
"""An object with some attributes."""


def compare(program: Program, prepare: Callable[[], None] = lambda: None) -> None:
    """Run a program with its functions as they are, and captured."""
    prepare()
    plain = program(lambda function: function)
    prepare()
    assert program(ogive.jit) == plain
