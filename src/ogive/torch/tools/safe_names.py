"""Classes that files may name although only weights are read: `torch.serialization`'s lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["add_safe_globals", "clear_safe_globals", "get_safe_globals", "safe_globals"]


class _Allowed:
    """What the program has said to be safe."""

    def __init__(self) -> None:
        self.classes: list[Any] = []


_allowed = _Allowed()


def safe_names() -> set[str]:
    """The dotted names of what is safe."""
    return {
        each[1] if isinstance(each, tuple) else f"{each.__module__}.{each.__qualname__}"
        for each in _allowed.classes
    }


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let files name these classes and functions."""
    _allowed.classes += safe_globals


def get_safe_globals() -> list[Any]:
    """What files may name."""
    return list(_allowed.classes)


def clear_safe_globals() -> None:
    """Let files name nothing but tensors and plain data."""
    _allowed.classes.clear()


class safe_globals:
    """Let files name these classes and functions inside."""

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self._given = list(safe_globals)

    def __enter__(self) -> None:
        self._before = get_safe_globals()
        add_safe_globals(self._given)

    def __exit__(self, *error: object) -> None:
        _allowed.classes[:] = self._before
