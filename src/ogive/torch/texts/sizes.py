"""`torch.Size`: the lengths of a tensor's axes, with PyTorch's text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, SupportsIndex


class Size(tuple[Any, ...]):
    """The lengths of axes. Slices and sums of sizes are sizes, too.

    >>> ogive.torch.Size([2, 3]).numel(), ogive.torch.zeros(2, 3).shape[1:]
    (6, torch.Size([3]))
    """

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(repr, self))}])"

    def __getitem__(self, index: Any, _item: Any = tuple.__getitem__) -> Any:
        chosen = _item(self, index)
        return Size(chosen) if chosen.__class__ is tuple else chosen

    def __add__(self, other: tuple[Any, ...]) -> Size:
        return Size(tuple.__add__(self, other)) if isinstance(other, tuple) else NotImplemented

    def __radd__(self, other: tuple[Any, ...]) -> Size:
        return Size(tuple.__add__(other, self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> Size:
        return Size(tuple.__mul__(self, count))

    __rmul__ = __mul__

    def __reduce__(self) -> tuple[type[Size], tuple[Iterable[Any]]]:
        return Size, (tuple(self),)
