"""Handles: files and Python functions, which a plan refers to by number as it does to memory."""

from __future__ import annotations

import itertools
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from ogive.compiler.devices.buffer import Buffer
from ogive.errors import DeviceError, ExecuteError

_numbers = itertools.count(1).__next__
_alive: WeakValueDictionary[int, Handle] = WeakValueDictionary()

Kind = TypeVar("Kind", bound="Handle")


class Handle(Buffer):
    """A buffer that no kernel can read. Its `address` is a number by which it is looked up.

    Plans get these numbers in the places of addresses. So a compiled graph holds neither a path nor
    a function, and serves for others as well.
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
    """The live handle of that number and kind. Raises `ExecuteError` if there is none."""
    handle = _alive.get(number)
    if not isinstance(handle, kind):
        raise ExecuteError(f"a plan refers to {kind.__name__} number {number}, which is gone")
    return handle
