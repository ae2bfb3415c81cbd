"""Helpers for models: bounds for gradients, parameters as one vector, parametrized weights, batches
of sequences."""

from __future__ import annotations

from ogive.nn.utils import parametrizations, parametrize, prune, rnn
from ogive.nn.utils.parameters import (
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
    parameters_to_vector,
    vector_to_parameters,
)

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "prune",
    "rnn",
    "vector_to_parameters",
]
