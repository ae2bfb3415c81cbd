"""The memory of a run, by number."""

from __future__ import annotations

from typing import NamedTuple

from ogive.ir.dtype import DType


class Slot(NamedTuple):
    """Memory that a run needs: `parameter` says which of the graph's, None one of its own."""

    dtype: DType
    count: int  # type: ignore[assignment]  # hides a method of tuples
    parameter: int | None

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize
