"""Distances and angles between vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from ogive.compiler.ir import dtype as dtypes
from ogive.compiler.ir.dtype import promote
from ogive.compiler.ir.symbolic.evaluate import evaluate
from ogive.errors import ArgumentError, ShapeError
from ogive.tensor import build
from ogive.tensor.autocast_dtypes import widened
from ogive.tensor.core import to_axis
from ogive.tensor.elementwise.pairwise import only_floats
from ogive.tensor.method_functions import open_to_eager
from ogive.tensor.outlined import outlined

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor


@open_to_eager
@outlined
@widened
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str | None = None) -> Tensor:
    """The `norm` of the difference of every row of `x1` to every row of `x2`.

    Shapes: (..., a, n), (..., b, n) → (..., a, b). Distances are always computed from differences;
    `compute_mode`, with which PyTorch uses products instead, has no effect.

    >>> cdist(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0], [0.0, 1.0]])).tolist()
    [[5.0, 1.0]]

    Raises `ShapeError` when the rows differ in length, `ArgumentError` for a negative `p`.
    """
    only_floats(promote(x1.dtype, x2.dtype), "cdist")
    if x1.ndim < 2 or x2.ndim < 2 or x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(
            f"cdist: shapes {build.show(x1.shape)} and {build.show(x2.shape)} must be (..., a, n) "
            "and (..., b, n)"
        )
    return _lengths(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, "cdist")


def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    """The `norm` of the difference of every two rows, each pair once: (0, 1), (0, 2), ..., (1, 2).

    Shapes: (n, m) → (n · (n - 1) / 2,).

    >>> pdist(Tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).tolist()[:2]
    [5.0, 1.0]

    Raises `ShapeError` unless `x` is a matrix, `ArgumentError` for a negative `p`.
    """
    if x.ndim != 2:
        raise ShapeError(f"pdist: the shape is {build.show(x.shape)}; expected (n, m)")
    first, second = numpy.triu_indices(evaluate(x.shape[0]), 1)
    return _lengths(x[first] - x[second], p, "pdist")


def _lengths(difference: Tensor, p: float, name: str) -> Tensor:
    if p < 0:
        raise ArgumentError(f"{name}: p is {p}, and cannot be negative")
    return difference.sum(-1) if difference.shape[-1] == 0 else difference.norm(p, -1)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """The `norm` of x1 - x2 + eps along the last axis. Shapes: (..., n), (..., n) → (...).

    >>> pairwise_distance(Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]), eps=0).tolist()
    [5.0]
    """
    return (x1 - x2 + eps).norm(p, -1, keepdim)


@open_to_eager
@outlined
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """The cosine of the angle between vectors along `dim`, whose lengths count as at least `eps`.

    Shapes: broadcast, (a, b) → (a,) for `dim` 1.

    >>> cosine_similarity(Tensor([[1.0, 0.0]]), Tensor([[0.0, 2.0]])).tolist()
    [0.0]

    Raises `DtypeError` for integers and bool.
    """
    return cosines(x1, x2, dim, eps)


def cosines(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Tensor:
    """The cosine of the angle between vectors, as in `cosine_similarity`."""
    dtype = only_floats(promote(x1.dtype, x2.dtype), "cosine_similarity")
    compute = dtypes.float32 if dtype in build.WIDENED else dtype
    shape = build.broadcast_shapes(x1.shape, x2.shape, "cosine_similarity")
    axis = to_axis(dim, len(shape) or 1, "cosine_similarity")
    a, b = x1.cast(compute).expand(shape), x2.cast(compute).expand(shape)
    lengths = a.norm(2, axis).maximum(eps) * b.norm(2, axis).maximum(eps)
    return ((a * b).sum(axis) / lengths).cast(dtype)
