"""ASGD: gradient descent that also averages the parameters over its steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.compiler.ir import dtype as dtypes
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import full, ones, zeros_like
from ogive.tensor.method_functions import created
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class ASGD(Optimizer):
    """p ← (1 - lambd·η)·p - η·g with η = lr / (1 + lambd·lr·t)^alpha, and a mean of p from t0 on.

    `state["ax"]` of a parameter is its mean: a ← a + (p - a) / max(1, t - t0).

    >>> p = Tensor([1.0], requires_grad=True)
    >>> optimizer = ogive.optim.ASGD([p], lr=0.5, lambd=0.0)
    >>> p.sum().backward()
    >>> optimizer.step()
    >>> p.tolist(), optimizer.state_dict()["state"][0]["ax"].tolist()
    ([0.5], [0.5])
    """

    is_elementwise = True
    execution = ("foreach", "differentiable", "capturable")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        *,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay,
            "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        rate = created(full, (), float(group["lr"]), dtype=dtypes.float64)
        share = created(ones, dtype=dtypes.float64)
        return {"eta": rate, "mu": share, "ax": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        if group["weight_decay"]:
            gradient = gradient + parameter * group["weight_decay"]
        rate, share, mean = state["eta"], state["mu"], state["ax"]
        # Before the first step, a schedule may have changed the rate.
        rate.assign(where(state["step"] == 1, group.rate, rate))
        stepped: Tensor = parameter * (1 - rate * group["lambd"]) - gradient * rate
        mean.assign(mean + (stepped - mean) * share)
        decay = group.rate * group["lambd"] * state["step"] + 1
        rate.assign(group.rate / decay ** group["alpha"])
        share.assign((state["step"] - group["t0"]).clamp(min=1).reciprocal())
        return stepped
