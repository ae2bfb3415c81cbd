"""`torch.linalg`: the name of its error."""

from __future__ import annotations

from ogive.errors import LinearAlgebraError

__all__ = [
    "LinAlgError",
]  # fmt: skip

LinAlgError = LinearAlgebraError
