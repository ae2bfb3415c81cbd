"""`torch.linalg`: its error class, and functions whose tensors must have one dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ogive
from ogive.eager.equal_dtypes import checked
from ogive.errors import LinearAlgebraError

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

__all__ = ["LinAlgError", "cross", "matrix_rank", "solve"]

LinAlgError = LinearAlgebraError
cross = checked(ogive.linalg.cross)
solve = checked(ogive.linalg.solve)


def matrix_rank(
    A: Tensor,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
) -> Tensor:
    """The number of singular values above a bound: `tol`, or the larger of `atol` and rtol · σ_max.

    >>> matrix_rank(Tensor([[1.0, 0.0], [0.0, 0.1]]), tol=0.5).item()
    1
    """
    if tol is not None:
        atol, rtol = tol, 0.0
    return ogive.linalg.matrix_rank(A, atol=atol, rtol=rtol, hermitian=hermitian)
