"""Objects with locks or threads, which must be renewed in a forked child."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from operator import methodcaller
from typing import Generic, TypeVar

Kind = TypeVar("Kind")


class RenewedAfterFork(Generic[Kind]):
    """The live objects of one kind. In a forked child, `renew` is called with each of them."""

    def __init__(self, renew: Callable[[Kind], None]) -> None:
        self._renew = renew
        self._objects: weakref.WeakSet[Kind] = weakref.WeakSet()
        os.register_at_fork(after_in_child=self._renew_all)

    def add(self, instance: Kind) -> None:
        """Renew an object after each fork, for as long as it lives."""
        self._objects.add(instance)

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._objects))

    def _renew_all(self) -> None:
        for instance in self:
            self._renew(instance)


class Locked:
    """An object with a lock, `_lock`. A forked child gets a new one: a thread of the parent may
    have held the old one, and that thread is not in the child."""

    def __init__(self) -> None:
        self.renew_lock()
        _locked.add(self)

    def renew_lock(self) -> None:
        """Replace the lock by a new one, which nobody holds."""
        self._lock = threading.RLock()


_locked: RenewedAfterFork[Locked] = RenewedAfterFork(methodcaller("renew_lock"))
