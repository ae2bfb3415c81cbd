"""Adafactor: Adam-like steps that keep, of a matrix's squared gradients, only row and column means.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import ml_dtypes

from ogive.compiler.ir.shape import element_count
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.tensor import Tensor


class Adafactor(Optimizer):
    """u ← g / √v, p ← p - min(lr, 1/√t)·max(eps₂, rms(p))·u / max(1, rms(u) / d).

    v is an average of g², in which step t has the weight t^beta2_decay. For a matrix, only the
    means r of its rows and c of its columns are kept, and v = r·c / mean(r). `eps` is the pair of
    the least √v (None: the dtype's precision) and the least root mean square of a parameter.

    >>> p = Tensor([[3.0, 4.0]], requires_grad=True)
    >>> optimizer = ogive.optim.Adafactor([p])
    >>> p.sum().backward()
    >>> optimizer.step()
    >>> sorted(optimizer.state_dict()["state"][0])
    ['col_var', 'row_var', 'step']
    """

    execution = ("foreach",)

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d,
            "weight_decay": weight_decay, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        if parameter.ndim < 2:
            return {"variance": zeros_like(parameter)}
        zeros = zeros_like(parameter)
        return {"row_var": zeros[..., :1], "col_var": zeros[..., :1, :]}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        least, least_size = group["eps"]
        if least is None:
            least = float(ml_dtypes.finfo(parameter.dtype.numpy).eps)
        weight = (state["step"] ** group["beta2_decay"]).cast(parameter.dtype)
        variance = _variance(gradient, state, weight, least)
        direction = gradient * variance.clamp(min=least * least).rsqrt()
        rate = group.rate.minimum(state["step"].rsqrt()) * _size(parameter).clamp(min=least_size)
        rate = rate / (_size(direction) / group["d"]).clamp(min=1.0)
        kept = parameter * (1 - group.rate * group["weight_decay"])
        stepped: Tensor = kept - direction * rate
        return stepped


def _variance(gradient: Tensor, state: State, weight: Tensor, least: float) -> Tensor:
    """The average v of g², after this step's gradient is added."""
    square = gradient * gradient
    if "variance" in state:
        return state["variance"].assign(state["variance"].lerp(square, weight))
    rows, columns = state["row_var"], state["col_var"]
    rows.assign(rows.lerp(square.mean(-1, keepdim=True), weight))
    columns.assign(columns.lerp(square.mean(-2, keepdim=True), weight))
    variance: Tensor = rows * columns / rows.mean(-2, keepdim=True).clamp(min=least)
    return variance


def _size(x: Tensor) -> Tensor:
    """√(mean of x²)."""
    return x.norm() / math.sqrt(max(1, int(element_count(x.shape))))
