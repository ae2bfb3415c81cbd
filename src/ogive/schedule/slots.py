"""The memory of a run, by number."""

from __future__ import annotations

from dataclasses import dataclass

from ogive.ir.dtype import DType


@dataclass(frozen=True)
class Slot:
    """Memory that a run needs: `parameter` says which of the graph's, None one of its own."""

    dtype: DType
    count: int
    parameter: int | None

    @property
    def nbytes(self) -> int:
        return self.count * self.dtype.itemsize
