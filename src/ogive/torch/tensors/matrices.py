"""`torch.linalg`: the name of its error, and functions that take tensors of one dtype."""

from __future__ import annotations

import ogive
from ogive.eager.equal_dtypes import checked
from ogive.errors import LinearAlgebraError

__all__ = ["LinAlgError", "cross", "solve"]

LinAlgError = LinearAlgebraError
cross = checked(ogive.linalg.cross)
solve = checked(ogive.linalg.solve)
