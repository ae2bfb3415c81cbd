"""`torch.fx`: only what programs that are not traced by it use."""

from __future__ import annotations

from typing import TypeVar

__all__ = [
    "wrap",
]  # fmt: skip

Given = TypeVar("Given")


def wrap(fn_or_name: Given) -> Given:
    """The function itself: nothing traces it."""
    return fn_or_name
