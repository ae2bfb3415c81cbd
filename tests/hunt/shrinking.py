"""Programs cut down to what their failure needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Part = TypeVar("Part")


def shrink(
    program: Sequence[Part], failure: Callable[[Sequence[Part]], str | None]
) -> list[Part]:
    """The program without the parts that a failure of its kind does not need.

    `failure` says in words what goes wrong; its kind is what comes before the first colon.
    """
    parts = list(program)
    kind = _kind(failure(parts))
    changed = True
    while changed:
        changed = False
        for place in reversed(range(len(parts))):
            shorter = [*parts[:place], *parts[place + 1 :]]
            if _kind(failure(shorter)) == kind:
                parts, changed = shorter, True
    return parts


def _kind(words: str | None) -> str | None:
    return None if words is None else words.partition(":")[0]
