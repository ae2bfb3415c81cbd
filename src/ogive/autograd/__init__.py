"""Differentiation: gradients of lazy graphs as lazy graphs, and transforms of functions.

`ogive.autograd.grad` differentiates tensors, as in PyTorch. `ogive.grad` transforms functions.
"""

from ogive.autograd.custom import custom_gradient
from ogive.autograd.function import Function
from ogive.autograd.mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from ogive.autograd.tensor_gradients import grad
from ogive.autograd.transforms.checkpoint import checkpoint
from ogive.autograd.transforms.function_gradients import jvp, value_and_grad, vjp
from ogive.autograd.transforms.gradcheck import gradcheck
from ogive.autograd.transforms.jacobians import hessian, jacfwd, jacrev
from ogive.autograd.transforms.vectorize import vmap

__all__ = [
    "Function",
    "checkpoint",
    "custom_gradient",
    "enable_grad",
    "grad",
    "gradcheck",
    "hessian",
    "inference_mode",
    "is_grad_enabled",
    "jacfwd",
    "jacrev",
    "jvp",
    "no_grad",
    "set_grad_enabled",
    "value_and_grad",
    "vjp",
    "vmap",
]
