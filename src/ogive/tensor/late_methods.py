"""Methods whose module is loaded when one of them is first used.

Most processes need only a few families of methods. In the table of `tensor.py`, each of the other
families is a `LateFamily`, and its attributes are `LateMethod`s. At its first use, a `LateMethod`
loads the module and replaces itself in the class by the function.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

FAMILIES_ARE_LATE = not TYPE_CHECKING
"""False for type checkers, which see imports instead. They are not under `if TYPE_CHECKING`, since
mypy checks such a block last, and the table of methods needs the types before."""


class LateMethod:
    """A placeholder for a method in the class, until the method is loaded.

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
        """Load the method, and put it in place of this object."""
        method = self.load()
        for owner, name in self.places:
            if vars(owner).get(name) is self:  # unless it has been replaced since
                setattr(owner, name, method)
        return method

    def then(self, make: Callable[[Any], Any]) -> LateMethod:
        """Return the `LateMethod` of `make(method)`."""
        return LateMethod(lambda: make(self.load()))


class LateFamily:
    """A module of methods that is not loaded yet. Its attributes are `LateMethod`s."""

    __slots__ = ("module",)

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> LateMethod:
        return LateMethod(lambda: getattr(importlib.import_module(self.module), name))


def late_families(folders: dict[str, tuple[str, ...]]) -> dict[str, LateFamily]:
    """Return late families by their names, from the modules of each folder of `tensor/`."""
    return {
        name: LateFamily(f"ogive.tensor.{folder}.{name}")
        for folder, names in folders.items()
        for name in names
    }


def load_methods(owner: type) -> None:
    """Load all methods of a class that are not loaded yet."""
    for value in list(vars(owner).values()):
        if isinstance(value, LateMethod):
            value.settle()
