"""Methods whose module is loaded when one of them is first asked for.

A process needs a few of the families of methods. A family of the others stands in the table of
`tensor.py` by its name; what is taken out of it there is a `LateMethod`, which puts the function
in its own place at the first use. From then on the class is as if the function had always stood
there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

FAMILIES_ARE_LATE = not TYPE_CHECKING
"""Type checkers see imports instead, and not under `if TYPE_CHECKING`: mypy leaves what stands
there for the end, and the table of methods needs its types."""


class LateMethod:
    """The stand-in of a method in the class until that is loaded.

    It is a descriptor with `__set__`, as a slot is, so that no attribute of a tensor hides it.
    """

    __slots__ = ("load", "places")

    def __init__(self, load: Callable[[], Any]) -> None:
        self.load = load
        self.places: list[tuple[type, str]] = []

    def __set_name__(self, owner: type, name: str) -> None:
        self.places.append((owner, name))

    def __get__(self, tensor: Any, owner: type | None = None) -> Any:
        return self.settle().__get__(tensor, owner)

    def __set__(self, tensor: Any, value: Any) -> None:
        name = self.places[0][1]
        self.settle()
        setattr(tensor, name, value)

    def settle(self) -> Any:
        """Load the method, and put it where this stands."""
        method = self.load()
        for owner, name in self.places:
            if vars(owner).get(name) is self:  # and nobody has put something else there
                setattr(owner, name, method)
        return method

    def then(self, make: Callable[[Any], Any]) -> LateMethod:
        """The result of `make` for the method, as late."""
        return LateMethod(lambda: make(self.load()))


class LateFamily:
    """A module of methods that is not loaded yet; its attributes are `LateMethod`s."""

    __slots__ = ("module",)

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> LateMethod:
        return LateMethod(lambda: getattr(importlib.import_module(self.module), name))


def late_families(folders: dict[str, tuple[str, ...]]) -> dict[str, LateFamily]:
    """The families of folders of `tensor/`, by the names of their modules."""
    return {
        name: LateFamily(f"ogive.tensor.{folder}.{name}")
        for folder, names in folders.items()
        for name in names
    }


def load_methods(owner: type) -> None:
    """Load all methods of a class that are not there yet."""
    for value in list(vars(owner).values()):
        if isinstance(value, LateMethod):
            value.settle()
