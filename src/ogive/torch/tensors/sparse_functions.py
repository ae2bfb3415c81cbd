"""`torch.sparse`: functions of sparse tensors, and PyTorch's old constructors of them."""

from __future__ import annotations

from typing import Any

import ogive
from ogive.errors import ArgumentTypeError
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors.sparse import SparseTensor
from ogive.torch.tensors.sparse_matrices import smm, sparse_coo_tensor, spmm
from ogive.torch.texts.sizes import Size

__all__ = [
    "DoubleTensor", "FloatTensor", "SparseTensor", "addmm", "log_softmax", "mm", "smm", "softmax",
    "spmm", "sum",
]  # fmt: skip


mm = spmm


def addmm(mat: Tensor, mat1: Any, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """`beta * mat + alpha * mat1 @ mat2` with a sparse `mat1`."""
    total: Tensor = beta * mat + alpha * mm(mat1, mat2)
    return total


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of all elements, or along axes."""
    return _sparse("sum", input if dtype is None else input.to(dtype)).sum(dim)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The softmax along an axis, over the listed entries only."""
    return _sparse("softmax", input if dtype is None else input.to(dtype)).softmax(dim)


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of `softmax`."""
    return _sparse("log_softmax", input if dtype is None else input.to(dtype)).log_softmax(dim)


def _sparse(name: str, given: Any) -> SparseTensor:
    if not isinstance(given, SparseTensor):
        raise ArgumentTypeError(f"torch.sparse.{name} takes a sparse tensor, got {given!r}")
    return given


def FloatTensor(indices: Any, values: Any, size: Any = None) -> SparseTensor:
    """A sparse tensor of float32."""
    return sparse_coo_tensor(indices, values, size and Size(size), dtype=ogive.float32)


def DoubleTensor(indices: Any, values: Any, size: Any = None) -> SparseTensor:
    """A sparse tensor of float64."""
    return sparse_coo_tensor(indices, values, size and Size(size), dtype=ogive.float64)
