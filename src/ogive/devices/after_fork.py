"""Objects of which a forked child has copies that must start over: their locks, their threads."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

Kind = TypeVar("Kind")


class RenewedAfterFork(Generic[Kind]):
    """All objects of a kind that are alive; `renew` is called with each in a forked child."""

    def __init__(self, renew: Callable[[Kind], None]) -> None:
        self._renew = renew
        self._objects: weakref.WeakSet[Kind] = weakref.WeakSet()
        os.register_at_fork(after_in_child=self._renew_all)

    def add(self, made: Kind) -> None:
        """Have an object renewed for as long as it lives."""
        self._objects.add(made)

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._objects))

    def _renew_all(self) -> None:
        for made in self:
            self._renew(made)
