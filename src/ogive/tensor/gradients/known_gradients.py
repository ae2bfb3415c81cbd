"""Values whose gradient is known better than the formula that computes them gives it.

y   →   GRADIENT(y, x)     the value of y; going back, what `back(x, upstream)` gives
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.errors import GradientError
from ogive.ir.node import UOp
from ogive.ir.ops import Op
from ogive.live import history
from ogive.live.registry import graph_lock, make
from ogive.tensor.core import Core, hold, wrap
from ogive.tensor.method_functions import open_to_eager

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Back = Callable[[Any, Any], Core]


def captured(*_: Any) -> Any:
    """Stands for the way back of what a captured function has computed."""
    raise GradientError(
        "a gradient would flow through what a function captured by ogive.jit has computed; call "
        "backward() inside the function"
    )


class _Rule:
    __slots__ = ("_back", "_device")

    def __init__(self, back: Back, device: str) -> None:
        self._back = back
        self._device = device

    def gradients(self, node: UOp, upstream: UOp) -> list[UOp | None]:
        x, given = hold(node.inputs[0], self._device), hold(upstream, self._device)
        return [self._back(x, given).node]


class _HoldingRule(_Rule):
    """The rule of a way back that may hold tensors, and is itself only."""

    __slots__ = ()

    def release(self) -> None:
        """Let go of the tensors that the way back needs: nothing will go back."""
        self._back = captured


class _FixedRule(_Rule):
    """The rule of a way back that holds no tensors: equal ones make equal nodes."""

    __slots__ = ()
    is_fixed = True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _FixedRule):
            return NotImplemented
        return self._back == other._back and self._device == other._device

    def __hash__(self) -> int:
        return hash((self._back, self._device))


@open_to_eager
def with_gradient(value: Core, x: Core, back: Back, is_fixed: bool = False) -> Tensor:
    """`value`, which was computed from `x`, and through which gradients go back by `back`.

    Shapes: that of `value`; `back` takes x and the upstream gradient, and gives one like x. One
    that holds no tensors `is_fixed`: what it gives follows from these two, and it equals its like.
    """
    with graph_lock:
        node = value.node
        if history.is_tracking():
            rule = (_FixedRule if is_fixed else _HoldingRule)(back, value.device)
            node = make(Op.GRADIENT, node.dtype, (node, x.node), rule)
        return wrap(node, value.device)
