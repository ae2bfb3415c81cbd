"""Linear algebra, under the names of the array API standard and of `torch.linalg`."""

from __future__ import annotations

from ogive.tensor.decompositions import (
    cholesky,
    det,
    eigh,
    eigvalsh,
    inv,
    pinv,
    qr,
    slogdet,
    solve,
    solve_triangular,
    svd,
    svdvals,
)
from ogive.tensor.einsum import tensordot
from ogive.tensor.linalg import (
    cond,
    cross,
    diagonal,
    lstsq,
    matmul,
    matrix_norm,
    matrix_power,
    matrix_rank,
    matrix_transpose,
    norm,
    outer,
    trace,
    vecdot,
    vector_norm,
)
from ogive.tensor.linear import multi_dot

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]
