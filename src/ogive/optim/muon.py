"""Muon: steps along the orthogonalized momentum, for matrices."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.compiler.ir import dtype as dtypes
from ogive.errors import ArgumentError
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.tensor import Tensor


class Muon(Optimizer):
    """b ← momentum·b + (1 - momentum)·g, p ← p - lr·scale·orthogonal(b).

    The orthogonal factor is approximated by `ns_steps` Newton-Schulz iterations, in bfloat16. Give
    biases, norms and embeddings to another optimizer. Raises `ArgumentError` for a parameter that
    is not a matrix.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
        **execution: Unpack[Execution],
    ) -> None:
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ArgumentError(
                "Muon: adjust_lr_fn must be None, 'original' or 'match_rms_adamw', "
                f"not {adjust_lr_fn!r}"
            )
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        if parameter.ndim != 2:
            raise ArgumentError(
                f"Muon takes matrices only, but a parameter has the shape {parameter.shape}"
            )
        return {"momentum_buffer": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        momentum = group["momentum"]
        buffer = state["momentum_buffer"]
        buffer.assign(buffer.lerp(gradient, 1 - momentum))
        direction = gradient.lerp(buffer, momentum) if group["nesterov"] else buffer
        step = orthogonalize(direction, group["ns_coefficients"], group["ns_steps"], group["eps"])
        rows, columns = [int(size) for size in parameter.shape]
        scale = math.sqrt(max(1, rows / columns))
        if group["adjust_lr_fn"] == "match_rms_adamw":
            scale = 0.2 * math.sqrt(max(rows, columns))
        kept: Tensor = parameter * (1 - group.rate * group["weight_decay"])
        return kept - step.cast(parameter.dtype) * (group.rate * scale)


def orthogonalize(
    matrix: Tensor, coefficients: tuple[float, float, float], steps: int, eps: float
) -> Tensor:
    """Approximate the orthogonal factor of a matrix: repeat x ← a·x + (b·x·xᵀ + c·(x·xᵀ)²)·x."""
    a, b, c = coefficients
    x = matrix.cast(dtypes.bfloat16)
    is_tall = int(x.shape[0]) > int(x.shape[1])
    if is_tall:
        x = x.T
    x = x / x.square().sum().sqrt().clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.T
        x = x * a + (gram * b + (gram @ gram) * c) @ x
    return x.T if is_tall else x
