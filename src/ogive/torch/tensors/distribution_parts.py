"""`torch.distributions.utils`: what programs make distributions of their own with."""

from __future__ import annotations

from typing import Any

from ogive.distributions.distribution_parameters import (
    broadcast_all,
    computed,
    epsilon,
    logits_to_probs,
    probs_to_logits,
)
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors import creation

__all__ = [
    "_standard_normal", "broadcast_all", "clamp_probs", "euler_constant", "lazy_property",
    "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060
lazy_property = computed


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Numbers of the normal distribution with mean 0 and deviation 1."""
    made: Tensor = creation.randn(tuple(shape), dtype=dtype, device=device)
    return made


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities kept off 0 and 1.

    >>> clamp_probs(Tensor([0.5])).tolist()
    [0.5]
    """
    least = epsilon(probs)
    return probs.clamp(least, 1 - least)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The entries on and below a diagonal, by rows. Shapes: (..., n, n) → (..., count)."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = creation.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """`tril_matrix_to_vec` backwards, with zeros above. Shapes: (..., count) → (..., n, n)."""
    count, n = vec.shape[-1], 0
    while _entries(n, diag) < count:
        n += 1
    if _entries(n, diag) != count:
        raise ValueError(f"no square matrix has {count} entries on and below diagonal {diag}")
    rows, columns = creation.tril_indices(n, n, diag)
    made: Tensor = creation.zeros(*vec.shape[:-1], n, n, dtype=vec.dtype)
    made[..., rows, columns] = vec
    return made


def _entries(n: int, diag: int) -> int:
    """How many entries of an n-by-n matrix are on and below a diagonal."""
    return sum(min(max(row + 1 + diag, 0), n) for row in range(n))
