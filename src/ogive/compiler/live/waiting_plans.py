"""Memory that a prepared plan will fill. A read before that executes the plan first."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

unexecuted: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The outputs of prepared plans that have not been executed yet, each with its plan."""


def is_unexecuted(buffer: Any) -> bool:
    """Whether a plan has yet to fill this memory."""
    return bool(unexecuted) and buffer in unexecuted
