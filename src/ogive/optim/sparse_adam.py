"""Adam for embeddings: rows without a gradient stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import Execution, Group, State
from ogive.tensor.creation.constructors import zeros_like
from ogive.tensor.movement.joining import where
from ogive.tensor.tensor import Tensor


class SparseAdam(Optimizer):
    """Adam, which changes only the rows of a parameter whose gradient is not 0, and their averages.

    PyTorch's takes sparse gradients, such as those of `nn.Embedding(sparse=True)`. They are dense
    here, and the rows that an embedding did not look up have zeros in them.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
        **execution: Unpack[Execution],
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize}
        super().__init__(params, defaults, **execution)

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {"exp_avg": zeros_like(parameter), "exp_avg_sq": zeros_like(parameter)}

    def update(self, parameter: Tensor, gradient: Tensor, state: State, group: Group) -> Tensor:
        first, second = group["betas"]
        inner = tuple(range(1, gradient.ndim))
        is_touched = gradient.ne(0).any(inner, keepdim=True) if inner else gradient.ne(0)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.assign(where(is_touched, mean * first + gradient * (1 - first), mean))
        square.assign(where(is_touched, square * second + gradient.square() * (1 - second), square))
        step = state["step"]
        rate = group.rate * (1 - second**step).sqrt() / (1 - first**step)
        moved = parameter - mean / (square.sqrt() + group["eps"]) * rate
        return where(is_touched, moved, parameter)
