"""The exponential of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ogive.tensor.linear_algebra.host_matrices import to_matrix, with_gradient
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.movement.joining import cat
from ogive.tensor.values.custom_function import custom

if TYPE_CHECKING:
    from ogive.tensor.linear_algebra.host_matrices import Array
    from ogive.tensor.tensor import Tensor

DEGREE = 13
"""The degree of the Padé approximation, which is exact to float64 for norms up to `BOUND`."""

BOUND = 4.0


@open_to_eager
def matrix_exp(A: Tensor) -> Tensor:
    """I + A + A²/2! + A³/3! + ... Shapes: (..., n, n) → (..., n, n).

    NumPy computes it, as a step between kernels: a matrix is halved, and its exponential squared,
    as often as its norm requires.

    >>> ogive.linalg.matrix_exp(Tensor([[0.0, 1.0], [0.0, 0.0]])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]

    Raises `ShapeError` unless the matrices are square.
    """
    size, _ = to_matrix(A, "linalg.matrix_exp", square=True)
    outputs = (A.shape, A.dtype)
    result: Tensor = custom(exponential, [A], outputs, "linalg.matrix_exp", batched=True)

    def backward(upstream: Tensor) -> Tensor:
        # The derivative is a block of the exponential of a matrix twice as large.
        turned = A.mH
        upper, lower = cat([turned, upstream], -1), cat([turned * 0, turned], -1)
        return matrix_exp(cat([upper, lower], -2))[..., :size, size:]

    return with_gradient([A], result, backward)


def exponential(matrix: Array, result: Array) -> None:
    if not matrix.size:
        return
    wide = matrix.astype(numpy.promote_types(matrix.dtype, numpy.float64))
    norm = numpy.abs(wide).sum(-2).max(-1)
    with numpy.errstate(divide="ignore"):
        halvings = numpy.ceil(numpy.log2(norm / BOUND)).clip(0, 1100)
    halvings = numpy.where(numpy.isfinite(norm), halvings, 0)
    powers = _quotient(wide / numpy.exp2(halvings)[..., None, None])
    for step in range(int(halvings.max())):
        squared = powers @ powers
        powers = numpy.where((step < halvings)[..., None, None], squared, powers)
    result[...] = powers


def _quotient(x: Array) -> Array:
    """The Padé approximation p(x) / p(-x), with even and odd powers summed separately."""
    unit = numpy.broadcast_to(numpy.eye(x.shape[-1]), x.shape)
    coefficients = [1.0]
    for k in range(1, DEGREE + 1):
        coefficients.append(coefficients[-1] * (DEGREE - k + 1) / (k * (2 * DEGREE - k + 1)))
    square = x @ x
    power, even, odd = unit, 0 * x, 0 * x
    for k in range(0, DEGREE + 1, 2):
        even = even + coefficients[k] * power
        odd = odd + coefficients[k + 1] * power
        power = power @ square
    odd = x @ odd
    quotient: Array = numpy.linalg.solve(even - odd, even + odd)
    return quotient
