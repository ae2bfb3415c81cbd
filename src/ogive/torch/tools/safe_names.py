"""The classes that files may contain with `weights_only`: the lists of `torch.serialization`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"]


class _Allowed:
    """The classes and functions that the program has declared safe."""

    def __init__(self) -> None:
        self.classes: list[Any] = []


_allowed = _Allowed()


def safe_names() -> set[str]:
    """The dotted names of the safe classes and functions."""
    return {
        each[1] if isinstance(each, tuple) else f"{each.__module__}.{each.__qualname__}"
        for each in _allowed.classes
    }


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Declare classes and functions safe in files."""
    _allowed.classes += safe_globals


def get_safe_globals() -> list[Any]:
    """The classes and functions that were declared safe."""
    return list(_allowed.classes)


def clear_safe_globals() -> None:
    """Withdraw all declarations: files may contain only tensors and plain data."""
    _allowed.classes.clear()


class safe_globals:
    """A context in which classes and functions are declared safe."""

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self._given = list(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._given)

    def __exit__(self, *error: object) -> None:
        _allowed.classes[:] = self._before
