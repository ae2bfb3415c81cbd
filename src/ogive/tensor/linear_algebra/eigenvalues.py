"""Eigenvalues and eigenvectors of any square matrices, which are complex also for real matrices.

NumPy computes them (LAPACK's Hessenberg form and QR steps), with about 25 n³ multiplications on one
core, ten times as many as `eigh` for symmetric matrices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.linear_algebra.decompositions import Eigen
from ogive.tensor.linear_algebra.host_matrices import is_diagonal, to_matrix, with_gradient
from ogive.tensor.linear_algebra.inverses import solve
from ogive.tensor.movement.joining import where
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor


@widened
def eig(A: Tensor) -> Eigen:
    """The eigenvalues, in no order, and eigenvectors of length 1 as columns: A V = V diag(λ).

    Shapes: (..., n, n) → (..., n), (..., n, n), both complex.

    >>> ogive.linalg.eig(Tensor([[0.0, -1.0], [1.0, 0.0]])).eigenvalues.imag.tolist()
    [1.0, -1.0]

    Raises `ShapeError` unless the matrices are square. Gradients need distinct eigenvalues; those
    of the vectors make sense only where the phase of a vector does not matter.
    """
    to_matrix(A, "linalg.eig", square=True)
    dtype = dtypes.complex128 if A.dtype.part is dtypes.float64 else dtypes.complex64
    outputs = [(A.shape[:-1], dtype), (A.shape, dtype)]
    parts = tuple(custom(_eigen, [A], outputs, "linalg.eig", batched=True))

    def backward(to_values: Tensor, to_vectors: Tensor) -> Tensor:
        values, vectors = eig(A)
        gap = values.unsqueeze(-2) - values.unsqueeze(-1)
        gap = where(is_diagonal(A), 1.0, gap).conj()
        turned = vectors.mH @ to_vectors
        length = turned.diagonal(0, -2, -1).real.unsqueeze(-2)
        inner = (turned - (vectors.mH @ vectors) * length) / gap
        inner = where(is_diagonal(A), to_values.diag_embed(), inner)
        gradient = solve(vectors.mH, inner @ vectors.mH)
        return gradient if A.dtype.is_complex else gradient.real

    return Eigen(*with_gradient([A], parts, backward))


def _eigen(matrix: Array, values: Array, vectors: Array) -> None:
    values[...], vectors[...] = numpy.linalg.eig(matrix)


@widened
def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of any square matrices, in no order. Shapes: (..., n, n) → (..., n), complex.

    >>> ogive.linalg.eigvals(Tensor([[2.0, 1.0], [0.0, 3.0]])).real.tolist()
    [2.0, 3.0]
    """
    return eig(A).eigenvalues
