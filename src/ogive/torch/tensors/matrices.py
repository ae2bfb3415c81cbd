"""`torch.linalg`: its error class, and functions whose tensors must have one dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ogive
from ogive.eager.equal_dtypes import checked
from ogive.errors import ArgumentError, LinearAlgebraError
from ogive.tensor.linear_algebra.matrix_functions import LeastSquares

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

__all__ = ["LinAlgError", "cross", "lstsq", "matrix_rank", "solve"]

LinAlgError = LinearAlgebraError
cross = checked(ogive.linalg.cross)
solve = checked(ogive.linalg.solve)

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def lstsq(
    A: Tensor, B: Tensor, rcond: float | None = None, *, driver: str | None = None
) -> LeastSquares:
    """`ogive.linalg.lstsq` with the results that PyTorch has of a driver, by default "gelsy".

    "gels" gives no rank and "gelsy" no residuals; neither gives singular values. Residuals are
    there only for more rows than columns, and if every matrix has full rank. What a driver does not
    give has no elements. Raises `ArgumentError` for another driver.

    >>> lstsq(Tensor([[1.0], [1.0]]), Tensor([[1.0], [3.0]]), driver="gels").residuals.shape
    torch.Size([1])
    """
    chosen = driver or "gelsy"
    if chosen not in DRIVERS:
        raise ArgumentError(f"linalg.lstsq: driver is one of {', '.join(DRIVERS)}, not {driver!r}")
    is_vector = B.ndim < A.ndim and B.shape == A.shape[:-1]
    found = ogive.linalg.lstsq(A, B.unsqueeze(-1) if is_vector else B, rcond)
    none = A.detach().new_zeros(0, dtype=found.singular_values.dtype)
    has_residuals = chosen != "gelsy" and (
        chosen == "gels" or bool((found.rank == A.shape[-1]).all())
    )
    return LeastSquares(
        found.solution.squeeze(-1) if is_vector else found.solution,
        found.residuals if has_residuals else none,
        none.to(ogive.int64) if chosen == "gels" else found.rank,
        found.singular_values if chosen in ("gelsd", "gelss") else none,
    )


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
