"""LDLᵀ of symmetric matrices that need not be definite, with the pivoting of Bunch and Kaufman.

D has blocks of one or two rows. As in LAPACK, the lower triangle of the result holds L below D. A
pivot is the number, from 1 on, of the row that was exchanged with this one; for both rows of a
block of two, it is minus the row exchanged with the second. The elimination is our own, in NumPy,
one matrix after another.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ShapeError
from ogive.named import NamedTuple
from ogive.tensor import build
from ogive.tensor.linear_algebra.host_matrices import to_matrix
from ogive.tensor.linear_algebra.lu_factors import magnitude, refuse_failed
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor

GROWTH = (1 + math.sqrt(17)) / 8
"""The least ratio of a pivot to the greatest element of its column, which minimizes growth."""


class Blocks(NamedTuple):
    """L and D in one matrix, and the pivots."""

    LD: Tensor
    pivots: Tensor


class CheckedBlocks(NamedTuple):
    """L, D and pivots, and for each matrix the first column without a pivot, from 1; 0 for none."""

    LD: Tensor
    pivots: Tensor
    info: Tensor


def ldl_factor(A: Tensor, *, hermitian: bool = False) -> Blocks:
    """L with ones on the diagonal and D of small blocks; L D Lᵀ = A up to the order of rows.

    Shapes: (..., n, n) → (..., n, n), (..., n) of int32. Only the lower triangle is read. With
    `hermitian` it is L D Lᴴ. Without gradients.

    >>> ogive.linalg.ldl_factor(Tensor([[4.0, 2.0], [2.0, 5.0]])).LD.tril().tolist()
    [[4.0, 0.0], [0.5, 4.0]]
    """
    return Blocks(*ldl_factor_ex(A, hermitian=hermitian)[:2])


def ldl_factor_ex(
    A: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> CheckedBlocks:
    """`ldl_factor`, and for each matrix the first column that has no pivot.

    >>> ogive.linalg.ldl_factor_ex(Tensor([[0.0]])).info.item()
    1

    Raises `LinearAlgebraError` if there is one and `check_errors` is set, which computes at once.
    """
    size, _ = to_matrix(A, "linalg.ldl_factor", square=True)
    batch = A.shape[:-2]
    outputs = [(A.shape, A.dtype), ((*batch, size), dtypes.int32), (batch, dtypes.int32)]
    function = _factor_hermitian if hermitian and A.dtype.is_complex else _factor_symmetric
    factors = custom(function, [A.detach()], outputs, "linalg.ldl_factor", batched=True)
    if check_errors:
        refuse_failed(factors[2], "linalg.ldl_factor_ex: column {} of a matrix has no pivot")
    return CheckedBlocks(*factors)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> Tensor:
    """The X for which A X = B, from `ldl_factor` of A.

    Shapes: (..., n, n), (..., n) with B (..., n, k) → (..., n, k). Without gradients.

    >>> blocks = ogive.linalg.ldl_factor(Tensor([[4.0, 2.0], [2.0, 5.0]]))
    >>> ogive.linalg.ldl_solve(*blocks, Tensor([[8.0], [12.0]])).tolist()
    [[1.0], [2.0]]

    Raises `ShapeError` when they do not fit.
    """
    size, _ = to_matrix(LD, "linalg.ldl_solve", square=True)
    if B.ndim < 2 or B.shape[-2] != size:
        raise ShapeError(f"linalg.ldl_solve: B has the shape {B.shape}; expected (..., {size}, k)")
    batch = build.broadcast_shapes(LD.shape[:-2], B.shape[:-2], "linalg.ldl_solve")
    inputs = [
        LD.detach().expand(*batch, size, size), pivots.expand(*batch, size),
        B.detach().expand(*batch, *B.shape[-2:]),
    ]  # fmt: skip
    function = _solve_hermitian if hermitian and LD.dtype.is_complex else _solve_symmetric
    shape = (*batch, *B.shape[-2:])
    solution: Tensor = custom(function, inputs, (shape, B.dtype), "linalg.ldl_solve", batched=True)
    return solution


def _factor_symmetric(matrix: Array, compact: Array, pivots: Array, info: Array) -> None:
    _factor_all(matrix, compact, pivots, info, False)


def _factor_hermitian(matrix: Array, compact: Array, pivots: Array, info: Array) -> None:
    _factor_all(matrix, compact, pivots, info, True)


def _factor_all(matrix: Array, compact: Array, pivots: Array, info: Array, hermitian: bool) -> None:
    size = matrix.shape[-1]
    count = math.prod(matrix.shape[:-2])
    work = matrix.reshape(count, size, size).copy()
    chosen = numpy.zeros((count, size), numpy.int32)
    failed = numpy.zeros(count, numpy.int32)
    for number in range(count):
        failed[number] = _factor(work[number], chosen[number], hermitian)
    compact[...] = work.reshape(matrix.shape)
    pivots[...] = chosen.reshape(pivots.shape)
    info[...] = failed.reshape(info.shape)


def _factor(A: Array, pivots: Array, hermitian: bool) -> int:
    """Eliminate in place, below the diagonal; returns the first column without a pivot."""
    size, failed, k = len(A), 0, 0
    lower = numpy.tril(A)
    mirror = numpy.tril(A, -1).T
    full = lower + (mirror.conj() if hermitian else mirror)
    if hermitian:
        numpy.fill_diagonal(full, full.diagonal().real)
    while k < size:
        row, width = _choose_pivot(full, k)
        end = k + width
        _exchange_both(full[k:, k:], width - 1, row - k)
        pivots[k:end] = row + 1 if width == 1 else -(row + 1)
        block = full[k:end, k:end]
        if width == 1 and block[0, 0] == 0:
            failed = failed or k + 1
        else:
            column = full[end:, k:end]
            factor = numpy.linalg.solve(block.T, column.T).T
            full[end:, end:] -= factor @ (column.conj().T if hermitian else column.T)
            full[end:, k:end] = factor
        k = end
    A[...] = numpy.tril(full)
    return failed


def _choose_pivot(full: Array, k: int) -> tuple[int, int]:
    """The row to exchange with, and whether one or two rows are eliminated."""
    own = magnitude(full[k, k])
    below = magnitude(full[k + 1 :, k])
    most = below.max(initial=0)
    if not max(own, most) or own >= GROWTH * most:
        return k, 1
    row = k + 1 + int(below.argmax())
    beside = magnitude(full[row, k:])
    beside[row - k] = 0
    widest = beside.max()
    if own >= GROWTH * most * (most / widest):
        return k, 1
    return (row, 1) if magnitude(full[row, row]) >= GROWTH * widest else (row, 2)


def _exchange_both(left: Array, one: int, other: int) -> None:
    """Exchange rows and columns of the part that is not eliminated yet."""
    if one != other:
        left[[one, other], :] = left[[other, one], :]
        left[:, [one, other]] = left[:, [other, one]]


def _solve_symmetric(compact: Array, pivots: Array, right: Array, result: Array) -> None:
    _solve_all(compact, pivots, right, result, False)


def _solve_hermitian(compact: Array, pivots: Array, right: Array, result: Array) -> None:
    _solve_all(compact, pivots, right, result, True)


def _solve_all(compact: Array, pivots: Array, right: Array, result: Array, hermitian: bool) -> None:
    count = math.prod(compact.shape[:-2])
    factors, chosen, values = [
        array.reshape(count, *array.shape[rank:])
        for array, rank in ((compact, -2), (pivots, -1), (right.copy(), -2))
    ]
    for number in range(count):
        _solve(factors[number], chosen[number], values[number], hermitian)
    result[...] = values.reshape(result.shape)


def _solve(LD: Array, pivots: Array, B: Array, hermitian: bool) -> None:
    """Solve in place: down with L, through the blocks of D, and up with Lᵀ."""
    size, k = len(LD), 0
    blocks = []
    while k < size:
        end = k + (1 if pivots[k] > 0 else 2)
        blocks.append((k, end, abs(int(pivots[k])) - 1))
        k = end
    for k, end, row in blocks:
        B[[end - 1, row]] = B[[row, end - 1]]
        B[end:] -= LD[end:, k:end] @ B[k:end]
        block = numpy.tril(LD[k:end, k:end])
        mirror = numpy.tril(block, -1).T
        B[k:end] = numpy.linalg.solve(block + (mirror.conj() if hermitian else mirror), B[k:end])
    for k, end, row in reversed(blocks):
        factor = LD[end:, k:end]
        B[k:end] -= (factor.conj() if hermitian else factor).T @ B[end:]
        B[[end - 1, row]] = B[[row, end - 1]]
