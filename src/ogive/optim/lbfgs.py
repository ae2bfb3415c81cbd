"""L-BFGS: Newton steps with the curvature estimated from the last few gradients.

Each step depends on values, so the optimizer's own arithmetic is NumPy's, on one vector of all
parameters. The loss and its gradients are compiled as usual.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy

from ogive.autograd import enable_grad, no_grad
from ogive.errors import ArgumentError, ArgumentTypeError, TraceError
from ogive.jit.tracing.watch import is_tracing
from ogive.optim.line_search import Array, Trial, strong_wolfe
from ogive.optim.optimizer import Optimizer
from ogive.optim.steps.parameter_groups import State
from ogive.tensor.method_functions import created
from ogive.tensor.tensor import Tensor

CURVED = 1e-10
"""The least y·s, the growth of the gradient along a step, for which the pair is kept."""


class LBFGS(Optimizer):
    """p ← p - t·H·g, with H from the last `history_size` steps and changes of the gradient.

    `step(closure)` makes up to `max_iter` such steps. `closure` clears the gradients, computes the
    loss, calls `backward()` and returns the loss. The length t is `lr` (less in the very first
    step). With `line_search_fn="strong_wolfe"`, a line search starts from there.

    >>> from ogive import optim
    >>> x = Tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((x - Tensor([1.0, 2.0])) ** 4).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)
    >>> x.round().tolist()
    [1.0, 2.0]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if line_search_fn not in (None, "strong_wolfe"):
            raise ArgumentError(
                f"line_search_fn must be None or 'strong_wolfe', not {line_search_fn!r}"
            )
        defaults = {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ArgumentError("LBFGS takes one group of parameters: it moves all of them at once")
        self._params: list[Tensor] = self.param_groups[0]["params"]
        self.n_iter = 0
        self.func_evals = 0
        self._direction: Array | None = None
        self._length = 0.0
        self._gradient: Array | None = None
        self._pairs: list[tuple[Array, Array]] = []
        self._scale = 1.0

    def make_state(self, parameter: Tensor, group: Mapping[str, Any]) -> State:
        return {}

    def step(self, closure: Callable[[], Tensor] | None = None) -> Tensor:
        """Make up to `max_iter` steps. Returns the loss before the first of them.

        Raises `ArgumentTypeError` without a closure, and `TraceError` in a captured function.
        """
        if closure is None:
            raise ArgumentTypeError(
                "LBFGS.step needs a closure, which clears the gradients, computes the loss, calls "
                "backward() and returns the loss"
            )
        if is_tracing():
            raise TraceError(
                "LBFGS depends on values, so it cannot be captured; capture the closure instead"
            )
        group = self.param_groups[0]
        first, value, gradient = self._evaluate(closure)
        used = 1
        for left in reversed(range(group["max_iter"])):
            if numpy.abs(gradient).max(initial=0) <= group["tolerance_grad"]:
                break
            direction = self._next_direction(gradient, group["history_size"])
            slope = float(gradient @ direction)
            if slope > -group["tolerance_change"]:
                break
            length = group["lr"]
            if self.n_iter == 1:
                length *= min(1.0, 1.0 / float(numpy.abs(gradient).sum()))
            start = self._vector()
            self._gradient, before = gradient, value
            if group["line_search_fn"] is not None:
                length, value, gradient, count = self._search(
                    closure, start, direction, Trial(0.0, value, gradient, slope), length
                )
                used += count
            else:
                self._move(start, direction, length)
                if left:  # after the last step, the next call's first evaluation does this
                    _, value, gradient = self._evaluate(closure)
                    used += 1
            self._direction, self._length = direction, length
            if used >= group["max_eval"] or self._is_settled(direction * length, value - before):
                break
        return first

    def _is_settled(self, moved: Array, change: float) -> bool:
        tolerance = self.param_groups[0]["tolerance_change"]
        return bool(numpy.abs(moved).max(initial=0) <= tolerance or abs(change) < tolerance)

    def _next_direction(self, gradient: Array, history_size: int) -> Array:
        """-H·g, after the last step's change of the gradient is added to H."""
        self.n_iter += 1
        if self._direction is None or self._gradient is None:
            return -gradient
        grown, moved = gradient - self._gradient, self._direction * self._length
        curvature = float(grown @ moved)
        if curvature > CURVED:
            self._pairs = [*self._pairs, (grown, moved)][-history_size:]
            self._scale = curvature / float(grown @ grown)
        direction = -gradient
        weights = []
        for grown, moved in reversed(self._pairs):
            weights.append(float(moved @ direction) / float(grown @ moved))
            direction = direction - weights[-1] * grown
        direction = direction * self._scale
        for (grown, moved), weight in zip(self._pairs, reversed(weights), strict=True):
            direction = direction + moved * (
                weight - float(grown @ direction) / float(grown @ moved)
            )
        return direction

    def _search(
        self,
        closure: Callable[[], Tensor],
        start: Array,
        direction: Array,
        trial: Trial,
        length: float,
    ) -> tuple[float, float, Array, int]:
        def evaluate(at: float) -> tuple[float, Array]:
            self._move(start, direction, at)
            return self._evaluate(closure)[1:]

        best, count = strong_wolfe(evaluate, direction, trial, length)
        self._move(start, direction, best.length)
        return best.length, best.value, best.gradient, count

    # Between tensors and the vector

    def _evaluate(self, closure: Callable[[], Tensor]) -> tuple[Tensor, float, Array]:
        with enable_grad():
            loss = closure()
        self.func_evals += 1
        gradients = [parameter.grad for parameter in self._params]
        Tensor.realize_batch([loss, *[gradient for gradient in gradients if gradient is not None]])
        parts = [
            numpy.zeros(parameter.shape) if gradient is None else numpy.asarray(gradient.detach())
            for parameter, gradient in zip(self._params, gradients, strict=True)
        ]
        return loss.detach(), float(loss), _joined(parts)

    def _vector(self) -> Array:
        return _joined([numpy.asarray(parameter.detach()) for parameter in self._params])

    def _move(self, start: Array, direction: Array, length: float) -> None:
        values = start + length * direction
        at = 0
        with no_grad():
            for parameter in self._params:
                size = int(parameter.numel())
                part = values[at : at + size].astype(parameter.dtype.numpy)
                parameter.assign(created(Tensor, part.reshape(parameter.shape)))
                at += size
        Tensor.realize_batch(self._params)

    # State

    def state_dict(self) -> dict[str, Any]:
        """The settings, and the state of the curvature estimate."""
        known = {
            "n_iter": self.n_iter, "func_evals": self.func_evals, "length": self._length,
            "scale": self._scale,
        }  # fmt: skip
        vectors: dict[str, Any] = {
            name: Tensor(value)
            for name, value in (("direction", self._direction), ("gradient", self._gradient))
            if value is not None
        }
        if self._pairs:
            vectors["pairs"] = Tensor(numpy.array(self._pairs))
        return {**super().state_dict(), "state": {0: {**known, **vectors}}}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state that `state_dict` gave."""
        super().load_state_dict({**state, "state": {}})
        known = state["state"][0]
        self.n_iter, self.func_evals = known["n_iter"], known["func_evals"]
        self._length, self._scale = known["length"], known["scale"]
        self._direction, self._gradient = [
            known[name].numpy() if name in known else None for name in ("direction", "gradient")
        ]
        pairs = known["pairs"].numpy() if "pairs" in known else []
        self._pairs = [(grown, moved) for grown, moved in pairs]


def _joined(parts: list[Array]) -> Array:
    """Concatenate arrays into one vector, in double precision."""
    return numpy.concatenate([part.ravel().astype(numpy.float64) for part in parts])
