"""Linear algebra, under the names of the array API standard and of `torch.linalg`."""

from __future__ import annotations

from ogive.tensor.linear_algebra.decompositions import cholesky, eigh, eigvalsh, qr, svd, svdvals
from ogive.tensor.linear_algebra.eigenvalues import eig, eigvals
from ogive.tensor.linear_algebra.einsum import tensordot
from ogive.tensor.linear_algebra.householder import householder_product
from ogive.tensor.linear_algebra.inverses import det, inv, pinv, slogdet, solve, solve_triangular
from ogive.tensor.linear_algebra.ldl_factors import ldl_factor, ldl_factor_ex, ldl_solve
from ogive.tensor.linear_algebra.lu_factors import lu, lu_factor, lu_factor_ex, lu_solve
from ogive.tensor.linear_algebra.matrix_exponential import matrix_exp
from ogive.tensor.linear_algebra.matrix_functions import (
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
from ogive.tensor.linear_algebra.multilinear import tensorinv, tensorsolve, vander
from ogive.tensor.linear_algebra.named_products import multi_dot
from ogive.tensor.linear_algebra.solvers_with_info import cholesky_ex, inv_ex, solve_ex

__all__ = [
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
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
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vander",
    "vecdot",
    "vector_norm",
]
