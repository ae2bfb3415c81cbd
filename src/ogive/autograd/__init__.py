"""Differentiation: gradients of lazy graphs as lazy graphs, and transforms of functions."""

from ogive.autograd.checkpoint import checkpoint
from ogive.autograd.custom import custom_gradient
from ogive.autograd.functional import grad, jvp, value_and_grad, vjp
from ogive.autograd.mode import enable_grad, grad_enabled, no_grad
from ogive.autograd.vectorize import vmap

__all__ = [
    "checkpoint",
    "custom_gradient",
    "enable_grad",
    "grad",
    "grad_enabled",
    "jvp",
    "no_grad",
    "value_and_grad",
    "vjp",
    "vmap",
]
