"""`torch.jit.annotations`: the types that scripts name."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035  (these are the names)

from ogive.torch.compilation.scripting import Final, ignore, unused

__all__ = [
    "Any", "BroadcastingList1", "BroadcastingList2", "BroadcastingList3", "Dict", "Final", "List",
    "Optional", "Tuple", "Union", "ignore", "unused",
]  # fmt: skip


class BroadcastingList1:
    """A list of numbers, for which one number may be given: `BroadcastingList1[int]`."""

    def __class_getitem__(cls, kind: Any) -> type:
        return cls


BroadcastingList2 = BroadcastingList3 = BroadcastingList1
