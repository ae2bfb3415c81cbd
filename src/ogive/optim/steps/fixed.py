"""Dictionaries that cannot change, so that captured functions need not compare them at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from ogive.errors import ArgumentTypeError

Key = TypeVar("Key")
Value = TypeVar("Value")


class Fixed(dict[Key, Value]):
    """A dictionary that cannot be changed. The tensors in it can be assigned to."""

    is_fixed = True

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ArgumentTypeError(
            "an optimizer's state cannot be replaced; change its tensors with assign() instead"
        )

    __setitem__: Callable[..., None] = _refuse
    __delitem__: Callable[..., None] = _refuse
    __ior__: Callable[..., Any] = _refuse
    clear: Callable[..., None] = _refuse
    pop: Callable[..., Any] = _refuse
    popitem: Callable[..., Any] = _refuse
    setdefault: Callable[..., Any] = _refuse
    update: Callable[..., None] = _refuse
