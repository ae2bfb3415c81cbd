"""LU decomposition, and systems solved with it.

The elimination is our own, in NumPy, column by column for all matrices at once. It provides only
values and the order of rows; gradients are composed of tensor operations. With the permutation P
of rows, for a square matrix

    dA = P L⁻ᴴ (tril(Lᴴ dL, -1) + triu(dU Uᴴ)) U⁻ᴴ

and a wide one is [L U₁, P A₂] with U₂ = L⁻¹ P A₂; tall ones are similar.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import LinearAlgebraError, ShapeError
from ogive.named import NamedTuple
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import memory_device
from ogive.tensor.creation.constructors import eye
from ogive.tensor.linear_algebra.host_matrices import to_matrix, with_gradient
from ogive.tensor.linear_algebra.inverses import solve_triangular
from ogive.tensor.movement.joining import cat
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor


class LU(NamedTuple):
    """A permutation, a lower triangle with ones on the diagonal, and an upper triangle."""

    P: Tensor
    L: Tensor
    U: Tensor


class Factors(NamedTuple):
    """Both triangles in one matrix, and for each row the row exchanged with it, from 1 on."""

    LU: Tensor
    pivots: Tensor


class CheckedFactors(NamedTuple):
    """Factors, and for each matrix the first column without a pivot, from 1 on; 0 for none."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


def lu(A: Tensor, *, pivot: bool = True) -> LU:
    """P, L and U with P L U = A, with partial pivoting unless `pivot` is False.

    Shapes: (..., m, n) → (..., m, m), (..., m, k), (..., k, n) with k = min(m, n); without pivots P
    is empty.

    >>> P, L, U = ogive.linalg.lu(Tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> L.tolist(), U.tolist()
    ([[1.0, 0.0], [0.25, 1.0]], [[4.0, 4.0], [0.0, 1.0]])
    """
    rows, _ = to_matrix(A, "linalg.lu")
    order, L, U, _, _ = _decompose(A, pivot)
    if not pivot:
        return LU(A.reshape(-1)[:0].detach(), L, U)
    return LU(_permutation(order, rows, A.dtype), L, U)


def lu_factor(A: Tensor, *, pivot: bool = True) -> Factors:
    """L and U in one matrix, without the ones of L, and the pivots, for `lu_solve`.

    Shapes: (..., m, n) → (..., m, n), (..., min(m, n)) of int32.

    >>> ogive.linalg.lu_factor(Tensor([[1.0, 2.0], [4.0, 4.0]])).pivots.tolist()
    [2, 2]
    """
    return Factors(*lu_factor_ex(A, pivot=pivot)[:2])


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> CheckedFactors:
    """`lu_factor`, and for each matrix the first column that has no pivot. See `lu_factor`.

    >>> ogive.linalg.lu_factor_ex(Tensor([[0.0, 1.0], [0.0, 1.0]])).info.item()
    1

    Raises `LinearAlgebraError` if there is one and `check_errors` is set, which computes at once.
    """
    to_matrix(A, "linalg.lu_factor")
    _, L, U, pivots, info = _decompose(A, pivot)
    compact = _compact(L, U)
    if check_errors:
        refuse_failed(info, "linalg.lu_factor_ex: column {} of a matrix has no pivot")
    return CheckedFactors(compact, pivots, info)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> LU:
    """P, L and U from the result of `lu_factor`.

    Shapes: (..., m, n), (..., k) → (..., m, m), (..., m, k), (..., k, n) with k = min(m, n); what
    is not unpacked is empty.

    >>> factors = ogive.linalg.lu_factor(Tensor([[1.0, 2.0], [4.0, 4.0]]))
    >>> ogive.lu_unpack(*factors).P.tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    rows, columns = to_matrix(LU_data, "lu_unpack")
    k = min(rows, columns)
    empty = LU_data.reshape(-1)[:0].detach()
    P, L, U = empty, empty, empty
    if unpack_pivots:
        P = _permutation(_order_of(LU_pivots, rows), rows, LU_data.dtype)
    if unpack_data:
        L, U = _unit_lower(LU_data[..., :k]), LU_data[..., :k, :].triu()
    return LU(P, L, U)


@widened
def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """The X for which A X = B, or X A = B unless `left`, from `lu_factor` of A.

    Shapes: (..., n, n), (..., n) with B (..., n, k) → (..., n, k). With `adjoint` A is transposed,
    and conjugated.

    >>> A = Tensor([[1.0, 2.0], [4.0, 4.0]])
    >>> ogive.linalg.lu_solve(*ogive.linalg.lu_factor(A), Tensor([[3.0], [8.0]])).tolist()
    [[1.0], [1.0]]

    Raises `ShapeError` unless the matrices are square.
    """
    size, _ = to_matrix(LU, "linalg.lu_solve", square=True)
    if not left:
        return lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    if B.ndim < 2 or B.shape[-2] != size:
        raise ShapeError(f"linalg.lu_solve: B has the shape {B.shape}; expected (..., {size}, k)")
    order = _order_of(pivots, size)
    if adjoint:
        y = solve_triangular(LU.triu().mH, B, upper=False)
        y = solve_triangular(LU.mH, y, upper=True, unitriangular=True)
        return take_rows(y, order.argsort(-1))
    y = solve_triangular(LU, take_rows(B, order), upper=False, unitriangular=True)
    return solve_triangular(LU, y, upper=True)


# The elimination and its gradients


def _decompose(A: Tensor, pivot: bool) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """The order of rows, L, U, the pivots, and the first column without a pivot."""
    rows, columns = to_matrix(A, "linalg.lu")
    k, batch = min(rows, columns), A.shape[:-2]
    outputs = [
        (A.shape, A.dtype), ((*batch, rows), dtypes.int64), ((*batch, k), dtypes.int32),
        (batch, dtypes.int32),
    ]  # fmt: skip
    function = _eliminate if pivot else _eliminate_in_order
    compact, order, pivots, info = custom(function, [A], outputs, "linalg.lu", batched=True)
    ordered = take_rows(A, order)
    corner = compact[..., :k, :k]
    L, U = _with_gradient(ordered[..., :k, :k], _unit_lower(corner), corner.triu())
    if columns > k:
        right_columns = solve_triangular(L, ordered[..., k:], upper=False, unitriangular=True)
        U = cat([U, right_columns], -1)
    if rows > k:
        L = cat([L, solve_triangular(U, ordered[..., k:, :], upper=True, left=False)], -2)
    return order, L, U, pivots, info


def _with_gradient(square: Tensor, lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor]:
    """L and U of square matrices whose rows are already in pivot order, with gradients."""

    def backward(to_lower: Tensor, to_upper: Tensor) -> Tensor:
        L, U = _with_gradient(square, lower, upper)
        middle = (L.mH @ to_lower).tril(-1) + (to_upper @ U.mH).triu()
        right = solve_triangular(U.mH, middle, upper=False, left=False)
        return solve_triangular(L.mH, right, upper=True, unitriangular=True)

    factors: tuple[Tensor, Tensor] = with_gradient([square], (lower, upper), backward)
    return factors


def _eliminate(matrix: Array, compact: Array, order: Array, pivots: Array, info: Array) -> None:
    _eliminate_columns(matrix, compact, order, pivots, info, True)


def _eliminate_in_order(
    matrix: Array, compact: Array, order: Array, pivots: Array, info: Array
) -> None:
    _eliminate_columns(matrix, compact, order, pivots, info, False)


def _eliminate_columns(
    matrix: Array, compact: Array, order: Array, pivots: Array, info: Array, pivot: bool
) -> None:
    rows, columns = matrix.shape[-2:]
    count, k = math.prod(matrix.shape[:-2]), min(rows, columns)
    work = matrix.reshape(count, rows, columns).copy()
    which, at = numpy.arange(count), numpy.tile(numpy.arange(rows), (count, 1))
    chosen = numpy.tile(numpy.arange(k), (count, 1))
    failed = numpy.zeros(count, numpy.int32)
    for step in range(k):
        if pivot:
            best = step + magnitude(work[:, step:, step]).argmax(-1)
            chosen[:, step] = best
            for line in (work, at):
                line[which, step], line[which, best] = line[which, best], line[which, step].copy()
        head = work[:, step, step]
        failed = numpy.where((head == 0) & (failed == 0), step + 1, failed)
        divisor = numpy.where(head == 0, 1, head)[:, None]
        work[:, step + 1 :, step] /= divisor
        lower, right = work[:, step + 1 :, step, None], work[:, None, step, step + 1 :]
        work[:, step + 1 :, step + 1 :] -= lower * right
    compact[...] = work.reshape(matrix.shape)
    order[...] = at.reshape(order.shape)
    pivots[...] = (chosen + 1).reshape(pivots.shape)
    info[...] = failed.reshape(info.shape)


def magnitude(values: Any) -> Any:
    """The magnitude by which LAPACK compares pivots: |x|, or |real| + |imaginary|."""
    if values.dtype.kind == "c":
        return numpy.abs(values.real) + numpy.abs(values.imag)
    return numpy.abs(values)


def _order_of(pivots: Tensor, rows: int) -> Tensor:
    """The order of rows after all exchanges of the pivots: (..., k) → (..., rows)."""
    shape = (*pivots.shape[:-1], rows)
    order: Tensor = custom(_exchange, [pivots], (shape, dtypes.int64), "pivots", batched=True)
    return order


def _exchange(pivots: Array, order: Array) -> None:
    count = pivots.shape[-1]
    chosen = pivots.reshape(math.prod(pivots.shape[:-1]), count) - 1
    at = numpy.tile(numpy.arange(order.shape[-1]), (len(chosen), 1))
    which = numpy.arange(len(chosen))
    for step in range(count):
        best = chosen[:, step]
        at[which, step], at[which, best] = at[which, best], at[which, step].copy()
    order[...] = at.reshape(order.shape)


def take_rows(A: Tensor, order: Tensor) -> Tensor:
    """The rows of matrices in another order: (..., m, n), (..., m) → (..., m, n)."""
    batch = order.shape[:-1]
    whole = A.expand(*batch, *A.shape[-2:]) if A.ndim <= order.ndim + 1 else A
    index = order.unsqueeze(-1).expand(whole.shape)
    return whole.gather(-2, index)


def _permutation(order: Tensor, rows: int, dtype: Any) -> Tensor:
    """The P for which P B has the rows of B in their original order."""
    return eye(rows, dtype=dtype, device=memory_device(order))[order].mT


def _unit_lower(A: Tensor) -> Tensor:
    """The part below the diagonal, with ones on the diagonal: (..., m, k)."""
    size = A.shape[-1]
    one = eye(A.shape[-2], size, A.dtype, memory_device(A))
    return A.tril(-1) + one


def _compact(L: Tensor, U: Tensor) -> Tensor:
    rows, k = L.shape[-2:]
    columns = U.shape[-1]
    below = L.tril(-1)
    if columns > k:
        below = below.pad((0, columns - k))
    return below + (U.pad((0, 0, 0, rows - k)) if rows > k else U)


def refuse_failed(info: Tensor, message: str) -> None:
    """Raise `LinearAlgebraError` if an element of `info` is not 0; computes at once."""
    codes = info.numpy()
    if codes.any():
        raise LinearAlgebraError(message.format(int(codes[codes != 0].flat[0])))
