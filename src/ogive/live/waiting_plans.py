"""Memory that a plan is to fill: whoever reads it before has the plan executed first."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

unexecuted: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""The outputs of prepared plans that have not been executed yet, and these plans."""


def is_unexecuted(buffer: Any) -> bool:
    """Whether memory is still to be filled by a plan."""
    return bool(unexecuted) and buffer in unexecuted
