"""Values with a better known gradient than differentiating their formula gives.

y   →   GRADIENT(y, x)     the value of y, whose gradient is `back(x, upstream)`
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ogive.compiler.ir.node import UOp
from ogive.compiler.ir.ops import Op
from ogive.compiler.live import history
from ogive.compiler.live.registry import graph_lock, make
from ogive.errors import GradientError
from ogive.tensor.core import Core, hold, wrap
from ogive.tensor.method_functions import open_to_eager

if TYPE_CHECKING:
    from ogive.tensor.tensor import Tensor

Back = Callable[[Any, Any], Core]


def captured(*_: Any) -> Any:
    """Stands for the backward function of values computed by a captured function."""
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
    """The rule of a backward function that may hold tensors. It equals only itself."""

    __slots__ = ()

    def release(self) -> None:
        """Drop the tensors that the backward function holds, since it will not be called."""
        self._back = captured


class _FixedRule(_Rule):
    """The rule of a backward function that holds no tensors: equal rules make equal nodes."""

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
    """`value`, which was computed from `x`, with the gradient that `back` gives.

    Shapes: that of `value`; `back` takes x and the upstream gradient, and gives a gradient like x.
    `is_fixed` says that `back` holds no tensors and depends only on its arguments, so that equal
    ones may be compared.
    """
    with graph_lock:
        node = value.node
        if history.is_tracking():
            rule = (_FixedRule if is_fixed else _HoldingRule)(back, value.device)
            node = make(Op.GRADIENT, node.dtype, (node, x.node), rule)
        return wrap(node, value.device)
