"""Things that stand in a plan beside memory: files and Python functions, known by number."""

from __future__ import annotations

import itertools
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from ogive.devices.buffer import Buffer
from ogive.errors import DeviceError, ExecuteError

_numbers = itertools.count(1).__next__
_alive: WeakValueDictionary[int, Handle] = WeakValueDictionary()

Kind = TypeVar("Kind", bound="Handle")


class Handle(Buffer):
    """A buffer that no kernel can read: its `address` is a number to look it up by.

    Plans fill numbers in where they fill in addresses, so that a compiled graph holds neither a
    path nor a function, and serves for others as well.
    """

    __slots__ = ()

    def __init__(self, nbytes: int, device: str) -> None:
        super().__init__(nbytes, device)
        self.borrowed = True
        self._address = _numbers()
        _alive[self._address] = self

    @property
    def __array_interface__(self) -> dict[str, Any]:
        raise DeviceError(f"this is on {self.device} and has no address; copy it to the CPU first")


def find_handle(number: int, kind: type[Kind]) -> Kind:
    """The living thing of that number and kind. Raises `ExecuteError`."""
    living = _alive.get(number)
    if not isinstance(living, kind):
        raise ExecuteError(f"a plan speaks of {kind.__name__} number {number}, and there is none")
    return living
