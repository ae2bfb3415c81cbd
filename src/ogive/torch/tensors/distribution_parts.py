"""`torch.distributions.utils`: helpers with which programs define distributions."""

from __future__ import annotations

from typing import Any

from ogive.distributions.distribution_parameters import (
    broadcast_all,
    computed,
    epsilon,
    logits_to_probs,
    probs_to_logits,
)
from ogive.distributions.matrix_transforms import tril_matrix_to_vec, vec_to_tril_matrix
from ogive.tensor.tensor import Tensor
from ogive.torch.tensors import creation

__all__ = [
    "_standard_normal", "broadcast_all", "clamp_probs", "euler_constant", "lazy_property",
    "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec", "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060
lazy_property = computed


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Tensor:
    """Draws from the normal distribution with mean 0 and deviation 1."""
    draws: Tensor = creation.randn(tuple(shape), dtype=dtype, device=device)
    return draws


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities clamped away from 0 and 1.

    >>> clamp_probs(Tensor([0.5])).tolist()
    [0.5]
    """
    least = epsilon(probs)
    return probs.clamp(least, 1 - least)
